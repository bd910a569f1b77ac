package wrong

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
)

// Criteria with partial credit whose bounds are not.

var bounds = []Case{
	{Name: "bounds that widen", New: live(Share{}), Rules: "bounds", Steps: []script.Step{tests, looks, looks}, Denied: true},
	{Name: "bounds upside down", New: live(upsideDown{}), Rules: "bounds"},
	{Name: "bounds in percent", New: live(percent{}), Rules: "bounds"},
	{Name: "bounds of nothing", New: live(ofNothing{}), Rules: "bounds"},
	{Name: "a pass before the bounds", New: live(hasty{}), Rules: "bounds sound", Steps: acts(tests, tests)},
	{Name: "bounds too narrow", New: live(generous{}), Rules: "bounds", Also: "declared", Steps: acts(tests, tests, tests)},
	{Name: "bounds that move undeclared", New: live(quietBounds{}), Rules: "declared", Steps: acts(tests, tests, tests)},
	{Name: "LiveBounds misspelt", New: live(boundMisspelt{}), Rules: "reachable"},
	{Name: "bounds as an interval", New: live(asInterval{}), Rules: "reachable"},
}

// Share is the part of the calls that were not denied, with bounds that take what was seen for what will be.
type Share struct{}

type shareKey struct{}

func (Share) tally(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(shareKey{}, func(agents.ToolCall) bool { return true })
}

func (Share) String() string { return "few denials" }

// StopPolarities is Fail.
func (Share) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// LiveVerdict leaves it to the bounds.
func (Share) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// LiveBounds go by the share so far.
func (c Share) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	t := c.tally(tr)
	if t.Ran()+t.Denied == 0 {
		return evaltest.PassIf(false), evaltest.PassIf(true)
	}
	return evaltest.PassIf(false), evaltest.Ratio(t.Ran(), t.Ran()+t.Denied)
}

// Grade is the share in the end.
func (c Share) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := c.tally(trial.Trajectory)
	switch {
	case t.Open() > 0:
		return evaltest.Score{}, evaltest.ErrOpen
	case t.Ran()+t.Denied == 0:
		return evaltest.PassIf(true), nil
	}
	return evaltest.Ratio(t.Ran(), t.Ran()+t.Denied), nil
}

// upsideDown gives its bounds in the wrong order.
type upsideDown struct{ three }

func (c upsideDown) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	hi, lo = c.three.LiveBounds(tr)
	return lo, hi
}

// percent counts to a hundred.
type percent struct{ three }

func (percent) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.Points(100 * float64(min(test.Tally(tr).Ran(), 3)) / 3), evaltest.Points(100)
}

// ofNothing divides by the number of tests, before there is one.
type ofNothing struct{ three }

func (ofNothing) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	t := test.Tally(tr)
	return evaltest.Ratio(0, t.Dispatched()), evaltest.PassIf(true)
}

// hasty passes before its bounds do.
type hasty struct{ three }

func (hasty) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if test.Tally(tr).Ran() >= 2 {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// generous expects one test more than were seen, and no second one.
type generous struct{ three }

func (generous) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	t := test.Tally(tr)
	return evaltest.Ratio(min(t.Ran(), 3), 3), evaltest.Ratio(max(min(t.Dispatched()+1, 3), min(t.Ran(), 3)), 3)
}

// quietBounds moves bounds that it does not declare to move.
type quietBounds struct{ three }

func (quietBounds) StopPolarities() evaltest.Polarity { return 0 }
func (quietBounds) LiveVerdict(*agents.Trajectory) evaltest.Verdict {
	return evaltest.Undecided
}

// onlyGraded is what a criterion with partial credit has beside its bounds.
type onlyGraded struct{}

func (onlyGraded) String() string { return "go test is run three times" }
func (onlyGraded) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return three{}.Grade(ctx, trial)
}

// boundMisspelt has bounds that nobody asks for.
type boundMisspelt struct{ onlyGraded }

func (boundMisspelt) StopPolarities() evaltest.Polarity               { return evaltest.Pass }
func (boundMisspelt) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }
func (boundMisspelt) LiveBound(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return three{}.LiveBounds(tr)
}

// asInterval has its bounds in one value.
type asInterval struct{ onlyGraded }

func (asInterval) StopPolarities() evaltest.Polarity               { return evaltest.Pass }
func (asInterval) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }
func (asInterval) LiveBounds(tr *agents.Trajectory) evaltest.Interval {
	lo, hi := three{}.LiveBounds(tr)
	return evaltest.Interval{Lo: lo, Hi: hi}
}
