// Package lib has criteria, and helpers, that other packages use.
package lib

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// Base is embedded by criteria.
type Base struct{ Name string }

func (b Base) String() string { return b.Name }

// Grade leaves everything open.
func (Base) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, evaltest.ErrOpen
}

// FailOnly is what must-nots declare.
func FailOnly() evaltest.Polarity { return evaltest.Fail } // want FailOnly:"returns Fail"

// Both is what most declare.
const Both = evaltest.Pass | evaltest.Fail

// FailIf is Failed or nothing.
func FailIf(bad bool) evaltest.Verdict { // want FailIf:"returns neither or Fail"
	if bad {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// Verdict is any of them.
func Verdict(i evaltest.Interval) evaltest.Verdict { // want Verdict:"returns neither or Pass or Fail"
	switch {
	case i.Lo.Cmp(evaltest.PassIf(true)) == 0:
		return evaltest.Passed
	case i.Hi.Cmp(evaltest.PassIf(false)) == 0:
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// MustNot can only fail.
type MustNot struct{ Base } // want MustNot:"declares Fail, reaches Undecided or Failed"

// StopPolarities is Fail.
func (MustNot) StopPolarities() evaltest.Polarity { return FailOnly() } // want StopPolarities:"returns Fail"

// LiveVerdict judges the trajectory so far.
func (MustNot) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { // want LiveVerdict:"returns neither or Fail"
	return FailIf(tr.MainCalls().Ran() > 3)
}

// Calls is how many there are.
func Calls(tr *agents.Trajectory) int { return tr.MainCalls().Ran() }

// Parse is what a word stands for.
func Parse(word string) (evaltest.Polarity, error) { // want Parse:"returns Pass or Fail, unknown"
	if word == "must" {
		return evaltest.Pass, nil
	}
	return evaltest.Fail, nil
}
