package wrong

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

func TestTheSame(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Fail, helpers.NoCommand("git", "push"))
	e.StopWhen(evaltest.Fail, helpers.NoCommand("git", "push"), evaltest.Weight(2)) // want `helpers\.NoCommand\("git", "push"\) is armed twice`
	e.StopWhen(evaltest.Fail, mine("a"))
	e.StopWhen(evaltest.Decided, mine("a"), evaltest.Prevent()) // want `mine\("a"\) is armed twice`
	e.StopWhen(evaltest.Fail, &limit{n: 3})
	e.StopWhen(evaltest.Fail, &limit{n: 3}) // want `is armed twice`
	e.Expect(&limit{n: 4})
	helpers.Must(e, helpers.Tested())
	helpers.Must(e, helpers.Tested())               // want `helpers\.Tested\(\) is armed twice`
	helpers.All(e, mine("b"), mine("c"), mine("b")) // want `mine\("b"\) is armed twice`
	e.Run("Go.")
}

func mine(words string) evaltest.LiveCriterion {
	return criteria.Never(criteria.CommandExecuted(words))
}

type limit struct {
	helpers.NoForcePush
	n int
}

// An eval that is a field.
func (s *suite) arm() {
	s.e.StopWhen(evaltest.Pass, helpers.Tested())
	s.e.StopWhen(evaltest.Pass, helpers.Tested(), evaltest.Required()) // want `helpers\.Tested\(\) is armed twice`
}
