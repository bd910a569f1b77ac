package evaltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// EVALTEST_RESUME names a run whose settled trials are taken over: as they are, where nothing has changed of what they
// depend on; graded again from the record, where only what is asked of them has.

// changedDir is the folder of a trial's record with the files that the agent created or modified, as it left them.
const changedDir = "changed"

// maxChanged is how much of that is kept, in bytes.
const maxChanged = 64 << 20

// resumed is the run that this process's evals resume.
var resumed = struct {
	sync.Mutex
	base map[string]*journal.Base
}{base: map[string]*journal.Base{}}

// baseOf reads the run that spec names, once.
func baseOf(j *journal.Journal, spec string) (*journal.Base, error) {
	resumed.Lock()
	defer resumed.Unlock()
	if b := resumed.base[spec]; b != nil {
		return b, nil
	}
	b, err := j.Resume(spec)
	if err != nil {
		return nil, err
	}
	resumed.base[spec] = b
	return b, nil
}

// takeOver looks for a record that settles the trial, and takes it over. It is false when the agent has to run.
func (a *attempt) takeOver(ctx context.Context) bool {
	e := a.e
	if e.resume == "" || a.trial.Attempt > 1 {
		return false
	}
	j, err := journal.Default()
	if err != nil {
		return false // begin has failed by it
	}
	base, err := baseOf(j, e.resume)
	if e.resume == "latest" && errors.Is(err, journal.ErrNoRun) { // the first of all runs
		a.note("nothing is taken over: there is no run yet that %s=latest could name", envResume)
		return false
	}
	if err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "%s=%s: %w", envResume, e.resume, err))
		return true
	}
	why := ""
	because := func(format string, args ...any) {
		if why == "" {
			why = fmt.Sprintf(format, args...)
		}
	}
	now := a.record.Intent()
	for _, old := range base.Find(now.ID) {
		run, grade := old.Intent.Fingerprint.Diff(now.Fingerprint)
		switch v := old.Verdict; {
		case old.Intent.Fingerprint.IsZero():
			because("its record does not say what it depends on")
		case len(run) > 0:
			because("changed since: %s", changedParts(run))
		case v == nil:
			because("it was not over: %s", old.Err().Message())
		case old.Settled() && len(grade) == 0 && len(old.Criteria) == len(a.e.specs):
			a.reuse(old)
			return true
		case !old.Settled() && !gradersAlone(old):
			because("it was %s: %s", old.Outcome(), problem(old))
		case !v.Complete:
			because("changed since: %s; the record cannot be graded again, since the session did not end well", changedParts(grade))
		default:
			err := a.regrade(ctx, old)
			if err == nil {
				return true
			}
			if a.err != nil {
				return true
			}
			because("it cannot be graded again: %v", err)
		}
	}
	if why != "" {
		a.note("run anew, and not taken over from %s: %s", base.Name(), why)
	}
	return false
}

// gradersAlone reports whether what kept a trial from a verdict was grading it.
func gradersAlone(t *journal.TrialRecord) bool {
	if t.Verdict == nil || t.Verdict.Outcome != OutcomeErrored || !t.Verdict.Complete {
		return false
	}
	for _, c := range t.Criteria {
		if c.Err != nil {
			return true
		}
	}
	return false
}

func problem(t *journal.TrialRecord) string {
	if err := t.Err(); err != nil {
		return err.Error()
	}
	return "no error was in its verdict, but one had a part in it"
}

// reuse takes a record over as it is.
func (a *attempt) reuse(old *journal.TrialRecord) {
	t, v := a.trial, old.Verdict
	if tr, _, err := readTranscript(old); err == nil {
		t.Trajectory = tr
	} else {
		a.note("the transcript of the record cannot be read: %v", err)
	}
	a.recalled(old, false)
	a.results, t.Criteria = old.Criteria, old.Criteria
	t.Outcome, t.Score, t.Smoke, t.Err, t.Reply = v.Outcome, v.Score, v.Smoke, v.Err, v.Reply
	a.shadow = v.Shadow
	for i, c := range a.results {
		if i < len(a.watch.judged) {
			a.watch.judged[i].violation = c.Violation
		}
		if err := a.record.Criterion(c); err != nil {
			a.note("%v", err)
		}
	}
	a.settled = true
}

// recalled takes over what does not depend on criteria.
func (a *attempt) recalled(old *journal.TrialRecord, regraded bool) {
	t, v := a.trial, old.Verdict
	t.Stop, t.Limit, t.Usage = v.Stop, v.Limit, v.Usage
	a.requests, a.answered = v.Requests, v.Model
	if v.Version != "" {
		a.info.Version = v.Version
	}
	a.reused = &journal.Reused{Run: old.RunName(), Dir: filepath.Dir(filepath.Dir(old.Dir)), Folder: old.Intent.Folder, Regraded: regraded}
	if r := v.Reused; r != nil { // the run that the agent ran in
		was := *r
		was.Regraded = regraded
		a.reused = &was
	}
	var err error
	if t.Changes, err = old.Changes(); err != nil && !errors.Is(err, os.ErrNotExist) {
		a.note("%v", err)
	}
}

func readTranscript(t *journal.TrialRecord) (*agents.Trajectory, []byte, error) {
	data, err := os.ReadFile(filepath.Join(t.Origin(), "transcript.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	tr, _, err := transcript.Read(strings.NewReader(string(data)))
	return tr, data, err
}

// regrade grades the recorded workspace and transcript by today's criteria, without running the agent. Its error says why
// that cannot be done.
func (a *attempt) regrade(ctx context.Context, old *journal.TrialRecord) error {
	tr, text, err := readTranscript(old)
	if err != nil {
		return err
	}
	for _, name := range a.e.secrets {
		if strings.Contains(string(text), "‹"+name+"›") {
			return fmt.Errorf("its transcript had the value of %s, which is in no record", name)
		}
	}
	if len(a.e.prevents()) > 0 {
		for c := range tr.Calls() {
			if c.Status == agents.Denied {
				return errors.New("calls were prevented in it")
			}
		}
	}
	if err := a.replay(old, tr); err != nil {
		a.newWatch()
		return err
	}
	a.recalled(old, true)
	if err := a.restore(ctx, old); err != nil {
		t := a.trial
		t.Stop, t.Limit, t.Usage, t.Changes = nil, "", agents.Usage{}, nil
		t.Trajectory, a.reused, a.requests, a.answered = new(agents.Trajectory), nil, nil, ""
		a.newWatch()
		return err
	}
	return nil
}

// replay has the criteria look at the recorded trajectory, event by event, as if it happened.
func (a *attempt) replay(old *journal.TrialRecord, tr *agents.Trajectory) error {
	w, v := a.watch, old.Verdict
	w.rules, w.limits.Tokens, w.limits.Cost, w.record = nil, 0, 0, nil
	w.tr, a.trial.Trajectory = new(agents.Trajectory), nil
	if !a.judging(func() {
		for i := range tr.Len() {
			w.observe(tr.Event(i))
		}
	}) {
		return a.err
	}
	a.trial.Trajectory = w.tr
	if w.tr.Len() != tr.Len() {
		return errors.New("its transcript makes no sense any more")
	}
	w.complete = true
	w.ended = &ending{stop: v.Stop, limit: v.Limit, budget: v.Outcome == OutcomeUndecided}
	if v.Stop == nil {
		return nil
	}
	cs := w.parts()
	if w.gate.Decide(cs) == Undecided && (v.Stop.Mode != verdict.Armed || w.gate.StopArmed(cs) != Passed) {
		return errors.New("it was stopped before what is asked now was known")
	}
	stop := *v.Stop
	stop.Open = nil
	for _, i := range verdict.Open(cs) {
		stop.Open = append(stop.Open, w.judged[i].name)
	}
	v.Stop = &stop
	return nil
}

// restore makes the workspace what the agent left.
func (a *attempt) restore(ctx context.Context, old *journal.TrialRecord) error {
	if a.allLive() {
		return nil // which reads the trajectory alone
	}
	saved := filepath.Join(old.Origin(), changedDir)
	if _, err := os.Stat(saved); err != nil && len(a.trial.Changes) > 0 {
		return errors.New("what the agent changed in its workspace was not kept")
	}
	if !a.setUp(ctx) {
		return a.err
	}
	return a.ws.ApplyChanges(saved, a.trial.Changes)
}

// allLive reports whether every criterion is of the trajectory alone.
func (a *attempt) allLive() bool {
	for _, s := range a.e.specs {
		if s.live == nil {
			return false
		}
	}
	return true
}

// saveChanges keeps the files that the agent created or modified, so that the trial can be graded again. Files that hold a
// secret are not kept, and then none is.
func (a *attempt) saveChanges(ctx context.Context) {
	if a.e.keep == "none" || len(a.trial.Changes) == 0 {
		return
	}
	dir := filepath.Join(a.record.Dir(), changedDir)
	err := a.ws.SaveChanges(ctx, dir, a.trial.Changes, maxChanged)
	if err == nil && a.holdsSecret(dir) {
		_ = os.RemoveAll(dir)
		err = errors.New("there is a secret in them")
	}
	if err != nil {
		a.note("the files that the agent changed are not kept, so that the trial cannot be graded again: %v", err)
	}
}

// holdsSecret reports whether a file below dir holds a secret.
func (a *attempt) holdsSecret(dir string) (found bool) {
	mask := a.e.masker()
	if mask == nil {
		return false
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && mask.text(string(data)) != string(data) {
			found = true
			return filepath.SkipAll
		}
		return err
	})
	return found || err != nil // what cannot be read cannot be trusted
}
