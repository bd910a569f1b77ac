package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// index says where in a run directory the records of each trial are. A run of ten thousand trials is looked through in the
// time that reading some hundred takes, and little of it is held.
type index struct {
	dir      string
	files    []*indexFile
	problems []string
}

type indexFile struct {
	dir     string
	process *ProcessRecord
	latest  time.Time  // when the last process of the same run began
	trials  []*indexed // in the order of their intents
}

// indexed is a trial's place in a journal.
type indexed struct {
	file    *indexFile
	id      TrialID
	started time.Time
	resumes string // Policy.Resumes
	over    bool   // there is a verdict
	lines   []span
}

type span struct {
	at     int64
	length int32
	number int32
}

// readIndex looks through the journals that are wanted. A journal that is gone by now is none.
func readIndex(dir string, wanted func(name string) bool) (*index, error) {
	names, err := journals(dir)
	if err != nil {
		return nil, err
	}
	x := &index{dir: dir}
	known := intern{}
	for _, name := range names {
		if !wanted(name) {
			continue
		}
		f := &indexFile{dir: dir, process: &ProcessRecord{File: name}}
		if err := f.read(x, known); err != nil {
			return nil, err
		}
		x.files = append(x.files, f)
	}
	slices.SortStableFunc(x.files, func(a, b *indexFile) int { return a.process.Started.Compare(b.process.Started) })
	latest := map[string]time.Time{}
	for _, f := range x.files {
		latest[f.process.Run] = f.process.Started
	}
	for _, f := range x.files {
		f.latest = latest[f.process.Run]
	}
	return x, nil
}

func (f *indexFile) read(x *index, known intern) error {
	run := &Run{Dir: f.dir}
	rd := reader{run: run, process: f.process} // of what belongs to no trial
	trials := map[string]*indexed{}
	err := readRecords(f.dir, f.process.File, func(at int64, r record) error {
		if r.last && !json.Valid(r.line) {
			f.process.Torn = true
			return nil
		}
		if r.err != nil || r.Trial == "" {
			v, err := r.value()
			return rd.put(&r, v, err)
		}
		t := trials[r.Trial]
		if t == nil {
			if r.Type != typeIntent {
				return nil // which is said when all of the run is read
			}
			t = &indexed{file: f, lines: make([]span, 0, 8)}
			trials[r.Trial] = t
			var in struct {
				ID      TrialID
				Started time.Time
				Policy  struct{ Resumes string }
			}
			if json.Unmarshal(r.Data, &in) == nil || json.Unmarshal(parse(r.line).Data, &in) == nil {
				known.text(&in.ID.Package)
				known.text(&in.ID.Test)
				known.text(&in.Policy.Resumes)
				t.id, t.started, t.resumes = in.ID, in.Started, in.Policy.Resumes
				f.trials = append(f.trials, t)
			}
		}
		t.over = t.over || r.Type == typeVerdict && json.Valid(r.line)
		t.lines = append(t.lines, span{at, int32(len(r.line)), int32(r.n)})
		return nil
	})
	for _, p := range run.Problems {
		x.problems = append(x.problems, filepath.Join(f.dir, p))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// read reads the records of one trial.
func (t *indexed) read() (*TrialRecord, []string, error) {
	path := filepath.Join(t.file.dir, t.file.process.File)
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	run := &Run{Dir: t.file.dir}
	rd := reader{run: run, process: t.file.process, trials: map[string]*TrialRecord{}}
	var line []byte
	for _, s := range t.lines {
		line = slices.Grow(line[:0], int(s.length))[:s.length]
		if _, err := f.ReadAt(line, s.at); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, fmt.Errorf("read %s: %w", path, err)
		}
		r := recordOf(line)
		r.n = int(s.number)
		v, err := r.value()
		if err := rd.put(&r, v, err); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	rd.close()
	for i, p := range run.Problems {
		run.Problems[i] = filepath.Join(t.file.dir, p)
	}
	if len(run.Trials) == 0 {
		return nil, run.Problems, nil
	}
	return run.Trials[0], run.Problems, nil
}

// newestFirst orders trials by the run that wrote them, and within a run by attempt.
func newestFirst(a, b *indexed) int {
	return cmp.Or(
		b.file.latest.Compare(a.file.latest),
		cmp.Compare(a.file.process.Run, b.file.process.Run),
		cmp.Compare(b.id.Attempt, a.id.Attempt),
		b.started.Compare(a.started),
	)
}
