// Package wrong has criteria that were meant to be live.
package wrong

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

type base struct{ name string }

func (b base) String() string { return b.name }

func (base) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, evaltest.ErrOpen
}

// The trajectory comes as a pointer.
type byValue struct{ base }

func (byValue) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (byValue) LiveVerdict(tr agents.Trajectory) evaltest.Verdict { // want `LiveVerdict of byValue has the wrong signature, so byValue is not live and cannot be armed: it is LiveVerdict\(tr agents.Trajectory\) evaltest.Verdict; make it LiveVerdict\(\*agents.Trajectory\) evaltest.Verdict`
	return evaltest.Undecided
}

type yesNo struct{ base }

func (yesNo) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (yesNo) LiveVerdict(tr *agents.Trajectory) bool { return tr.Len() > 3 } // want `LiveVerdict of yesNo has the wrong signature.*it is LiveVerdict\(tr \*agents.Trajectory\) bool`

type withError struct{ base }

func (withError) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (withError) LiveVerdict(tr *agents.Trajectory) (evaltest.Verdict, error) { // want `wrong signature`
	return evaltest.Undecided, nil
}

type withContext struct{ base }

func (withContext) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (withContext) LiveVerdict(ctx context.Context, tr *agents.Trajectory) evaltest.Verdict { // want `wrong signature`
	return evaltest.Undecided
}

type ofTrial struct{ base }

func (ofTrial) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (ofTrial) LiveVerdict(trial *evaltest.Trial) evaltest.Verdict { return evaltest.Undecided } // want `wrong signature`

type scored struct{ base }

func (scored) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (scored) LiveVerdict(tr *agents.Trajectory) evaltest.Score { return evaltest.PassIf(true) } // want `wrong signature`

type listed struct{ base }

func (listed) StopPolarities() []evaltest.Polarity { return nil } // want `StopPolarities of listed has the wrong signature.*make it StopPolarities\(\) evaltest.Polarity`

func (listed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

type verdicts struct{ base }

func (verdicts) StopPolarities() evaltest.Verdict { return evaltest.Failed } // want `StopPolarities of verdicts has the wrong signature`

func (verdicts) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// Names.
type singular struct{ base }

func (singular) StopPolarity() evaltest.Polarity { return evaltest.Fail } // want `StopPolarity of singular looks like StopPolarities, which is what makes a criterion live; rename it`

func (singular) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

type plural struct{ base }

func (plural) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (plural) LiveVerdicts(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided } // want `LiveVerdicts of plural looks like LiveVerdict`

type typo struct{ base }

func (typo) StopPolarites() evaltest.Polarity { return evaltest.Fail } // want `StopPolarites of typo looks like StopPolarities`

func (typo) LiveVerdcit(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided } // want `LiveVerdcit of typo looks like LiveVerdict`

type lower struct{ base }

func (lower) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (lower) liveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided } // want `liveVerdict of lower looks like LiveVerdict`

type shorter struct{ base }

func (shorter) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (shorter) Verdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided } // want `Verdict of shorter looks like LiveVerdict`

type oneBound struct{ base }

func (oneBound) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (oneBound) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

func (oneBound) LiveBound(tr *agents.Trajectory) (lo, hi evaltest.Score) { // want `LiveBound of oneBound looks like LiveBounds`
	return evaltest.PassIf(false), evaltest.PassIf(true)
}

type interval struct{ base }

func (interval) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (interval) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

func (interval) LiveBounds(tr *agents.Trajectory) evaltest.Interval { // want `LiveBounds of interval has the wrong signature.*make it LiveBounds\(\*agents.Trajectory\) \(lo, hi evaltest.Score\)`
	return evaltest.Interval{}
}

// Halves.
type declaring struct{ base }

func (declaring) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `declaring has StopPolarities and no LiveVerdict, so it is not live and cannot be armed; add LiveVerdict\(\*agents.Trajectory\) evaltest.Verdict`

type judging struct{ base }

func (judging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { // want `judging has LiveVerdict and no StopPolarities, so it is not live and cannot be armed; add StopPolarities\(\) evaltest.Polarity`
	return evaltest.Undecided
}

type bounding struct{ base }

func (bounding) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) { // want `bounding has LiveBounds and neither LiveVerdict nor StopPolarities, so its bounds are never asked for; add both`
	return evaltest.PassIf(false), evaltest.PassIf(true)
}

type generic[T any] struct {
	base
	item T
}

func (*generic[T]) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `generic has StopPolarities and no LiveVerdict`

// wrapping hides that what it wraps is live: the interface has no more than a criterion's methods.
type wrapping struct{ evaltest.Criterion }

func (wrapping) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `wrapping has StopPolarities and no LiveVerdict`

// Receivers.
type mixed struct{ base }

func (mixed) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (*mixed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided } // want `LiveVerdict is a method of \*mixed, while mixed itself is a criterion, so a mixed is not live and cannot be armed; give all its methods one kind of receiver`

func newMixed() mixed { return mixed{} }

// Exported, without a constructor.
type Mixed struct{ base }

// StopPolarities is Fail.
func (*Mixed) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `StopPolarities is a method of \*Mixed`

// LiveVerdict is undecided.
func (Mixed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// With a constructor that makes a pointer, and a use that does not.
type pointed struct{ base }

func (*pointed) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (*pointed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

func newPointed() *pointed { return &pointed{} }

func uses() []evaltest.Criterion {
	p := pointed{}
	var c evaltest.Criterion = p // want `pointed is not live, \*pointed is: nothing will be stopped by it; use a pointer`
	c = pointed{}                // want `pointed is not live`
	return []evaltest.Criterion{
		pointed{},                           // want `pointed is not live`
		criteria.Never(pointed{}),           // want `pointed is not live`
		criteria.AllOf(c, *newPointed()),    // want `pointed is not live`
		evaltest.Criterion(pointed{base{}}), // want `pointed is not live`
		newPointed(),
	}
}

func returned() evaltest.Criterion { return pointed{} } // want `pointed is not live`

var _ = []any{newMixed, uses, returned}
