// Package helpers is criteria and helpers of another package.
package helpers

import (
	"context"
	"strings"
	"testing"

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
func Arm(e *evaltest.T, when evaltest.Polarity, c evaltest.LiveCriterion) { // want Arm:`arms parameter 2 for what it is told`
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

// Forbid arms the opposite.
func Forbid(e *evaltest.T, c evaltest.Criterion) { // want Forbid:`arms what it makes for Fail`
	e.StopWhen(evaltest.Fail, criteria.Never(c), evaltest.Prevent())
}

// All arms each for Fail.
func All(e *evaltest.T, cs ...evaltest.LiveCriterion) { // want All:`arms each of parameter 1 for Fail`
	for _, c := range cs {
		e.StopWhen(evaltest.Fail, c)
	}
}

// Either arms for one or the other.
func Either(e *evaltest.T, kind string, c evaltest.LiveCriterion) {
	switch kind {
	case "must":
		e.StopWhen(evaltest.Pass, c)
	case "must not":
		e.StopWhen(evaltest.Fail, c)
	}
}

// Careful arms what can fail.
func Careful(e *evaltest.T, cs ...evaltest.LiveCriterion) {
	for _, c := range cs {
		if c.StopPolarities().Has(evaltest.Fail) {
			e.StopWhen(evaltest.Fail, c)
		}
	}
}

// Finish runs an eval.
func Finish(e *evaltest.T) { // want Finish:`runs parameter 0`
	e.Helper()
	e.Run("Go.")
}

// Perhaps runs an eval, or not.
func Perhaps(e *evaltest.T, really bool) {
	if really {
		e.Run("Go.")
	}
}

// Output asks for a file.
func Output(e *evaltest.T, path string) { // want Output:`calls Expect of parameter 0`
	e.Expect(criteria.FileExists(path))
}

// Check does everything.
func Check(t *testing.T, e *evaltest.T) { // want Check:`runs parameter 1, calls Expect of parameter 1`
	Output(e, "out.csv")
	Finish(e)
	t.Log("done")
}

// NoCommand is made of what it is given.
func NoCommand(words ...string) *criteria.Negation { // want NoCommand:`makes the same of the same`
	return criteria.Never(criteria.CommandExecuted(strings.Join(words, " ")))
}

var made int

// Next is another one each time.
func Next() evaltest.LiveCriterion {
	made++
	return criteria.CallsAtMost(made)
}
