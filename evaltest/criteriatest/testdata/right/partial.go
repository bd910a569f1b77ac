package right

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Partial credit.

var partial = []Case{
	{Name: "partial credit", Looks: "a verdict before the bounds", New: same(three{})},
	{Name: "embedding by a pointer", Looks: "a criterion without methods", New: func() evaltest.LiveCriterion { return embeds{&three{}} }},
	{Name: "bounds that rise, and no verdict", Looks: "a verdict still to be written", New: same(rising{})},
	{Name: "bounds that fall with every mistake", Looks: "bounds that widen", New: same(falling{})},
	{Name: "half a score from the start", Looks: "bounds that move undeclared", New: same(halved{})},
}

// three gives a third for each test that was run, up to three.
type three struct{}

func (three) String() string                    { return "go test is run three times" }
func (three) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (three) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(tr).Ran() >= 3)
}
func (three) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.Ratio(min(test.Tally(tr).Ran(), 3), 3), evaltest.PassIf(true)
}
func (three) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.Tally(trial.Trajectory)
	if t.Ran() < 3 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.Ratio(min(t.Ran(), 3), 3), nil
}

// embeds takes everything from what it embeds.
type embeds struct{ *three }

// rising leaves everything to its bounds.
type rising struct{ three }

func (rising) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// falling takes a quarter for each rm, down to nothing.
type falling struct{}

func (falling) left(ran int) evaltest.Score       { return evaltest.Ratio(max(4-ran, 0), 4) }
func (falling) String() string                    { return "little rm -rf" }
func (falling) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (falling) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() >= 4)
}
func (c falling) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.PassIf(false), c.left(rm.Tally(tr).Ran())
}
func (c falling) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := rm.Tally(trial.Trajectory)
	if t.Ran() < 4 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return c.left(t.Ran()), nil
}

// halved never falls below a half: its lower bound is there from the start, and does not rise.
type halved struct{ falling }

func (halved) left(ran int) evaltest.Score                     { return evaltest.Ratio(4+max(4-ran, 0), 8) }
func (halved) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }
func (c halved) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.Ratio(1, 2), c.left(rm.Tally(tr).Ran())
}
func (c halved) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := rm.Tally(trial.Trajectory)
	if t.Ran() < 4 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return c.left(t.Ran()), nil
}
