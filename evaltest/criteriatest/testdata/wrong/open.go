package wrong

import (
	"context"
	"fmt"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria that take a call that is under way, or was denied, for one that has run, or the reverse.

var opens = []Case{
	{Name: "a pass on a pending call", New: live(PendingPass{}), Rules: "sound", Denied: true},
	{Name: "a pass on a call in progress", New: live(startedPass{}), Rules: "sound", Also: "monotone"},
	{Name: "a denied call counted as run", New: live(deniedCounts{}), Rules: "sound", Denied: true},
	{Name: "a budget that counts calls in flight", New: live(inFlight{1}), Rules: "sound", Steps: []script.Step{removes, tests, script.Say("Done.")}, Denied: true},
	{Name: "ErrOpen turned into a zero", New: live(OpenIsZero{}), Rules: "trajectory"},
	{Name: "an unresolved call taken for a denied one", New: live(unresolvedIsDenied{}), Rules: "trajectory"},
	{Name: "open where nothing is", New: live(alwaysOpen{}), Rules: "trajectory", Steps: []script.Step{looks, script.Say("Done.")}},
}

// PendingPass counts calls that were dispatched.
type PendingPass struct{ tested }

// LiveVerdict passes before it is known whether the call will run.
func (PendingPass) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(tr).Dispatched() > 0)
}

// startedPass takes a call in progress for one that has run.
type startedPass struct{ tested }

func (startedPass) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(slices.ContainsFunc(parts.Statuses(tr, test.In), func(s agents.Status) bool { return s != agents.Pending && s != agents.Denied }))
}

// deniedCounts takes a call that was denied for one that has run.
type deniedCounts struct{ noRM }

func (deniedCounts) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	t := rm.Tally(tr)
	return parts.FailIf(t.Ran()+t.Denied > 0)
}

// inFlight counts calls when they are dispatched, and Grade when they have run.
type inFlight struct{ max int }

func (c inFlight) String() string                  { return fmt.Sprintf("at most %d calls", c.max) }
func (inFlight) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c inFlight) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.MainCalls().Dispatched() > c.max)
}
func (c inFlight) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := trial.Trajectory.MainCalls()
	if t.Ran() <= c.max && t.Ran()+t.Open() > c.max {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Ran() <= c.max), nil
}

// OpenIsZero takes an answer that is not there for a bad one.
type OpenIsZero struct{ tested }

// Grade drops the error.
func (c OpenIsZero) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.tested.Grade(ctx, trial)
	if err != nil {
		return evaltest.PassIf(false), nil
	}
	return s, nil
}

// unresolvedIsDenied takes a call whose end was not seen for one that never ran.
type unresolvedIsDenied struct{ noRM }

func (unresolvedIsDenied) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(rm.Tally(trial.Trajectory).Ran() == 0), nil
}

// alwaysOpen says that its score is open where nothing was done.
type alwaysOpen struct{ tested }

func (alwaysOpen) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if test.Tally(trial.Trajectory).Ran() == 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(true), nil
}
