package evaltest_test

import (
	"math/big"
	"strconv"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// The oracle is written from the rules alone and shares nothing with the library: a gate is a yes or no for scores that
// are numbers, and what is known of a gate is what it says at both ends. Gates are monotone, so that nothing between the
// ends can differ.

// simSpec is what is asked of a criterion, in plain numbers.
type simSpec struct {
	criterion evaltest.Criterion
	weight    float64 // 0: 1
	passAt    float64 // 0: 1
	advisory  bool
	required  bool
	armed     evaltest.Polarity // 0: expected only
	fickle    bool
}

func (s simSpec) live() evaltest.LiveCriterion {
	l, _ := s.criterion.(evaltest.LiveCriterion)
	return l
}

// arms is the polarity that it is armed for, Decided spelled out.
func (s simSpec) arms() evaltest.Polarity {
	if s.armed == evaltest.Decided {
		return s.live().StopPolarities()
	}
	return s.armed
}

// exact is a number as people write it.
func exact(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
	if !ok {
		panic(x)
	}
	return r
}

func orOne(x float64) *big.Rat {
	if x == 0 {
		return big.NewRat(1, 1)
	}
	return exact(x)
}

// simGate is a gate over criteria.
type simGate struct {
	minScore float64 // 0: every criterion passes
	specs    []simSpec
	weight   []*big.Rat
	passAt   []*big.Rat
	minRat   *big.Rat
}

func newSimGate(minScore float64, specs []simSpec) *simGate {
	g := &simGate{minScore: minScore, specs: specs, minRat: exact(minScore)}
	for _, s := range specs {
		g.weight, g.passAt = append(g.weight, orOne(s.weight)), append(g.passAt, orOne(s.passAt))
	}
	return g
}

// passes is the gate over those criteria for which in holds, with these scores.
func (g *simGate) passes(scores []*big.Rat, in func(int) bool) bool {
	sum, all, any := new(big.Rat), new(big.Rat), false
	for i, s := range g.specs {
		if s.advisory || in != nil && !in(i) {
			continue
		}
		any = true
		reached := scores[i].Cmp(g.passAt[i]) >= 0
		if (g.minScore == 0 || s.required) && !reached {
			return false
		}
		sum.Add(sum, new(big.Rat).Mul(g.weight[i], scores[i]))
		all.Add(all, g.weight[i])
	}
	if g.minScore != 0 {
		return any && sum.Cmp(all.Mul(all, g.minRat)) >= 0
	}
	return any
}

// simKnown is what is known of each score.
type simKnown struct{ lo, hi []*big.Rat }

func (k *simKnown) add(i evaltest.Interval) {
	k.lo, k.hi = append(k.lo, i.Lo.Rat()), append(k.hi, i.Hi.Rat())
}

// knownFrom is what the criteria make of a trajectory.
func (g *simGate) knownFrom(tr *agents.Trajectory) simKnown {
	var k simKnown
	for _, s := range g.specs {
		k.add(evaltest.LiveInterval(s.criterion, tr))
	}
	return k
}

// full is the verdict of the whole gate.
func (g *simGate) full(k simKnown) evaltest.Verdict {
	switch {
	case g.passes(k.lo, nil):
		return evaltest.Passed
	case !g.passes(k.hi, nil):
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (g *simGate) passed(k simKnown, i int) bool { return k.lo[i].Cmp(g.passAt[i]) >= 0 }
func (g *simGate) failed(k simKnown, i int) bool { return k.hi[i].Cmp(g.passAt[i]) < 0 }

// smoke is the rule of smoke checks. disarmed says which criteria have broken their contract.
func (g *simGate) smoke(k simKnown, disarmed []bool) evaltest.Verdict {
	canFail, canPass := false, g.passes(k.hi, nil)
	for i, s := range g.specs {
		if s.armed != 0 && s.arms().Has(evaltest.Fail) && g.failed(k, i) && !disarmed[i] {
			canFail = true
		}
	}
	if canFail && !canPass {
		return evaltest.Failed
	}
	something := false
	for i, s := range g.specs {
		if s.armed == 0 {
			continue
		}
		onlyFails := s.live().StopPolarities() == evaltest.Fail
		if disarmed[i] || onlyFails && g.failed(k, i) {
			return evaltest.Undecided
		}
		if !onlyFails && s.arms().Has(evaltest.Pass) && g.passed(k, i) {
			something = true
		}
	}
	if something && canPass && g.passes(k.lo, func(i int) bool {
		return g.specs[i].armed != 0 && g.specs[i].live().StopPolarities() != evaltest.Fail
	}) {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// rule is the verdict for which a mode stops.
func (g *simGate) rule(mode evaltest.Mode, k simKnown, disarmed []bool) evaltest.Verdict {
	if mode == "armed" {
		return g.smoke(k, disarmed)
	}
	return g.full(k)
}
