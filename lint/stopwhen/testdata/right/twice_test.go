package right

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

// Alike, and each for a reason.
func TestForAReason(t *testing.T) {
	e := evaltest.New(t, evaltest.MinScore(0.5))
	skill := criteria.FirstSkill("pdf")
	e.StopWhen(evaltest.Fail, skill, evaltest.Prevent()) // Prevent does not go with Pass
	e.StopWhen(evaltest.Pass, skill)
	partial := criteria.CommandExecuted("go test").Min(4).Partial()
	e.StopWhen(evaltest.Pass, partial, evaltest.PassAt(0.5), evaltest.Required())
	e.Expect(partial)
	e.StopWhen(evaltest.Fail, vague(1)) // what it makes changes
	e.StopWhen(evaltest.Fail, vague(1))
	e.StopWhen(evaltest.Fail, helpers.Next())
	e.StopWhen(evaltest.Fail, helpers.Next())
	few := criteria.CallsAtMost(10)
	e.StopWhen(evaltest.Fail, few)
	e.Expect(few, evaltest.Advisory()) // it is shown, and counts for nothing
	e.StopWhen(evaltest.Fail, changing)
	changing = criteria.CallsAtMost(11)
	e.StopWhen(evaltest.Fail, changing)
	opts := []evaltest.ArmOption{}
	if testing.Short() {
		opts = append(opts, evaltest.PassAt(0.5))
	}
	built := criteria.CommandExecuted("go build").Min(3).Partial()
	e.StopWhen(evaltest.Pass, built, opts...)
	e.StopWhen(evaltest.Pass, built)
	e.Run("Go.")
}

var changing = criteria.CallsAtMost(10)

func vague(n int) evaltest.LiveCriterion {
	if counted > n {
		return criteria.CallsAtMost(n)
	}
	return criteria.TurnsAtMost(n)
}

// The variable holds another one.
func TestVariable(t *testing.T) {
	e := evaltest.New(t)
	c := criteria.CommandExecuted("a")
	e.StopWhen(evaltest.Pass, c)
	c = criteria.CommandExecuted("b")
	e.StopWhen(evaltest.Pass, c)
	for _, words := range []string{"c", "d"} {
		e.StopWhen(evaltest.Pass, criteria.CommandExecuted(words))
	}
	x := told{reach: evaltest.Fail}
	y := told{reach: evaltest.Fail}
	y.reach = evaltest.Pass
	e.StopWhen(evaltest.Fail, x)
	e.StopWhen(evaltest.Pass, y)
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.Never(criteria.CallsAtMost(1))))
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("e")))
	e.Run("Go.")
	e = evaltest.New(t)
	e.StopWhen(evaltest.Pass, c)
	e.Run("Go.")
}
