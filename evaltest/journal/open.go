package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
)

// LeftOpen are the trials of this process's package that an earlier process began and did not live to end: in this run's
// directory, and in the run before it. A trial that was begun again since is none of them. Of a process that may be alive, or that
// cannot be looked for since it ran on another machine, nothing is said.
func (j *Journal) LeftOpen() ([]*TrialRecord, error) {
	dirs := []string{j.dir}
	if dir, err := j.before(filepath.Join(j.process.Root, Home)); err != nil {
		return nil, fmt.Errorf("journal: look for trials that were left open: %w", err)
	} else if dir != "" {
		dirs = append(dirs, dir)
	}
	var out []*TrialRecord
	for _, dir := range dirs {
		ts, err := j.leftOpenIn(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("journal: look for trials that were left open: %w", err)
		}
		out = append(out, ts...)
	}
	return out, nil
}

func (j *Journal) leftOpenIn(dir string) ([]*TrialRecord, error) {
	x, err := readIndex(dir, func(name string) bool {
		return strings.HasPrefix(name, j.filePrefix()) && !(name == j.file && sameDir(dir, j.dir))
	})
	if err != nil {
		return nil, err
	}
	last := map[trialKey]*indexed{}
	var order []trialKey
	for _, f := range x.files {
		if f.process.Package != j.process.Package || f.process.PID == 0 {
			continue // only the slugs of both are equal
		}
		for _, t := range f.trials {
			key := keyOf(t.id)
			if last[key] == nil {
				order = append(order, key)
			}
			if last[key] == nil || !t.started.Before(last[key].started) {
				last[key] = t
			}
		}
	}
	var out []*TrialRecord
	for _, key := range order {
		t := last[key]
		if t.over || !t.file.process.gone() {
			continue
		}
		r, _, err := t.read()
		if err != nil {
			return out, err
		}
		if r != nil && r.Verdict == nil {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b *TrialRecord) int { return a.Intent.Started.Compare(b.Intent.Started) })
	return out, nil
}

// gone reports whether the process is certainly gone.
func (p *Process) gone() bool {
	o := p.Owner
	if o.PID == 0 { // schema 1: all that is known is the number
		o = owner.Owner{PID: p.PID, Host: p.Host, Namespace: owner.Self().Namespace}
	}
	return o.Dead()
}
