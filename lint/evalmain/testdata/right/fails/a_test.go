package fails

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) }

func TestA(t *testing.T) {
	t.Setenv("EVALTEST_ON_ERROR", "fail")
	t.Setenv("OTHER_ON_ERROR", "skip")
	evaltest.New(t, evaltest.OnError("fail")).Run("Do it.")
}
