// Package helpers is criteria and helpers of another package.
package helpers

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// NoForcePush reaches Fail.
type NoForcePush struct{}

func (NoForcePush) String() string { return "no force push" }

// StopPolarities is what it can reach.
func (NoForcePush) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// LiveVerdict looks for a push.
func (NoForcePush) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if tr.Len() > 100 {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// Grade looks for a push.
func (NoForcePush) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(trial.Trajectory.Len() <= 100), nil
}

// Tested is made of built-in ones.
func Tested() evaltest.LiveCriterion { return criteria.CommandExecuted("go test") }

// Must arms for Pass.
func Must(e *evaltest.T, c evaltest.LiveCriterion) { // want Must:`arms parameter 1 for Pass`
	e.StopWhen(evaltest.Pass, c)
}

// Arm arms for what it is told.
func Arm(e *evaltest.T, when evaltest.Polarity, c evaltest.LiveCriterion) { // want Arm:`arms parameter 2 for parameter 1`
	e.Helper()
	if e.Name() != "" {
		e.StopWhen(when, c)
	}
}

// Suite is a helper with a receiver.
type Suite struct{ E *evaltest.T }

// Never arms for Fail, by way of another helper.
func (s *Suite) Never(c evaltest.LiveCriterion) { // want Never:`arms parameter 1 for Fail`
	Arm(s.E, evaltest.Fail, c)
}
