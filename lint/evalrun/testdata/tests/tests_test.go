package tests

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// replied is given the test of its eval.
type replied struct{ t *testing.T }

func (c *replied) String() string { return "replied" }
func (c *replied) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	require.NotEmpty(c.t, trial.Reply) // want `require.NotEmpty\(c.t, …\) in replied.Grade ends its test, which is no score but its author's error; return an error, or a score`
	if trial.Limit != "" {
		c.t.Error(trial.Limit) // want `c.t.Error in replied.Grade fails its test`
	}
	return evaltest.PassIf(true), nil
}

func TestEval(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(&replied{t})
	e.Run("go")
}

// untouched stands in for a criterion that is not graded.
type untouched struct{ t testing.TB }

func (c untouched) String() string { return "untouched" }
func (c untouched) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	c.t.Fatal("it was graded")
	return evaltest.Score{}, nil
}

func TestFirstDecides(t *testing.T) {
	if _, err := criteria.AnyOf(criteria.TurnsAtMost(9), untouched{t}).Grade(t.Context(), &evaltest.Trial{}); err != nil {
		t.Fatal(err)
	}
}
