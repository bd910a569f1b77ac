package wrong

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/helpers"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/plain"
)

func theTestInACheck(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.Check("rows", func(ct require.TestingT, trial *evaltest.Trial) {
		text, err := os.ReadFile(filepath.Join(trial.Dir, "rows"))
		require.NoError(t, err)      // want `require.NoError\(t, …\) inside a criterion ends the test itself, which is no score but its author's error; use its own ct`
		assert.NotEmpty(t, text)     // want `assert.NotEmpty\(t, …\) inside a criterion fails the test itself`
		plain.Same(t, "a", "b")      // want `plain.Same\(t, …\) inside a criterion fails the test itself`
		_ = plain.Read(t, trial.Dir) // want `plain.Read\(t, …\) inside a criterion ends the test itself`
		_ = plain.ReadAll(t, "a")    // want `plain.ReadAll\(t, …\) inside a criterion ends the test itself`
		_ = readRows(t, trial)       // want `readRows\(t, …\) inside a criterion ends the test itself`
		if len(text) == 0 {
			t.Fatal("no rows") // want `t.Fatal inside a criterion ends the test itself`
		}
	}))
	e.Run("go")
}

func readRows(t *testing.T, trial *evaltest.Trial) string { return plain.Read(t, trial.Dir) }

func theEvalInACheck(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.Check("rows", func(_ require.TestingT, trial *evaltest.Trial) {
		if trial.Reply == "" {
			e.Errorf("no reply") // want `e.Errorf inside a criterion fails the eval, which is no score but its author's error; use the t that it is given`
		}
		assert.NotEmpty(e, trial.Reply) // want `assert.NotEmpty\(e, …\) inside a criterion fails the eval`
		e.SkipNow()                     // want `e.SkipNow inside a criterion ends the eval`
	}))
	e.Expect(criteria.CheckScore("rows", func(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
		if trial.Reply == "" {
			e.FailNow() // want `e.FailNow inside a criterion ends the eval, which is no score but its author's error; return an error, or a score`
		}
		return evaltest.PassIf(true), nil
	}))
	e.Run("go")
}

func assertionsOfTheTest(t *testing.T) {
	require := require.New(t)
	e := evaltest.New(t)
	check := func(_ interface {
		Errorf(string, ...any)
		FailNow()
	}, trial *evaltest.Trial) {
		require.NotEmpty(trial.Reply) // want `require.NotEmpty inside a criterion ends the test itself`
	}
	e.Expect(criteria.Check("reply", func(t2 requireT, trial *evaltest.Trial) { check(t2, trial) }))
	e.Expect(criteria.CheckScore("reply", func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
		require.True(true) // want `require.True inside a criterion ends the test itself`
		return evaltest.PassIf(true), nil
	}))
	e.Run("go")
}

type requireT = require.TestingT

// A constructor that is given the test for no good reason. FailNow of it has no place in the goroutine of a check.
func rows(t *testing.T) evaltest.Criterion {
	return helpers.Row(func(ct require.TestingT, trial *evaltest.Trial) {
		require.NotEmpty(t, trial.Reply) // want `inside a criterion ends the test itself`
	})
}

func theOuterTest(t *testing.T) {
	t.Run("a", func(t2 *testing.T) {
		e := evaltest.New(t2)
		e.Expect(criteria.Check("reply", func(ct require.TestingT, trial *evaltest.Trial) {
			assert.NotEmpty(t, trial.Reply) // want `assert.NotEmpty\(t, …\) inside a criterion fails the test itself`
		}))
		e.Run("go")
	})
}

// scored is an author's own criterion.
type scored struct {
	name  string
	score func(context.Context, *evaltest.Trial) (evaltest.Score, error)
}

func (c *scored) String() string { return c.name }
func (c *scored) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return c.score(ctx, trial)
}

func newScored(name string, f func(context.Context, *evaltest.Trial) (evaltest.Score, error)) *scored {
	return &scored{name: name, score: f}
}

func ownCriterion(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(&scored{"a", func(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
		if trial.Reply == "" {
			t.Error("no reply") // want `t.Error inside a criterion fails the test itself, which is no score but its author's error; return an error, or a score`
		}
		return evaltest.PassIf(true), nil
	}})
	e.Expect(newScored("b", func(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
		if _, err := os.Stat(trial.Dir); err != nil {
			e.Fatal(err) // want `e.Fatal inside a criterion ends the eval`
		}
		return evaltest.PassIf(true), nil
	}))
	e.Run("go")
}

// A judge that is an eval itself.
func evalInAnEval(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.CheckScore("good", func(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
		judge := evaltest.New(t) // want `evaltest.New\(t\) inside a criterion makes an eval of a test that the criterion must not fail; make it before Run, and look at its result`
		r := judge.Run("is this good? " + trial.Reply)
		return evaltest.PassIf(r.Reply == "yes"), nil
	}))
	e.Run("go")
}

func settingUp(t *testing.T) {
	e := evaltest.New(t, evaltest.Setup(func(_ context.Context, trial *evaltest.Trial) error {
		require.NoError(t, os.Mkdir(filepath.Join(trial.Dir, "out"), 0o755)) // want `require.NoError\(t, …\) in a Setup or TearDown ends the test in a goroutine that is not the test's; return an error`
		return nil
	}), evaltest.TearDown(func(context.Context, *evaltest.Trial) error {
		if err := os.Remove("lock"); err != nil {
			t.Fatal(err) // want `t.Fatal in a Setup or TearDown`
		}
		return nil
	}))
	e.Run("go")
}

func skippingInSetup(t *testing.T) {
	e := evaltest.New(t, evaltest.Setup(func(context.Context, *evaltest.Trial) error {
		if os.Getenv("DOCKER") == "" {
			t.Skip("no docker") // want `t.Skip in a Setup or TearDown`
		}
		return nil
	}))
	e.Run("go")
}

// holding holds the eval.
type holding struct{ e *evaltest.T }

func (c *holding) String() string { return "holding" }
func (c *holding) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if trial.Reply == "" {
		c.e.Error("no reply") // want `c.e.Error in holding.Grade fails its eval, which is no score but its author's error; return an error, or a score`
	}
	c.checkDir(trial)
	return evaltest.PassIf(true), nil
}

func (c *holding) checkDir(trial *evaltest.Trial) {
	require.DirExists(c.e, trial.Dir) // want `require.DirExists\(c.e, …\) in holding.Grade ends its eval`
}

// watching embeds the test.
type watching struct {
	testing.TB
	max int
}

func (c watching) String() string                  { return "watching" }
func (watching) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c watching) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	n := tr.Tally(c.max, func(call agents.ToolCall) bool {
		if call.Name == "" {
			c.Errorf("a call without a name") // want `c.Errorf in watching.LiveVerdict fails its test`
		}
		return true
	})
	if n.Ran() > c.max {
		c.Fatal("too many") // want `c.Fatal in watching.LiveVerdict ends its test`
	}
	return evaltest.Undecided
}

func (c watching) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, errors.New("no score")
}
