// Package kit is what the evals of a project share.
package kit

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Defaults are the options of all evals.
var Defaults = []evaltest.Option{evaltest.MaxTurns(3), evaltest.OnError("skip")} // want Defaults:`skips on errors`

// Lenient has errors skip an eval.
func Lenient() evaltest.Option { return evaltest.OnError(policy) } // want Lenient:`skips on errors`

const policy = "skip"

// Eval makes an eval.
func Eval(t testing.TB, opts ...evaltest.Option) *evaltest.T { // want Eval:`makes evals`
	return evaltest.New(t, opts...)
}

// Suite makes evals of one test.
type Suite struct{ T *testing.T }

// Eval makes an eval.
func (s *Suite) Eval() *evaltest.T { return evaltest.New(s.T) } // want Eval:`makes evals`

// Run runs tests without evaltest.Main.
func Run(m *testing.M) { // want Run:`runs tests`
	os.Exit(m.Run())
}

// Main runs tests with it.
func Main(m *testing.M) { evaltest.Main(m) } // want Main:`calls evaltest.Main`
