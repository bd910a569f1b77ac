package criteria

import (
	"context"
	"errors"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// order judges which of two criteria comes to pass first. A criterion comes to pass on the first prefix of the trajectory
// for which its live verdict is Passed, or, if there is none, with the end of the run, if its grade is 1.
type order struct {
	live
	a, b evaltest.LiveCriterion
	key  any
	both bool // both have to pass
}

func newOrder(constructor, words string, a, b evaltest.LiveCriterion, both bool) order {
	o := order{a: a, b: b, both: both}
	o.name = nameOf(a) + words + nameOf(b)
	o.needs = allNeeds(a, b)
	o.err = livePartsMisuse(constructor, a, b)
	for _, p := range []evaltest.LiveCriterion{a, b} {
		if o.err == nil && !reach(p).Has(evaltest.Pass) {
			o.err = misuse(constructor, "its part %s cannot pass while the agent works (it reaches %v), so it comes neither before nor after anything; "+
				"give it criteria that can, such as CommandExecuted without Max", p, reach(p))
		}
	}
	return o
}

// orderState is what a trajectory has shown so far.
type orderState struct {
	a, b    partState
	verdict evaltest.Verdict
}

type partState int

const (
	partOpen  partState = iota
	partPass            // it has come to pass
	partNever           // it never will
)

func stateIn(c evaltest.LiveCriterion, tr *agents.Trajectory) partState {
	switch i := evaltest.LiveInterval(c, tr); {
	case i.Lo.Cmp(one) == 0:
		return partPass
	case i.Hi.Cmp(one) < 0:
		return partNever
	}
	return partOpen
}

// step looks at the next prefix.
func (o *order) step(s orderState, prefix *agents.Trajectory) orderState {
	if s.verdict != evaltest.Undecided {
		return s
	}
	before := s.a // as it was on the shorter prefix
	if s.a == partOpen {
		s.a = stateIn(o.a, prefix)
	}
	if s.b == partOpen {
		s.b = stateIn(o.b, prefix)
	}
	switch {
	case s.b == partPass && before != partPass:
		s.verdict = evaltest.Failed
	case s.b == partPass:
		s.verdict = evaltest.Passed
	case !o.both && (s.b == partNever || s.a == partPass):
		s.verdict = evaltest.Passed
	case o.both && (s.b == partNever || s.a == partNever):
		s.verdict = evaltest.Failed
	}
	return s
}

func (o *order) state(tr *agents.Trajectory) orderState {
	return agents.FoldPrefixes(tr, o.key, o.step)
}

func (o *order) components() []evaltest.Criterion { return []evaltest.Criterion{o.a, o.b} }

// StopPolarities is Pass|Fail.
func (o *order) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

// LiveVerdict judges the trajectory so far.
func (o *order) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if o.err != nil {
		return evaltest.Undecided
	}
	return o.state(tr).verdict
}

// LiveBounds says between which scores the final one will lie.
func (o *order) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	i := verdict.Of(o.LiveVerdict(tr))
	return i.Lo, i.Hi
}

// Grade scores the finished trial.
func (o *order) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if o.err != nil {
		return evaltest.Score{}, misuseError(o, o.err)
	}
	s := o.state(trial.Trajectory)
	switch s.verdict {
	case evaltest.Passed:
		return one.Because("%s", o.why(s)), nil
	case evaltest.Failed:
		return zero.Because("%s", o.why(s)), nil
	}
	// b has not come to pass yet, and may with the end; a, if it has not either, cannot come before that any more.
	b, err := atEnd(ctx, o.b, s.b, trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	if s.a == partPass { // only Then is still undecided
		if b == endOpen {
			return evaltest.Score{}, evaltest.ErrOpen
		}
		return evaltest.PassIf(b == endPass).Because("%s came to pass; then %s", o.a, b.words(o.b)), nil
	}
	if b == endNot {
		return evaltest.PassIf(!o.both).Because("%s", b.words(o.b)), nil
	}
	a, err := atEnd(ctx, o.a, s.a, trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	// An open call, if it has run, may have brought a to pass before the end.
	late := a == endPass && trial.Trajectory.Tally(anyCallCell, func(agents.ToolCall) bool { return true }).Open() > 0
	switch {
	case b == endPass && (a == endOpen || late), b == endOpen && (!o.both || a != endNot):
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return zero.Because("%s not before the end", a.words(o.a)), nil
}

// why says what decided.
func (o *order) why(s orderState) string {
	switch {
	case s.verdict == evaltest.Failed && s.b == partPass:
		return o.b.String() + " came first"
	case s.b == partNever:
		return o.b.String() + " did not come to pass"
	case s.a == partNever:
		return o.a.String() + " did not come to pass"
	}
	return o.a.String() + " came first"
}

// endOf is how a part that has not come to pass before ends.
type endOf int

const (
	endNot  endOf = iota // it does not pass
	endPass              // it passes with the end
	endOpen              // open calls leave that open
)

func (e endOf) words(c evaltest.Criterion) string {
	if e == endNot {
		return c.String() + " did not come to pass"
	}
	return c.String() + " came to pass with the end"
}

func atEnd(ctx context.Context, c evaltest.LiveCriterion, s partState, trial *evaltest.Trial) (endOf, error) {
	if s == partNever {
		return endNot, nil
	}
	score, err := c.Grade(ctx, trial)
	if err == nil {
		err = score.Err()
	}
	switch {
	case errors.Is(err, evaltest.ErrOpen):
		return endOpen, nil
	case err != nil:
		return endOpen, err
	case score.Cmp(one) == 0:
		return endPass, nil
	}
	return endNot, nil
}

// Precedence asks that one thing does not happen before another. See [Before].
type Precedence struct{ order }

// Before passes unless b comes to pass without a having done so: a must pass on a shorter prefix of the trajectory than
// the first on which b does. Without b it passes, a or no a. A criterion comes to pass when it is certain to score 1: at the
// moment when a call that it asks for has run. Both must be live throughout and reach Pass.
//
// It reaches Pass, when a comes to pass or b no longer can, and Fail, when b comes to pass without a.
//
//	criteria.Before(criteria.FileRead("CONTRIBUTING.md"), criteria.FileEdited("**/*.go"))
func Before(a, b evaltest.LiveCriterion) *Precedence {
	c := &Precedence{newOrder("Before", " before ", a, b, false)}
	c.key = c
	return c
}

// Sequence asks that one thing happens, and then another. See [Then].
type Sequence struct{ order }

// Then passes if a comes to pass, and b does on a longer prefix of the trajectory: it is [Before], with both of them required.
// What counts is when b comes to pass for the first time: an edit, then the tests, then another edit is not Then(tests, edit).
// The score is 1 or 0. Both must be live throughout and reach Pass.
//
// It reaches Pass, when b comes to pass after a, and Fail, when b comes first or one of them no longer can.
//
//	criteria.Then(criteria.FileEdited("**/*.go"), criteria.Succeeded(criteria.CommandExecuted("go test")))
func Then(a, b evaltest.LiveCriterion) *Sequence {
	c := &Sequence{newOrder("Then", ", then ", a, b, true)}
	c.key = c
	return c
}
