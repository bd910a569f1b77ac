package wrong

import (
	"slices"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/helpers"
)

func twoTurns(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.TurnsAtMost(3))
	e.Run("write a report")
	e.Run("now sum it up") // want `e.Run runs the eval a second time, which is an error; make another eval with New, or give one Run several prompts, each a user turn`
}

func againWhereItFailed(t *testing.T) {
	e := evaltest.New(t)
	if r := e.Run("go"); r.Outcome != evaltest.OutcomePassed {
		e.Run("try again") // want `e.Run runs the eval a second time`
	}
}

func firstInSomeCases(t *testing.T, warm bool) {
	e := evaltest.New(t)
	if warm {
		e.Run("look around")
	}
	e.Expect(criteria.TurnsAtMost(3))
	e.Run("go") // want `e.Run runs the eval a second time`
}

func aPromptEach(t *testing.T) {
	e := evaltest.New(t)
	for _, prompt := range []string{"a", "b"} {
		e.Run(prompt) // want `e.Run is in a loop, and runs an eval that was made before it: the second time is an error; make the eval in the loop`
	}
}

func retried(t *testing.T) {
	e := evaltest.New(t)
	for range 3 {
		r := e.Run("go") // want `e.Run is in a loop`
		if r.Outcome == evaltest.OutcomePassed {
			break
		}
	}
}

func measured(b *testing.B) {
	e := evaltest.New(b)
	for b.Loop() {
		e.Run("go") // want `e.Run is in a loop`
	}
}

func overASequence(t *testing.T) {
	e := evaltest.New(t)
	for prompt := range slices.Values([]string{"a", "b"}) {
		e.Run(prompt) // want `e.Run is in a loop`
	}
}

func byAHelper(t *testing.T) {
	e := helpers.NewEval(t)
	helpers.Run(e, "a")
	e.Log("and")
	helpers.Run(e, "b") // want `helpers.Run\(e, …\) runs the eval a second time`
}

func byAClosure(t *testing.T) {
	e := evaltest.New(t)
	ask := func(prompt string) *evaltest.Result {
		t.Helper()
		return e.Run(prompt)
	}
	ask("a")
	ask("b") // want `ask runs the eval a second time`
}

func givenOne(e *evaltest.T) {
	e.Run("a")
	e.Run("b") // want `e.Run runs the eval a second time`
}

func anEvalOfAnEval(t *testing.T) {
	e := evaltest.New(t)
	e.Run("go")
	judge := evaltest.New(e) // want `evaltest.New\(e\) makes an eval of an eval, and what it reports becomes the other's; give it the test`
	judge.Run("was that good?")
	helpers.Full(e, criteria.TurnsAtMost(3)) // want `helpers.Full\(e, …\) makes an eval of an eval`
}
