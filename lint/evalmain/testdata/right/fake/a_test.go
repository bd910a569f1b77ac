package fake

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/evalmain/testdata/kit"
)

type fakeTB struct{ testing.TB }

// What a package of helpers does with evals is tried on a fake.
func TestA(t *testing.T) {
	tb := &fakeTB{t}
	evaltest.New(tb, evaltest.OnError("skip")).Run("Do it.")
	kit.Eval(tb, evaltest.OnError("skip"))
	eval(tb)
	try()
}

func try() { evaltest.New(&fakeTB{}) }

func eval(tb testing.TB) *evaltest.T { return evaltest.New(tb) }
