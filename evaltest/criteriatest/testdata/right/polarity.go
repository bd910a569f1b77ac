package right

import (
	"context"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// What is declared depends on what the criterion was made of.

var polarities = []Case{
	{Name: "polarity by a table: must", Looks: "an undeclared fail", New: same(byTable{"must"})},
	{Name: "polarity by a table: must not", Looks: "an undeclared pass", New: same(byTable{"must not"})},
	{Name: "polarity by an argument of the constructor", Looks: "a polarity that no path returns", New: func() evaltest.LiveCriterion { return newJudging(evaltest.Fail) }},
	{Name: "polarity by a limit", Looks: "a polarity that changes", New: same(between{max: 2})},
	{Name: "the opposite of another, by arithmetic", Looks: "a verdict that is none", New: same(opposite{tested{}})},
	{Name: "a branch that is switched off", Looks: "an undeclared pass", New: same(debugging{})},
	{Name: "a verdict from a field", Looks: "a polarity that no path returns", New: same(functional{judge: noRM{}.LiveVerdict})},
}

type byTable struct{ mode string }

var (
	tablePolarities = map[string]evaltest.Polarity{"must": evaltest.Pass, "must not": evaltest.Fail}
	tableVerdicts   = map[string]evaltest.Verdict{"must": evaltest.Passed, "must not": evaltest.Failed}
)

func (c byTable) String() string                    { return c.mode + " run rm -rf" }
func (c byTable) StopPolarities() evaltest.Polarity { return tablePolarities[c.mode] }
func (c byTable) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		return tableVerdicts[c.mode]
	}
	return evaltest.Undecided
}
func (c byTable) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.mode == "must" {
		return parts.AtLeastOne(rm.Tally(trial.Trajectory))
	}
	return parts.None(rm.Tally(trial.Trajectory))
}

// judging says the verdict that it was made for.
type judging struct {
	noRM
	reach   evaltest.Polarity
	verdict evaltest.Verdict
}

func newJudging(p evaltest.Polarity) judging {
	if p == evaltest.Pass {
		return judging{reach: p, verdict: evaltest.Passed}
	}
	return judging{reach: p, verdict: evaltest.Failed}
}

func (c judging) StopPolarities() evaltest.Polarity { return c.reach }
func (c judging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() == 0 {
		return evaltest.Undecided
	}
	return c.verdict
}

// between asks for one test at least, and for max at most: 0 is no limit.
type between struct{ max int }

func (c between) String() string { return fmt.Sprintf("go test is run 1 to %d times", c.max) }
func (c between) StopPolarities() evaltest.Polarity {
	if c.max > 0 {
		return evaltest.Fail
	}
	return evaltest.Pass
}
func (c between) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch n := test.Tally(tr).Ran(); {
	case c.max > 0 && n > c.max:
		return evaltest.Failed
	case c.max == 0 && n > 0:
		return evaltest.Passed
	}
	return evaltest.Undecided
}
func (c between) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.Tally(trial.Trajectory)
	fits := func(n int) bool { return n > 0 && (c.max == 0 || n <= c.max) }
	if fits(t.Ran()) != fits(t.Ran()+t.Open()) || t.Ran() == 0 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(fits(t.Ran())), nil
}

// opposite turns around what its part says.
type opposite struct{ part evaltest.LiveCriterion }

func (c opposite) String() string { return "not: " + c.part.String() }
func (c opposite) StopPolarities() evaltest.Polarity {
	return c.part.StopPolarities() ^ (evaltest.Pass | evaltest.Fail)
}
func (c opposite) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return (3 - c.part.LiveVerdict(tr)) % 3
}
func (c opposite) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	return s.Complement(), err
}

const debug = false

type debugging struct{ noRM }

func (c debugging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if debug {
		return evaltest.Passed
	}
	return c.noRM.LiveVerdict(tr)
}

// functional has a function judge.
type functional struct {
	noRM
	judge func(*agents.Trajectory) evaltest.Verdict
}

func (c functional) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return c.judge(tr) }
