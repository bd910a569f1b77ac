package runs

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { // want `evalmain: TestMain runs evals that errors skip, without evaltest.Main: an outage looks like success; call evaltest.Main\(m\) instead of m.Run\(\)`
	dir, err := os.MkdirTemp("", "x")
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestA(t *testing.T) {
	evaltest.New(t, evaltest.OnError("skip")).Run("Do it.")
}
