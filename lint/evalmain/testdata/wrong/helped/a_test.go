package helped

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/evalmain/testdata/kit"
)

func TestMain(m *testing.M) { // want `TestMain runs evals that errors skip, without evaltest.Main`
	kit.Run(m)
}

func TestA(t *testing.T) {
	t.Setenv("EVALTEST_ON_ERROR", "skip")
	evaltest.New(t).Run("Do it.")
}
