package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

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
	Grading  string   // the criterion that was being graded when the process ended, "" for none
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
			return agents.Errorf(agents.Interrupted, agents.FromHarness, "the test process ended before the verdict, while it graded %s", t.Grading)
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
	return readSome(dir, func(string) bool { return true })
}

// readSome reads the journals whose names are wanted.
func readSome(dir string, wanted func(name string) bool) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: read run: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: read run: %w", err)
	}
	r := &Run{Dir: dir}
	for _, e := range entries {
		if !isJournal(e) || !wanted(e.Name()) {
			continue
		}
		if err := r.readFile(e.Name()); err != nil {
			return nil, fmt.Errorf("journal: read %s: %w", filepath.Join(dir, e.Name()), err)
		}
	}
	slices.SortStableFunc(r.Trials, func(a, b *TrialRecord) int { return a.Intent.Started.Compare(b.Intent.Started) })
	slices.SortStableFunc(r.Processes, func(a, b *ProcessRecord) int { return a.Started.Compare(b.Started) })
	return r, nil
}

// readFile reads a journal of the run.
func (r *Run) readFile(name string) error {
	f, err := os.Open(filepath.Join(r.Dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	p := &ProcessRecord{File: name}
	r.Processes = append(r.Processes, p)
	rd := reader{run: r, process: p, trials: map[string]*TrialRecord{}}
	lines := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		last := err != nil
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := rd.record(text); errors.Is(err, errNewer) {
				return err
			} else if err != nil && last {
				p.Torn = true
			} else if err != nil {
				r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: %v", name, n, err))
			}
		}
		if last {
			break
		}
	}
	for _, t := range rd.trials {
		t.Torn = p.Torn && t.Verdict == nil
	}
	return nil
}

// reader puts the records of one journal together.
type reader struct {
	run     *Run
	process *ProcessRecord
	trials  map[string]*TrialRecord // by folder
}

var errNewer = errors.New("written by a newer version of evaltest")

func (rd *reader) record(line []byte) error {
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		// A newer version may give a field another shape; its number is the better message.
		var head struct{ V int }
		if json.Unmarshal(line, &head) != nil || head.V <= Version {
			return fmt.Errorf("a broken line: %w", err)
		}
		e.V = head.V
	}
	switch {
	case e.V > Version:
		return fmt.Errorf("%w: its records are of schema %d, this version reads up to %d; update evaltest", errNewer, e.V, Version)
	case e.V < 1:
		return errors.New("a line that is no record")
	}
	var err error
	switch e.Type {
	case typeRun:
		err = json.Unmarshal(e.Data, &rd.process.Process)
	case typeResumes:
		var r resumes
		err = json.Unmarshal(e.Data, &r)
		rd.process.Resumes = r.Dir
	case typeIntent:
		err = rd.intent(e)
	case typeCriterion, typeVerdict, typeNote, typeFailure, typeGrading:
		err = rd.result(e)
	}
	if err != nil {
		return fmt.Errorf("a record of type %q: %w", e.Type, err)
	}
	return nil
}

func (rd *reader) intent(e envelope) error {
	t := &TrialRecord{Process: rd.process}
	if err := json.Unmarshal(e.Data, &t.Intent); err != nil {
		return err
	}
	if rd.trials[e.Trial] != nil {
		return fmt.Errorf("a second intent of %s", e.Trial)
	}
	t.Dir = filepath.Join(rd.run.Dir, filepath.FromSlash(t.Intent.Folder))
	rd.trials[e.Trial] = t
	rd.run.Trials = append(rd.run.Trials, t)
	return nil
}

func (rd *reader) result(e envelope) error {
	t := rd.trials[e.Trial]
	if t == nil && e.Trial != "" {
		return fmt.Errorf("its trial %s has no intent", e.Trial)
	}
	switch {
	case e.Type == typeNote:
		var n note
		if err := json.Unmarshal(e.Data, &n); err != nil {
			return err
		}
		notes := &rd.process.Notes
		if t != nil {
			notes = &t.Notes
		}
		*notes = append(*notes, n.Text)
	case t == nil:
		return errors.New("it names no trial")
	case e.Type == typeFailure:
		var n note
		if err := json.Unmarshal(e.Data, &n); err != nil {
			return err
		}
		t.Failures = append(t.Failures, n.Text)
	case e.Type == typeGrading:
		var n note
		if err := json.Unmarshal(e.Data, &n); err != nil {
			return err
		}
		t.Grading = n.Text
	case t.Verdict != nil:
		return fmt.Errorf("it comes after the verdict of %s", e.Trial)
	case e.Type == typeCriterion:
		var c CriterionResult
		if err := json.Unmarshal(e.Data, &c); err != nil {
			return err
		}
		t.Criteria = append(t.Criteria, c)
		if t.Grading == c.Name {
			t.Grading = ""
		}
	default:
		var v Verdict
		if err := json.Unmarshal(e.Data, &v); err != nil {
			return err
		}
		if e.V < 2 {
			t.upgrade(&v)
		}
		t.Verdict, t.Grading = &v, ""
	}
	return nil
}
