package wrong

import (
	"slices"
	"sync/atomic"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria that do not say what they declare, or do not declare what they say.

var says = []Case{
	{Name: "an undeclared fail", New: live(undeclared{}), Rules: "declared", Also: "sound monotone"},
	{Name: "pass and fail confused", New: live(confused{}), Rules: "declared reachable"},
	{Name: "polarities joined by & instead of |", New: live(joined{}), Rules: "declared"},
	{Name: "a verdict added to what is embedded", New: live(added{}), Rules: "declared", Also: "sound monotone"},
	{Name: "a verdict that is none", New: live(fourth{}), Rules: "declared reachable"},
	{Name: "Decided as a polarity", New: live(decidedPolarity{}), Rules: "declared"},
	{Name: "a polarity that changes", New: func() evaltest.Criterion { return fadingPolarity{over: new(atomic.Bool)} }, Rules: "declared"},
	{Name: "a polarity that no path returns", New: live(neverFails{}), Rules: "reachable"},
	{Name: "a verdict still to be written", New: live(toDo{}), Rules: "reachable"},
	{Name: "a status misspelt", New: live(neverMatches{}), Rules: "reachable"},
}

// undeclared fails, which it does not declare.
type undeclared struct{ tested }

func (undeclared) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		return evaltest.Failed
	}
	return tested{}.LiveVerdict(tr)
}

// confused declares the verdict that it hopes for.
type confused struct{ noRM }

func (confused) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (confused) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > 0)
}

// joined declares what Pass and Fail have in common.
type joined struct{ noRM }

func (joined) StopPolarities() evaltest.Polarity { return evaltest.Pass & evaltest.Fail }
func (joined) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// added passes where what it embeds, and declares for it, does not.
type added struct{ noRM }

func (c added) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if tr.Turns() > 3 {
		return evaltest.Passed
	}
	return c.noRM.LiveVerdict(tr)
}

// fourth gives a verdict that there is none of.
type fourth struct{ tested }

func (fourth) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if test.Tally(tr).Ran() > 0 {
		return evaltest.Failed + 1
	}
	return evaltest.Undecided
}

// decidedPolarity declares what is for StopWhen alone.
type decidedPolarity struct{ tested }

func (decidedPolarity) StopPolarities() evaltest.Polarity { return evaltest.Decided }

// fadingPolarity declares what it can still reach.
type fadingPolarity struct {
	tested
	over *atomic.Bool
}

func (c fadingPolarity) StopPolarities() evaltest.Polarity {
	if c.over.Load() {
		return 0
	}
	return evaltest.Pass
}
func (c fadingPolarity) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := c.tested.LiveVerdict(tr)
	if v == evaltest.Passed {
		c.over.Store(true)
	}
	return v
}

// neverFails declares a verdict that no path returns.
type neverFails struct{ tested }

func (neverFails) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

// toDo is not finished.
type toDo struct{ tested }

func (toDo) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// neverMatches looks for what no call has.
type neverMatches struct{ tested }

func (neverMatches) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(slices.ContainsFunc(parts.Statuses(tr, test.In), func(s agents.Status) bool { return s == "success" }))
}
