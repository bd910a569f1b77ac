package right

import (
	"context"
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

func TestReachable(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go test"))
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
	e.StopWhen(evaltest.Pass, criteria.Never(criteria.Never(criteria.CommandExecuted("ls")))) // twice
	e.StopWhen(evaltest.Pass|evaltest.Fail, criteria.FirstSkill("pdf"))
	e.StopWhen(evaltest.Decided, criteria.CommandExecuted("curl").Max(0))
	e.StopWhen(evaltest.Fail, criteria.AllOf(criteria.FileExists("a"), criteria.Never(criteria.CommandExecuted("mv")))) // one part can fail
	e.StopWhen(evaltest.Pass, criteria.AnyOf(criteria.FileExists("a"), criteria.CommandExecuted("touch a")))            // one part can pass
	e.StopWhen(evaltest.Pass, criteria.AtLeast(2, criteria.CommandExecuted("a"), criteria.CommandExecuted("b"), criteria.FileExists("c")))
	e.StopWhen(evaltest.Decided, criteria.WithinCalls(3, criteria.CommandExecuted("go build")))
	e.StopWhen(evaltest.Fail, helpers.NoForcePush{}, evaltest.Prevent())
	e.StopWhen(evaltest.Decided, criteria.Never(criteria.CommandExecuted("dd")), evaltest.Prevent()) // reaches Fail alone
	helpers.Must(e, helpers.Tested())
	helpers.Arm(e, evaltest.Fail, criteria.CallsAtMost(9))
	e.Run("Go.")
}

// A table says for what; rows that do not fit are not written.
func TestTable(t *testing.T) {
	for _, tc := range []struct {
		name string
		when evaltest.Polarity
		c    evaltest.LiveCriterion
	}{
		{"must", evaltest.Pass, criteria.CommandExecuted("go test")},
		{"must not", evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm"))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := evaltest.New(t)
			e.StopWhen(tc.when, tc.c)
			e.Run("Go.")
		})
	}
}

// What it reaches is what it was told.
type told struct {
	helpers.NoForcePush
	reach evaltest.Polarity
}

func (c told) StopPolarities() evaltest.Polarity { return c.reach }
func (c told) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch {
	case tr.Len() < 10:
		return evaltest.Undecided
	case c.reach == evaltest.Pass:
		return evaltest.Passed
	}
	return evaltest.Failed
}

func TestFields(t *testing.T) {
	reach := evaltest.Fail
	if os.Getenv("MUST") != "" {
		reach = evaltest.Pass
	}
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, told{reach: evaltest.Pass})
	e.StopWhen(reach, told{reach: reach})
	e.Run("Go.")
	e = evaltest.New(t)
	e.StopWhen(evaltest.Pass, told{reach: reach}) // one of two
	e.Run("Go.")
}

// One or the other is armed.
func TestBranches(t *testing.T) {
	e := evaltest.New(t)
	c := criteria.FirstSkill("pdf")
	if testing.Short() {
		e.StopWhen(evaltest.Decided, c)
	} else {
		e.StopWhen(evaltest.Fail, c)
	}
	e.Run("Go.")
}

// Alike, and not the same.
func TestAlike(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go test"))
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go vet"))
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go vet").Min(2))
	e.StopWhen(evaltest.Fail, counter()) // another one each time
	e.StopWhen(evaltest.Fail, counter())
	e.Expect(criteria.CommandExecuted("a"))
	e.Expect(criteria.CommandExecuted("a")) // nothing is armed
	e.Run("Go.")
}

func counter() evaltest.LiveCriterion {
	counted++
	return criteria.CallsAtMost(counted)
}

var counted int

// The same criterion on two evals; the second is made after the first was run.
func TestTwoEvals(t *testing.T) {
	c := criteria.FirstSkill("pdf")
	first := evaltest.New(t)
	first.StopWhen(evaltest.Decided, c)
	first.Run("Go.")
	second := evaltest.New(t)
	second.StopWhen(evaltest.Decided, c)
	second.Workspace(os.DirFS("."))
	second.Run("Go on.")
}

// An eval for each round.
func TestLoop(t *testing.T) {
	for range 3 {
		e := evaltest.New(t)
		e.StopWhen(evaltest.Decided, criteria.FirstSkill("pdf"))
		e.Run("Go.")
	}
}

// It may not have run.
func TestMaybe(t *testing.T) {
	e := evaltest.New(t)
	if testing.Short() {
		e.Expect(criteria.FileExists("a"))
		e.Run("Go.")
		return
	}
	e.Expect(criteria.FileExists("b"))
	e.Run("Go.")
	e.Log("done")
}

// A T of one's own.
type T struct{}

func (T) StopWhen(evaltest.Polarity, evaltest.LiveCriterion) {}
func (T) Run()                                               {}

func TestOwn(*testing.T) {
	var e T
	e.Run()
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("go test"))
}

// A criterion that is made on the way, of what is not known.
func TestUnknown(t *testing.T) {
	e := evaltest.New(t)
	made := map[string]evaltest.LiveCriterion{"a": criteria.CommandExecuted("a")}
	e.StopWhen(evaltest.Fail, made["a"])
	arm := e.StopWhen
	arm(evaltest.Pass, criteria.CommandExecuted("b"))
	e.Run("Go.")
}

var _ context.Context
