package criteria

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// Ceiling asks that something stays within a bound: CallsAtMost, TurnsAtMost, TokensAtMost, CostAtMost, TimeAtMost. It
// reaches Fail only: whatever was spent, more may follow.
type Ceiling struct{ amount }

// Floor asks that something reaches a bound: CallsAtLeast, TurnsAtLeast, TokensAtLeast, CostAtLeast, TimeAtLeast. It
// reaches Pass only.
type Floor struct{ amount }

// amount is how much of something a trajectory has. It only ever grows.
type amount struct {
	live
	gauge gauge
	bound int64
}

// gauge reads an amount off a trajectory: what is certain, and what calls that may have run would add.
type gauge struct {
	noun string // "" where show names it
	read func(*agents.Trajectory) (sure, open int64)
	show func(int64) string
	// blind, when not nil, says why the amount cannot be told from a finished trajectory.
	blind func(*agents.Trajectory) error
}

var (
	callsGauge = gauge{
		read: func(tr *agents.Trajectory) (int64, int64) {
			t := tr.MainCalls()
			return int64(t.Ran()), int64(t.Open())
		},
		show: func(n int64) string { return counted(int(n), "call") },
	}
	turnsGauge = gauge{
		read: func(tr *agents.Trajectory) (int64, int64) { return int64(tr.Turns()), 0 },
		show: func(n int64) string { return counted(int(n), "turn") },
	}
	tokensGauge = gauge{
		read: func(tr *agents.Trajectory) (int64, int64) { return spentBy(tr).tokens.top, 0 },
		show: func(n int64) string { return counted(int(n), "token") },
	}
	costGauge = gauge{
		noun:  "cost",
		read:  func(tr *agents.Trajectory) (int64, int64) { return spentBy(tr).cost.top, 0 },
		show:  func(n int64) string { return "$" + strconv.FormatFloat(float64(n)/picos, 'f', -1, 64) },
		blind: costUnknown,
	}
	timeGauge = gauge{
		noun: "time",
		read: func(tr *agents.Trajectory) (int64, int64) { return int64(spanOf(tr)), 0 },
		show: func(n int64) string { return time.Duration(n).String() },
	}
)

// CallsAtMost passes if n calls of the main thread have run at most.
func CallsAtMost(n int) *Ceiling { return ceiling("CallsAtMost", callsGauge, int64(n)) }

// CallsAtLeast passes if n calls of the main thread have run at least.
func CallsAtLeast(n int) *Floor { return floor("CallsAtLeast", callsGauge, int64(n)) }

// TurnsAtMost passes if the model gave n answers on the main thread at most. An answer counts when something of it is seen:
// see [agents.Trajectory.Turns].
func TurnsAtMost(n int) *Ceiling { return ceiling("TurnsAtMost", turnsGauge, int64(n)) }

// TurnsAtLeast passes if the model gave n answers on the main thread at least, counted as by [TurnsAtMost].
func TurnsAtLeast(n int) *Floor { return floor("TurnsAtLeast", turnsGauge, int64(n)) }

// TokensAtMost passes if n tokens were used at most: of every kind, sub-agents' included, as far as the agent reports
// them.
func TokensAtMost(n int64) *Ceiling { return ceiling("TokensAtMost", tokensGauge, n) }

// TokensAtLeast passes if n tokens were used at least, counted as by [TokensAtMost].
func TokensAtLeast(n int64) *Floor { return floor("TokensAtLeast", tokensGauge, n) }

// CostAtMost passes if at most so many US dollars were spent, sub-agents included. Sums are exact to the picodollar: ten
// times 0.1 is 1. Of an agent that reports tokens and never what they cost nothing can be said: grading it is an error of
// the author.
func CostAtMost(dollars float64) *Ceiling {
	c := ceiling("CostAtMost", costGauge, picodollars(dollars))
	c.err = badCost("CostAtMost", dollars, c.err)
	return c
}

// CostAtLeast passes if at least so many US dollars were spent, counted as by [CostAtMost].
func CostAtLeast(dollars float64) *Floor {
	c := floor("CostAtLeast", costGauge, picodollars(dollars))
	c.err = badCost("CostAtLeast", dollars, c.err)
	return c
}

// TimeAtMost passes if at most d went by from the first event of the trajectory to the last one.
func TimeAtMost(d time.Duration) *Ceiling { return ceiling("TimeAtMost", timeGauge, int64(d)) }

// TimeAtLeast passes if at least d went by from the first event of the trajectory to the last one.
func TimeAtLeast(d time.Duration) *Floor { return floor("TimeAtLeast", timeGauge, int64(d)) }

func ceiling(constructor string, g gauge, bound int64) *Ceiling {
	c := &Ceiling{amount{live{name: strings.TrimSpace(g.noun + " at most " + g.show(bound))}, g, bound}}
	if bound < 0 {
		c.err = misuse(constructor, "the bound is negative: no trial could pass")
	}
	return c
}

func floor(constructor string, g gauge, bound int64) *Floor {
	c := &Floor{amount{live{name: strings.TrimSpace(g.noun + " at least " + g.show(bound))}, g, bound}}
	if bound <= 0 {
		c.err = misuse(constructor, "the bound is not positive: every trial would pass")
	}
	return c
}

func badCost(constructor string, dollars float64, err error) error {
	if math.IsNaN(dollars) || dollars > maxDollars {
		return misuse(constructor, "%v is no number of dollars up to %v", dollars, maxDollars)
	}
	return err
}

// StopPolarities is Fail.
func (c *Ceiling) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// LiveVerdict judges the trajectory so far.
func (c *Ceiling) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if sure, _ := c.gauge.read(tr); c.err == nil && sure > c.bound {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// Grade scores the finished trial.
func (c *Ceiling) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return c.grade(c, trial.Trajectory, func(n int64) evaltest.Score { return evaltest.PassIf(n <= c.bound) })
}

// StopPolarities is Pass.
func (c *Floor) StopPolarities() evaltest.Polarity { return evaltest.Pass }

// LiveVerdict judges the trajectory so far.
func (c *Floor) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if sure, _ := c.gauge.read(tr); c.err == nil && sure >= c.bound {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// Grade scores the finished trial.
func (c *Floor) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return c.grade(c, trial.Trajectory, func(n int64) evaltest.Score { return evaltest.PassIf(n >= c.bound) })
}

func (a *amount) grade(c evaltest.Criterion, tr *agents.Trajectory, score func(int64) evaltest.Score) (evaltest.Score, error) {
	if a.err != nil {
		return evaltest.Score{}, misuseError(c, a.err)
	}
	if a.gauge.blind != nil {
		if err := a.gauge.blind(tr); err != nil {
			return evaltest.Score{}, err
		}
	}
	sure, open := a.gauge.read(tr)
	lo, hi := score(sure), score(sure+open)
	if lo.Cmp(hi) != 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return lo.Because("%s%s", a.gauge.show(sure), mayHaveRun(int(open))), nil
}

// Money is counted in picodollars, so that sums of decimals stay exact.
const (
	picos      = 1e12
	maxDollars = 9e6
)

func picodollars(dollars float64) int64 {
	switch {
	case math.IsNaN(dollars):
		return 0
	case math.Abs(dollars) > maxDollars:
		dollars = math.Copysign(maxDollars, dollars)
	}
	return int64(math.Round(dollars * picos))
}

// spent is what usage events add up to.
type spent struct{ tokens, cost peak }

// peak is a sum and the most that it has been: a report that takes something back must not undo what was decided.
type peak struct{ sum, top int64 }

func (p *peak) add(n int64) {
	if n > 0 && p.sum > math.MaxInt64-n {
		n = math.MaxInt64 - p.sum
	}
	p.sum += n
	p.top = max(p.top, p.sum)
}

type spentKey struct{}

var spentCell any = spentKey{}

func spentBy(tr *agents.Trajectory) spent {
	return agents.Fold(tr, spentCell, func(s spent, e agents.Event) spent {
		if e.Kind == agents.EventUsage {
			s.tokens.add(e.Usage.Tokens())
			s.cost.add(picodollars(e.Usage.Cost))
		}
		return s
	})
}

func costUnknown(tr *agents.Trajectory) error {
	if s := spentBy(tr); s.tokens.top == 0 || s.cost.top > 0 {
		return nil
	}
	return evaltest.AuthorError("criteria: grade the cost: the agent reported tokens and not what they cost; judge tokens (TokensAtMost), or set prices")
}

type span struct {
	first time.Time
	most  time.Duration
	began bool
}

type spanKey struct{}

var spanCell any = spanKey{}

func spanOf(tr *agents.Trajectory) time.Duration {
	return agents.Fold(tr, spanCell, func(s span, e agents.Event) span {
		if !s.began {
			s.first, s.began = e.Time, true
		}
		s.most = max(s.most, e.Time.Sub(s.first))
		return s
	}).most
}
