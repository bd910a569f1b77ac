package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ErrNoRun is in the chain of what [Journal.Resume] returns when there is no such run.
var ErrNoRun = errors.New("no such run")

// A Base is a run that another one resumes, with those that it resumed itself: what a later run did not come to is still in
// an earlier one. It is safe for concurrent use.
type Base struct {
	name   string
	trials map[trialKey][]*indexed // the newest run first

	mu       sync.Mutex
	problems []string
}

// Resume looks through the run that spec names: "latest", which is the newest run of the module that was begun before this one
// and got as far as a trial; the name of a run in the module's .evaltest; or the path of a run directory, relative to the
// module's root. It may be the directory of this very run, when it was used before: what this run's processes write is not
// looked at. The record says that it was resumed.
//
// The error is [ErrNoRun] when spec names none, and says what there is. A run that was written by a newer version of this package is
// an error, too: what was paid for in it is not paid for again by mistake.
func (j *Journal) Resume(spec string) (*Base, error) {
	dir, err := j.resolve(spec)
	if err != nil {
		return nil, fmt.Errorf("journal: resume: %w", err)
	}
	// Before anything else: should this run be killed, the next finds the way through it.
	if err := j.log.append(typeResumes, "", resumes{dir}); err != nil {
		return nil, fmt.Errorf("journal: resume: %w", err)
	}
	b := &Base{name: filepath.Base(dir), trials: map[trialKey][]*indexed{}}
	var seen []string
	for next := []string{dir}; len(next) > 0; next = next[1:] {
		dir := next[0]
		if slices.ContainsFunc(seen, func(s string) bool { return sameDir(s, dir) }) {
			continue
		}
		seen = append(seen, dir)
		older, err := b.add(dir, j)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(seen) > 1:
			b.problem("%s, which was resumed before, is gone: what it had settled is run again", dir)
		case err != nil:
			return nil, fmt.Errorf("journal: resume: %w", err)
		}
		next = append(next, older...)
	}
	return b, nil
}

// add takes in the trials of the run in dir, which are older than all that are there. It returns the runs that it resumed.
func (b *Base) add(dir string, j *Journal) (resumed []string, err error) {
	own := sameDir(dir, j.dir)
	x, err := readIndex(dir, func(name string) bool { return !own || name != j.file })
	if err != nil {
		return nil, err
	}
	b.problems = append(b.problems, x.problems...)
	found := map[trialKey][]*indexed{}
	for _, f := range slices.Backward(x.files) {
		if own && f.process.Run == j.process.Run {
			continue
		}
		if r := x.resumed(f); r != "" && !slices.Contains(resumed, r) {
			resumed = append(resumed, r)
		}
		for _, t := range f.trials {
			key := keyOf(t.id)
			found[key] = append(found[key], t)
		}
	}
	for key, ts := range found {
		slices.SortStableFunc(ts, newestFirst)
		b.trials[key] = append(b.trials[key], ts...)
	}
	return resumed, nil
}

// resumed is the directory of the run that a process resumed; "": it resumed none. A process that was killed before it wrote
// that down had written what it was told to resume, with its first trial.
func (x *index) resumed(f *indexFile) string {
	if dir := f.process.Resumes; dir != "" {
		if beside := filepath.Join(filepath.Dir(x.dir), filepath.Base(dir)); !exists(dir) && exists(beside) {
			return beside // all of it was moved
		}
		return dir
	}
	killed := &Journal{dir: x.dir, process: f.process.Process}
	if home := filepath.Dir(x.dir); filepath.Base(home) == Home {
		killed.process.Root = filepath.Dir(home)
	}
	for _, t := range f.trials {
		if t.resumes == "" || killed.process.Root == "" {
			continue
		}
		if dir, err := killed.resolve(t.resumes); err == nil {
			return dir
		}
	}
	return ""
}

// Name is the name of the run's directory.
func (b *Base) Name() string { return b.name }

// Problems are what could not be read of it so far, in words.
func (b *Base) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.problems)
}

func (b *Base) problem(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := fmt.Sprintf(format, args...); !slices.Contains(b.problems, p) {
		b.problems = append(b.problems, p)
	}
}

// Find reads what is on record of a trial, whatever the attempt: that of the newest run first, and of a run that of the last
// attempt. The records are the caller's.
func (b *Base) Find(id TrialID) []*TrialRecord {
	var out []*TrialRecord
	for _, t := range b.trials[keyOf(id)] {
		r, problems, err := t.read()
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, p := range problems {
			b.problem("%s", p)
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}

// resolve finds the directory of the run that spec names.
func (j *Journal) resolve(spec string) (string, error) {
	home := filepath.Join(j.process.Root, Home)
	if spec == "latest" {
		dir, err := j.before(home)
		if err == nil && dir == "" {
			err = fmt.Errorf("%w: there is no run before this one in %s", ErrNoRun, home)
		}
		return dir, err
	}
	paths := []string{spec}
	if !filepath.IsAbs(spec) {
		paths = []string{filepath.Join(home, spec), filepath.Join(j.process.Root, spec)}
	}
	for _, path := range paths {
		if names, err := journals(path); err == nil && len(names) > 0 {
			return filepath.Clean(path), nil
		}
	}
	return "", fmt.Errorf("%w: %q is no run directory (one with a journal), and no run in %s (%s)", ErrNoRun, spec, home, runNames(home))
}

// before is the directory of the newest run in home that was begun before this one and got as far as a trial; "" when there
// is none. All processes of a run come to the same.
func (j *Journal) before(home string) (string, error) {
	dir := j.dir
	if filepath.Dir(j.dir) != home || !exists(filepath.Join(j.dir, previousFile)) {
		name, err := readName(filepath.Join(home, latestFile))
		if err != nil || name == "" {
			return "", err
		}
		dir = filepath.Join(home, name)
		if sameDir(dir, j.dir) {
			return "", nil
		}
		if hasTrial(dir) {
			return dir, nil
		}
	}
	// One that was killed before its first trial has nothing, and hides nothing.
	for seen := []string{}; !slices.Contains(seen, dir); {
		seen = append(seen, dir)
		name, err := readName(filepath.Join(dir, previousFile))
		if err != nil {
			return "", err
		}
		if name == "" || !exists(filepath.Join(home, name)) { // it was removed: the one before it
			if name = older(home, filepath.Base(dir)); name == "" {
				return "", nil
			}
		}
		if dir = filepath.Join(home, name); hasTrial(dir) && !sameDir(dir, j.dir) {
			return dir, nil
		}
	}
	return "", nil
}

// older is the newest run in home whose name says that it was begun before the one of that name.
func older(home, name string) string {
	entries, _ := os.ReadDir(home) // sorted by name, so by time
	for _, e := range slices.Backward(entries) {
		if e.IsDir() && runName.MatchString(e.Name()) && e.Name() < name {
			return e.Name()
		}
	}
	return ""
}

// readName reads a file that holds the name of a run; "" when there is none.
func readName(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(data))
	if name != "" && (name != filepath.Base(name) || !filepath.IsLocal(name) || name == ".") {
		return "", fmt.Errorf("%s holds %q, which is no name of a run; remove it", path, name)
	}
	return name, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hasTrial reports whether a run got as far as a trial.
func hasTrial(dir string) bool {
	f, err := os.Open(filepath.Join(dir, trialsDir))
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}

func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// runNames lists the newest runs in home, for a message.
func runNames(home string) string {
	var names []string
	entries, _ := os.ReadDir(home) // without a home there are none
	for _, e := range slices.Backward(entries) {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	switch {
	case len(names) == 0:
		return "there is none"
	case len(names) > 5:
		names = append(names[:5], "…")
	}
	return "runs there: " + strings.Join(names, ", ")
}

// RunName is the name of the directory of the run that the record is in.
func (t *TrialRecord) RunName() string { return filepath.Base(filepath.Dir(filepath.Dir(t.Dir))) }

// Origin is the folder of the record with what the agent did: its own, or, where the result was taken over, the one that it
// was taken over from.
func (t *TrialRecord) Origin() string {
	if t.Verdict == nil || t.Verdict.Reused == nil {
		return t.Dir
	}
	r := t.Verdict.Reused
	origin := filepath.Join(r.Dir, filepath.FromSlash(r.Folder))
	if run := filepath.Dir(filepath.Dir(t.Dir)); !exists(origin) {
		if beside := filepath.Join(filepath.Dir(run), r.Run, filepath.FromSlash(r.Folder)); exists(beside) {
			return beside // all of it was moved
		}
	}
	return origin
}
