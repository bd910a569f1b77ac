package method

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { os.Exit(run(m.Run)) } // want `TestMain runs evals that errors skip, without evaltest.Main`

func run(tests func() int) int { return tests() }

func TestA(t *testing.T) {
	o := evaltest.OnError("skip")
	evaltest.New(t, o).Run("Do it.")
}
