package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Base is a run that another one resumes, with those that it resumed itself: what a later run did not come to is still in
// an earlier one.
type Base struct {
	name     string
	trials   map[trialKey][]*TrialRecord // the newest first
	problems []string
}

// Resume reads the run that spec names: "latest", which is the newest run of the module but for this one, the name of a run
// in the module's .evaltest, or the path of a run directory, relative to the module's root. It may be the directory of this
// very run, when it was used before: what this run's processes write is not looked at. The record says that it was resumed.
func (j *Journal) Resume(spec string) (*Base, error) {
	dir, err := j.resolve(spec)
	if err != nil {
		return nil, fmt.Errorf("journal: resume: %w", err)
	}
	b := &Base{name: filepath.Base(dir), trials: map[trialKey][]*TrialRecord{}}
	seen := map[string]bool{}
	for next := []string{dir}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		older, err := b.add(next[0], j)
		if err != nil && next[0] == dir {
			return nil, fmt.Errorf("journal: resume: %w", err)
		}
		if err != nil {
			b.problems = append(b.problems, err.Error())
		}
		next = append(next, older...)
	}
	if err := j.log.append(typeResumes, "", resumes{dir}); err != nil {
		return nil, fmt.Errorf("journal: resume: %w", err)
	}
	return b, nil
}

// add takes in the trials of the run in dir, which are older than all that are there. It returns the runs that it resumed.
func (b *Base) add(dir string, j *Journal) (resumed []string, err error) {
	run, err := Read(dir)
	if err != nil {
		return nil, err
	}
	b.problems = append(b.problems, run.Problems...)
	for _, p := range run.Processes {
		if p.Resumes != "" && p.Run != j.process.Run && !slices.Contains(resumed, p.Resumes) {
			resumed = append(resumed, p.Resumes)
		}
	}
	for _, t := range slices.Backward(run.Trials) {
		if t.Process.Run == j.process.Run && dir == j.dir {
			continue
		}
		key := keyOf(t.Intent.ID)
		b.trials[key] = append(b.trials[key], t)
	}
	return resumed, nil
}

// Name is the name of the run's directory.
func (b *Base) Name() string { return b.name }

// Problems are what could not be read of it, in words.
func (b *Base) Problems() []string { return b.problems }

// Find is what is on record of a trial, whatever the attempt, the newest record first.
func (b *Base) Find(id TrialID) []*TrialRecord { return b.trials[keyOf(id)] }

// resolve finds the directory of the run that spec names.
func (j *Journal) resolve(spec string) (string, error) {
	home := filepath.Join(j.process.Root, Home)
	if spec == "latest" {
		name, err := j.before(home)
		if err != nil {
			return "", err
		}
		if name == "" {
			return "", fmt.Errorf("there is no run before this one in %s", home)
		}
		return filepath.Join(home, name), nil
	}
	paths := []string{spec}
	if !filepath.IsAbs(spec) {
		paths = []string{filepath.Join(home, spec), filepath.Join(j.process.Root, spec)}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() && hasJournal(path) {
			return filepath.Clean(path), nil
		}
	}
	return "", fmt.Errorf("%q names no run: it is no run directory, and no run in %s (%s)", spec, home, runNames(home))
}

// before is the name of the run before this one: the one that was the latest when this one was begun.
func (j *Journal) before(home string) (string, error) {
	if filepath.Dir(j.dir) == home {
		return readName(filepath.Join(j.dir, previousFile))
	}
	return readName(filepath.Join(home, latestFile))
}

const (
	latestFile   = "latest"   // in the home: the name of the run that was begun last
	previousFile = "previous" // in a run's directory: what latest said before
)

// readName reads a file that holds a name; "" when there is none.
func readName(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(data))
	if name != filepath.Base(name) || name == "." || name == ".." {
		return "", fmt.Errorf("%s holds %q, which is no name of a run", path, name)
	}
	return name, nil
}

func hasJournal(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isJournal(e) })
}

func isJournal(e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), filePrefix) && strings.HasSuffix(e.Name(), fileSuffix) && e.Type().IsRegular()
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
	return "there are: " + strings.Join(names, ", ")
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
	return filepath.Join(r.Dir, filepath.FromSlash(r.Folder))
}

// LeftOpen are the trials of this process's package that are without a verdict, and whose process is gone: in this run's
// directory, and in the run before it.
func (j *Journal) LeftOpen() ([]*TrialRecord, error) {
	dirs := []string{j.dir}
	home := filepath.Join(j.process.Root, Home)
	if name, err := j.before(home); err == nil && name != "" {
		dirs = append(dirs, filepath.Join(home, name))
	}
	var out []*TrialRecord
	for _, dir := range dirs {
		run, err := readSome(dir, func(name string) bool {
			return name != j.file && strings.HasPrefix(name, j.filePrefix())
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, err
		}
		for _, t := range run.Final() {
			p := t.Process
			if t.Verdict == nil && p.Package == j.process.Package && (p.Owner.Dead() || p.Owner.PID == 0) {
				out = append(out, t)
			}
		}
	}
	return out, nil
}

// WriteFile writes a file into the run directory, in place of what is there: a reader finds the one or the other. Of
// processes that write at the same time one is last.
func (j *Journal) WriteFile(name string, data []byte) error {
	if err := replaceFile(filepath.Join(j.dir, name), string(data)); err != nil {
		return fmt.Errorf("journal: write %s: %w", name, err)
	}
	return nil
}
