package fix

import (
	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

type judging struct{ base }

// LiveVerdict judges.
func (c judging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { // want `judging has LiveVerdict and no StopPolarities`
	if tr.Len() > 3 {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// What it says is not certain.
type delegating struct{ base }

func (c delegating) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { // want `delegating has LiveVerdict and no StopPolarities`
	return judging{}.LiveVerdict(tr)
}

type byValue struct{ base }

func (byValue) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (byValue) LiveVerdict(tr agents.Trajectory) evaltest.Verdict { // want `wrong signature`
	if tr.Len() > 3 {
		return judging{}.LiveVerdict(&tr)
	}
	return evaltest.Undecided
}

type singular struct{ base }

// StopPolarity is Fail.
func (singular) StopPolarity() evaltest.Polarity { return evaltest.Fail } // want `StopPolarity of singular looks like StopPolarities`

func (singular) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// One that is used has no certain fix.
type used struct{ base }

func (used) StopPolarity() evaltest.Polarity { return evaltest.Fail } // want `StopPolarity of used looks like StopPolarities`

func (used) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

var _ = used{}.StopPolarity()

type pointed struct{ base }

func (*pointed) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (*pointed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

func newPointed() *pointed { return &pointed{} }

var _ = criteria.Never(pointed{}) // want `pointed is not live`
