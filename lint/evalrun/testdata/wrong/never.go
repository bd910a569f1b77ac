// Package wrong has evals that are plausible, and mistaken.
package wrong

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/helpers"
)

func neverRun(t *testing.T) {
	e := evaltest.New(t, evaltest.MaxTurns(3)) // want `evalrun: the eval that evaltest.New makes is never run, so its test fails without having asked the agent anything; call its Run`
	e.Workspace(os.DirFS("testdata"))
	e.Expect(criteria.FileExists("out.txt"))
}

func neverRunInASubtest(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			e := evaltest.New(t) // want `is never run`
			e.Expect(criteria.FileExists(name))
			t.Log("made")
		})
	}
}

func discarded(t *testing.T) {
	evaltest.New(t) // want `is never run`
}

func chained(t *testing.T) {
	evaltest.New(t).Expect(criteria.TurnsAtMost(3)) // want `is never run`
}

func madeByAHelper(t *testing.T) {
	e := helpers.NewEval(t) // want `the eval that helpers.NewEval makes is never run`
	e.Expect(criteria.FileExists("out.txt"))
}

func madeByAHelperWithMore(t *testing.T) {
	dir, e := helpers.NewWithDir(t) // want `the eval that helpers.NewWithDir makes is never run`
	e.Logf("in %s", dir)
}

func givenToHelpersThatDoNotRunIt(t *testing.T) {
	e := evaltest.New(t) // want `is never run`
	helpers.Configure(e)
	expectTurns(e, 3)
	assert.NotEmpty(e, e.Name())
}

func expectTurns(e *evaltest.T, n int) { e.Expect(criteria.TurnsAtMost(n)) }

// It is captured, and only looked at.
func captured(t *testing.T) {
	e := evaltest.New(t) // want `is never run`
	t.Cleanup(func() { e.Log("done") })
	func() { e.Expect(criteria.TurnsAtMost(3)) }()
}

func onePathSkips(t *testing.T) {
	e := evaltest.New(t) // want `is never run`
	if os.Getenv("SHORT") != "" {
		t.Skip("short")
	}
	e.Expect(criteria.TurnsAtMost(3))
}

func twoEvals(t *testing.T) {
	first := evaltest.New(t)
	second := evaltest.New(t) // want `is never run`
	first.Expect(criteria.TurnsAtMost(3))
	second.Expect(criteria.TurnsAtMost(3))
	first.Run("go")
}

func benchmark(b *testing.B) {
	for b.Loop() {
		e := evaltest.New(b) // want `is never run`
		e.Expect(criteria.TurnsAtMost(3))
	}
}

// Is run under another name.
func shadowed(t *testing.T) {
	e := evaltest.New(t) // want `is never run`
	e.Expect(criteria.TurnsAtMost(3))
	{
		e := helpers.NewEval(t)
		e.Run("go")
	}
}
