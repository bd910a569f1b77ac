package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Run is what is on disk of a run. Records of trials that are under way are there as far as they have come.
type Run struct {
	Dir       string // absolute
	Processes []*ProcessRecord
	Trials    []*TrialRecord // by the time they started
	// Problems are lines that could not be read, in words that name file and line. A torn last line is none: it is what is left of a
	// process that was killed while it wrote.
	Problems []string

	byTrial     map[trialKey][]*TrialRecord // see Attempts
	makeByTrial sync.Once
}

// ProcessRecord is one journal.
type ProcessRecord struct {
	Process          // zero when the journal ends before its first record does
	File    string   // its name in the run directory
	Torn    bool     // the last line is incomplete
	Notes   []string // facts that belong to no trial
	Resumes string   // directory of the run that it resumes, "" for none
}

// TrialRecord is what is on disk of one attempt at a trial.
type TrialRecord struct {
	Intent   Intent
	Criteria []CriterionResult // in the order they were written; Intent.Criteria says what was asked
	Verdict  *Verdict          // nil: the process ended before it, or is still at work
	Notes    []string
	// Grading is the criterion that was being graded when the process ended, or is being graded now; "" when there is none.
	Grading  string
	Failures []string // assertions on the result that failed; they make the test red and change no verdict
	Process  *ProcessRecord
	// Torn: there is no verdict, and the last line of the journal is incomplete: it may have been one.
	Torn bool
	// Dir is the trial's folder, absolute.
	Dir string
}

// Outcome is that of the verdict. A trial without one is errored.
func (t *TrialRecord) Outcome() verdict.Outcome {
	if t.Verdict == nil {
		return verdict.OutcomeErrored
	}
	return t.Verdict.Outcome
}

// Err is the infrastructure error of the trial, nil when it had none.
func (t *TrialRecord) Err() *agents.Error {
	if t.Verdict == nil {
		if t.Grading != "" {
			return agents.Errorf(agents.Interrupted, agents.FromHarness, "the test process ended before the verdict, while grading %s", t.Grading)
		}
		return agents.Errorf(agents.Interrupted, agents.FromHarness, "the test process ended before the verdict")
	}
	return t.Verdict.Err
}

// Changes reads what the agent changed in its workspace. No record of it is an error that is [fs.ErrNotExist].
func (t *TrialRecord) Changes() ([]Change, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, changesFile))
	if err != nil {
		return nil, fmt.Errorf("journal: read changes of %v: %w", t.Intent.ID, err)
	}
	var cs []Change
	if err := json.Unmarshal(data, &cs); err != nil {
		return nil, fmt.Errorf("journal: read changes of %v: %w", t.Intent.ID, err)
	}
	return cs, nil
}

// Read reads every journal in the run directory dir. It may be called while the run goes on. A directory without a journal
// is an empty run. It is an error when dir cannot be read, or a journal was written by a newer version of this package.
func Read(dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: read run: %w", err)
	}
	names, err := journals(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: read run: %w", err)
	}
	r := &Run{Dir: dir}
	known := intern{}
	for _, name := range names {
		if err := r.readFile(name, known); err != nil {
			return nil, fmt.Errorf("journal: read %s: %w", filepath.Join(dir, name), err)
		}
	}
	slices.SortStableFunc(r.Trials, func(a, b *TrialRecord) int { return a.Intent.Started.Compare(b.Intent.Started) })
	slices.SortStableFunc(r.Processes, func(a, b *ProcessRecord) int { return a.Started.Compare(b.Started) })
	return r, nil
}

// readFile reads a journal of the run. Nearly all of the time goes into decoding JSON, so that is done by as many as there
// are processors, a batch at a time: a batch is all that is held of the file.
func (r *Run) readFile(name string, known intern) error {
	f, err := os.Open(filepath.Join(r.Dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	p := &ProcessRecord{File: name}
	r.Processes = append(r.Processes, p)
	rd := reader{run: r, process: p, trials: map[string]*TrialRecord{}, known: known}
	var b batch
	put := func() error {
		b.decode()
		for i := range b.lines {
			if err := rd.put(&b.lines[i].record, b.lines[i].value, b.lines[i].err); err != nil {
				return err
			}
		}
		b.lines, b.text = b.lines[:0], b.text[:0]
		return nil
	}
	err = lines(f, func(n int, _ int64, line []byte, last bool) error {
		b.lines = append(b.lines, batched{record: record{n: n, last: last}, from: len(b.text)})
		b.text = append(b.text, line...)
		if len(b.text) < 1<<20 {
			return nil
		}
		return put()
	})
	if err == nil {
		err = put()
	}
	rd.close()
	return err
}

// batch is some of the lines of a journal.
type batch struct {
	text  []byte
	lines []batched
}

type batched struct {
	record
	from  int // in text
	value any
	err   error
}

func (b *batch) decode() {
	workers := min(runtime.GOMAXPROCS(0), 8, 1+len(b.lines)/64)
	var wg sync.WaitGroup
	for w := range workers {
		work := func() {
			for i := w; i < len(b.lines); i += workers {
				l, to := &b.lines[i], len(b.text)
				if i+1 < len(b.lines) {
					to = b.lines[i+1].from
				}
				n, last := l.n, l.last
				l.record = recordOf(b.text[l.from:to])
				l.n, l.last = n, last
				l.value, l.err = l.record.value()
			}
		}
		if workers == 1 {
			work()
			break
		}
		wg.Go(work)
	}
	wg.Wait()
}

// reader puts the records of one journal together.
type reader struct {
	run     *Run
	process *ProcessRecord
	trials  map[string]*TrialRecord // by folder
	known   intern
}

// put takes a record in. What is wrong with it is a problem of the run, unless a newer version wrote it: then nothing that
// is read can be relied on.
func (rd *reader) put(r *record, value any, err error) error {
	if errors.Is(err, errNewer) {
		return err
	}
	if err == nil && value != nil {
		if err = rd.take(r, value); err != nil {
			err = fmt.Errorf("a record of type %q: %w", r.Type, err)
		}
	}
	switch {
	case err != nil && r.last:
		rd.process.Torn = true
	case err != nil:
		rd.run.Problems = append(rd.run.Problems, fmt.Sprintf("%s:%d: %v", rd.process.File, r.n, err))
	}
	return nil
}

// close is called behind the last record.
func (rd *reader) close() {
	for _, t := range rd.trials {
		t.Torn = rd.process.Torn && t.Verdict == nil
	}
}

func (rd *reader) take(r *record, value any) error {
	switch v := value.(type) {
	case *Process:
		rd.process.Process = *v
		return nil
	case *resumes:
		rd.process.Resumes = v.Dir
		return nil
	case *Intent:
		return rd.intent(r.Trial, v)
	case *note:
		if r.Type == typeNote && r.Trial == "" {
			rd.process.Notes = append(rd.process.Notes, v.Text)
			return nil
		}
	}
	t := rd.trials[r.Trial]
	if r.Trial == "" {
		return errors.New("it names no trial")
	}
	if t == nil {
		return fmt.Errorf("its trial %s has no intent", r.Trial)
	}
	return rd.result(r, t, value)
}

func (rd *reader) intent(folder string, in *Intent) error {
	if rd.trials[folder] != nil {
		return fmt.Errorf("a second intent of %s", folder)
	}
	rd.known.intent(in)
	t := &TrialRecord{Process: rd.process, Intent: *in}
	t.Dir = filepath.Join(rd.run.Dir, filepath.FromSlash(t.Intent.Folder))
	rd.trials[folder] = t
	rd.run.Trials = append(rd.run.Trials, t)
	return nil
}

// result takes in what a trial came to. Notes and failures may come after the verdict, and change nothing of it.
func (rd *reader) result(r *record, t *TrialRecord, value any) error {
	if v, ok := value.(*note); ok {
		notes := &t.Notes
		if r.Type == typeFailure {
			notes = &t.Failures
		}
		*notes = append(*notes, v.Text)
		return nil
	}
	if t.Verdict != nil {
		return fmt.Errorf("it comes after the verdict of %s", r.Trial)
	}
	switch v := value.(type) {
	case *grading:
		t.Grading = v.Name
	case *CriterionResult:
		if t.Criteria == nil {
			t.Criteria = make([]CriterionResult, 0, len(t.Intent.Criteria))
		}
		rd.known.criterion(v)
		t.Criteria = append(t.Criteria, *v)
		if t.Grading == v.Name {
			t.Grading = ""
		}
	case *Verdict:
		v.ID = t.Intent.ID // which it repeats
		if r.V < 2 {
			t.upgrade(v)
		}
		t.Verdict, t.Grading = v, ""
	}
	return nil
}
