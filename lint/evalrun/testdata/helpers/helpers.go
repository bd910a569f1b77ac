// Package helpers is what an author's evals share.
package helpers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// NewEval makes an eval of the team's agent.
func NewEval(t testing.TB, opts ...evaltest.Option) *evaltest.T { // want NewEval:"makes an eval of 0, returns an eval"
	t.Helper()
	e := evaltest.New(t, append(opts, evaltest.MaxTurns(9))...)
	e.Expect(criteria.TurnsAtMost(5))
	return e
}

// NewWithDir makes an eval, and a folder.
func NewWithDir(t testing.TB) (string, *evaltest.T) { // want NewWithDir:"makes an eval of 0, returns an eval"
	dir := t.TempDir()
	e := evaltest.New(t)
	e.WorkspaceDir(dir)
	return dir, e
}

// Started makes an eval, and runs it.
func Started(t testing.TB) *evaltest.T { // want Started:"makes an eval of 0"
	e := NewEval(t)
	e.Run("go")
	return e
}

// Run runs an eval.
func Run(e *evaltest.T, prompt string) *evaltest.Result { // want Run:"runs 0"
	e.Helper()
	if prompt == "" {
		e.Fatal("no prompt")
	}
	return e.Run(prompt)
}

// RunIf runs an eval, perhaps.
func RunIf(ok bool, e *evaltest.T) { // want RunIf:"may run 1"
	if ok {
		Run(e, "go")
	}
}

// Configure does not run an eval.
func Configure(e *evaltest.T) { // want Configure:""
	e.Expect(criteria.TurnsAtMost(5))
}

// Kept is evals that are run later.
var Kept []*evaltest.T

// Keep keeps an eval.
func Keep(e *evaltest.T) { Kept = append(Kept, e) } // want Keep:"may run 0"

// Full makes an eval and runs it.
func Full(t testing.TB, c evaltest.Criterion) { // want Full:"makes an eval of 0"
	e := evaltest.New(t)
	e.Expect(c)
	e.Run("go")
}

// Row is a criterion.
func Row(check func(t require.TestingT, trial *evaltest.Trial)) evaltest.Criterion { // want Row:"grades with 0"
	return criteria.Check("row", check)
}
