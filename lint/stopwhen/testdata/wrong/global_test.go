package wrong

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

var (
	noPush = criteria.Never(criteria.CommandExecuted("git push"))
	rows   = []struct {
		when evaltest.Polarity
		c    evaltest.LiveCriterion
	}{
		{evaltest.Fail, noPush},
		{evaltest.Fail, criteria.CommandExecuted("g")}, // want `criteria\.CommandExecuted\("g"\) is armed for Fail`
	}
	byName = map[string]evaltest.LiveCriterion{
		"a": criteria.CommandExecuted("h"), // want `criteria\.CommandExecuted\("h"\) is armed for Fail`
		"b": noPush,
	}
)

// Criteria and tables that are variables of the package.
func TestGlobals(t *testing.T) {
	for i := range rows {
		t.Run("subtest", func(t *testing.T) {
			e := evaltest.New(t)
			e.StopWhen(rows[i].when, rows[i].c)
			always(e)
			e.Run("Go.")
		})
	}
	for range byName {
		for _, c := range byName {
			e := evaltest.New(t)
			e.StopWhen(evaltest.Fail, c)
			e.Run("Go.")
		}
	}
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, noPush)                                                 // want `noPush is armed for Pass, and can reach Fail alone`
	e.StopWhen(evaltest.Pass, criteria.Never(criteria.CommandExecuted("")))           // want `CommandExecuted is given nothing to look for`
	e.StopWhen(evaltest.Fail, counting{helpers.NoForcePush{}, 3})                     // one
	e.StopWhen(evaltest.Fail, counting{helpers.NoForcePush{}, 3})                     // want `is armed twice`
	e.StopWhen(evaltest.Pass, criteria.ToolCalled("x").Min(2).Input("$.a", 1).Max(1)) // want `Min\(2\) lies above Max\(1\)`
	e.Run("Go.")
}

type counting struct {
	helpers.NoForcePush
	n int
}

// It is reported here, and not where it is called.
func always(e *evaltest.T) {
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("i")) // want `criteria\.CommandExecuted\("i"\) is armed for Fail`
}
