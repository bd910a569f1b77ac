package criteria

import (
	"context"
	"fmt"
	"math"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// count asks how often something was done by calls that have run. Without a bound of its own it asks for once at least.
type count struct {
	live   // name is not used: it depends on the bounds
	did    string
	object string
	tally  func(*agents.Trajectory) agents.Tally

	min, max       int
	hasMin, hasMax bool
	partial        bool
}

func (c count) withMin(n int) count { c.min, c.hasMin = n, true; return c }
func (c count) withMax(n int) count { c.max, c.hasMax = n, true; return c }
func (c count) withPartial() count  { c.partial = true; return c }

// least and most are the bounds in force.
func (c *count) least() int {
	if !c.hasMin && !c.hasMax {
		return 1
	}
	return c.min
}

func (c *count) most() int {
	if !c.hasMax {
		return math.MaxInt
	}
	return c.max
}

// String is how reports name it, with what it counts and how often.
func (c *count) String() string {
	times := ""
	switch least, most := c.least(), c.most(); {
	case least == most:
		times = fmt.Sprintf(" exactly %s", timesOf(least))
	case !c.hasMax && least > 1:
		times = fmt.Sprintf(" at least %s", timesOf(least))
	case c.hasMax && least == 0:
		times = fmt.Sprintf(" at most %s", timesOf(most))
	case c.hasMax:
		times = fmt.Sprintf(" %d to %s", least, timesOf(most))
	}
	if c.partial {
		times += " (partial credit)"
	}
	return c.did + times + ": " + c.object
}

func timesOf(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// Misuse says how it was built from what does not fit; nil: it was not.
func (c *count) Misuse() error {
	switch {
	case c.err != nil:
		return c.err
	case c.hasMin && c.min < 0, c.hasMax && c.max < 0:
		return misuse(c.String(), "a negative bound; give Min and Max numbers from 0")
	case c.hasMin && c.min == 0 && !c.hasMax:
		return misuse(c.String(), "Min(0) asks for nothing; for something that must not happen use Never or Max(0)")
	case c.least() > c.most():
		return misuse(c.String(), "Min(%d) lies above Max(%d): no trial could pass", c.min, c.max)
	case c.partial && c.least() == 0:
		return misuse(c.String(), "Partial gives credit on the way to a minimum; add Min(n)")
	}
	return nil
}

// StopPolarities is Pass without a maximum: more of it never harms; Fail with one: there may always come one more.
func (c *count) StopPolarities() evaltest.Polarity {
	if c.hasMax {
		return evaltest.Fail
	}
	return evaltest.Pass
}

// score is the score of exactly n.
func (c *count) score(n int) evaltest.Score {
	switch least := c.least(); {
	case n > c.most():
		return zero
	case n >= least:
		return one
	case c.partial:
		return evaltest.Ratio(n, least)
	}
	return zero
}

// between is what is known of the score of a number from lo up to hi.
func (c *count) between(lo, hi int) evaltest.Interval {
	low, high := c.score(lo), c.score(min(hi, max(c.most(), lo)))
	if hi > c.most() {
		low = zero
	}
	return evaltest.Interval{Lo: low, Hi: high}
}

// LiveBounds says between which scores the final one will lie.
func (c *count) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	if c.Misuse() != nil {
		return zero, one
	}
	i := c.between(c.tally(tr).Ran(), math.MaxInt)
	return i.Lo, i.Hi
}

// LiveVerdict judges the trajectory so far.
func (c *count) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	lo, hi := c.LiveBounds(tr)
	return verdictOf(evaltest.Interval{Lo: lo, Hi: hi})
}

// Grade scores the finished trial.
func (c *count) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if err := c.Misuse(); err != nil {
		return evaltest.Score{}, misuseError(c, err)
	}
	t := c.tally(trial.Trajectory)
	return scored(c.between(t.Ran(), t.Ran()+t.Open()), "%s%s", timesOf(t.Ran()), mayHaveRun(t.Open()))
}
