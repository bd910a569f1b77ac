package verdict

import (
	"fmt"
	"math"
	"math/big"
)

// Criterion is one part of a gate.
type Criterion struct {
	Interval Interval
	Weight   *big.Rat // positive; nil is 1
	PassAt   *big.Rat // in (0, 1]; nil is 1
	Advisory bool     // it is shown, and counts for nothing
	Required bool     // under MinScore, it has to pass by itself

	// What it is armed for and what it can reach: for the rule of a smoke check alone (Armed).
	Armed    Polarity
	Reach    Polarity
	Disarmed bool // it broke its contract: its interval is Unknown, and it stops nothing
}

// Weight is w as a weight. A weight is positive and finite.
func Weight(w float64) (*big.Rat, error) {
	if math.IsNaN(w) || math.IsInf(w, 0) || w <= 0 {
		return nil, fmt.Errorf("verdict: weight %v is not a positive number; leave a criterion out of the gate with Advisory()", w)
	}
	return Decimal(w), nil
}

// Threshold is x as a threshold on a score. A threshold lies in (0, 1].
func Threshold(x float64) (*big.Rat, error) {
	if math.IsNaN(x) || x <= 0 || x > 1 {
		return nil, fmt.Errorf("verdict: threshold %v is not in (0, 1]", x)
	}
	return Decimal(x), nil
}

// Verdict is Passed when even the lower end reaches PassAt, Failed when even the upper end does not.
func (c Criterion) Verdict() Verdict {
	at := c.PassAt
	if at == nil {
		at = oneRat
	}
	switch {
	case c.Interval.Lo.Rat().Cmp(at) >= 0:
		return Passed
	case c.Interval.Hi.Rat().Cmp(at) < 0:
		return Failed
	}
	return Undecided
}

func (c Criterion) weight() *big.Rat {
	if c.Weight == nil {
		return oneRat
	}
	return c.Weight
}

// Gate says what a trial needs to pass. The zero value: every gating criterion passes. With MinScore: the weighted mean
// of the gating criteria reaches it, and each that is required passes.
type Gate struct {
	MinScore *big.Rat // in (0, 1]; nil: every gating criterion passes
}

// String says what the gate asks for.
func (g Gate) String() string {
	if g.MinScore == nil {
		return "every criterion passes"
	}
	return "score ≥ " + formatRat(g.MinScore)
}

// Decide is Passed when the gate passes for every value that the intervals allow, Failed when it passes for none. A gate
// without gating criteria is Undecided: there is nothing to pass.
func (g Gate) Decide(cs []Criterion) Verdict {
	var all tally
	for _, c := range cs {
		if !c.Advisory && (g.MinScore == nil || c.Required) {
			all.add(c.Verdict())
		}
	}
	if g.MinScore != nil {
		score, ok := g.mean(cs)
		if !ok {
			return Undecided
		}
		all.add(Criterion{Interval: score, PassAt: g.MinScore}.Verdict())
	}
	return all.verdict()
}

// tally is the verdict of "every one passes".
type tally struct{ n, failed, open int }

func (t *tally) add(v Verdict) {
	t.n++
	switch v {
	case Failed:
		t.failed++
	case Undecided:
		t.open++
	}
}

func (t tally) verdict() Verdict {
	switch {
	case t.n == 0:
		return Undecided
	case t.failed > 0:
		return Failed
	case t.open > 0:
		return Undecided
	}
	return Passed
}

// Score is the weighted mean of the gating criteria, Unknown when there are none.
func (g Gate) Score(cs []Criterion) Interval {
	if i, ok := g.mean(cs); ok {
		return i
	}
	return Unknown
}

func (g Gate) mean(cs []Criterion) (Interval, bool) {
	lo, hi, sum := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, c := range cs {
		if c.Advisory {
			continue
		}
		w := c.weight()
		sum.Add(sum, w)
		lo.Add(lo, new(big.Rat).Mul(w, c.Interval.Lo.Rat()))
		hi.Add(hi, new(big.Rat).Mul(w, c.Interval.Hi.Rat()))
	}
	if sum.Sign() == 0 {
		return Interval{}, false
	}
	return Interval{FromRat(lo.Quo(lo, sum)), FromRat(hi.Quo(hi, sum))}, true
}
