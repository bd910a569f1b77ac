// Package variable has its options where they are not tested.
package variable

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

var options = []evaltest.Option{evaltest.OnError("skip")} // want options:`skips on errors`

func eval(t testing.TB) *evaltest.T { return evaltest.New(t, options...) } // want eval:`makes evals, skips on errors`
