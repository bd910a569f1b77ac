// Package fix has evals that use the wrong t where it is certain which is the right one.
package fix

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/helpers"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/plain"
)

func subtests(t *testing.T) {
	t.Run("a", func(t2 *testing.T) {
		e := evaltest.New(t, evaltest.MaxTurns(3)) // want `in a subtest`
		e.Run("go")
		require.NotEmpty(t, plain.Read(t, "a")) // want `require.NotEmpty` `plain.Read`
		if e.Failed() {
			t.Fatal("over") // want `t.Fatal`
		}
	})
	t.Run("b", func(t3 *testing.T) {
		helpers.NewEval(t).Run("go") // want `in a subtest`
	})
}

func checks(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.Check("reply", func(ct require.TestingT, trial *evaltest.Trial) {
		require.NotEmpty(t, trial.Reply) // want `require.NotEmpty`
		assert.NotEmpty(e, trial.Dir)    // want `assert.NotEmpty`
		if trial.Reply == "no" {
			t.Errorf("the reply is %s", trial.Reply) // want `t.Errorf`
			e.FailNow()                              // want `e.FailNow`
		}
	}))
	e.Run("go")
}

// Here something is in the way: the name is another's, there is none, or a require.TestingT is not enough.
func others(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.Check("reply", func(ct require.TestingT, trial *evaltest.Trial) {
		ct.Errorf("%s", plain.Read(t, trial.Dir)) // want `plain.Read`
		for _, ct := range []string{"a"} {
			require.NotEmpty(t, ct) // want `require.NotEmpty`
		}
		if trial.Reply == "" {
			t.Fatalf("no reply") // want `t.Fatalf`
		}
	}))
	e.Expect(criteria.Check("reply", func(_ require.TestingT, trial *evaltest.Trial) {
		require.NotEmpty(t, trial.Reply) // want `require.NotEmpty`
	}))
	e.Run("go")
	t.Run("a", func(*testing.T) {
		evaltest.New(t).Run("go") // want `in a subtest`
	})
}
