package bare

import (
	"os"
	"testing"

	eval "github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(tests *testing.M) { // want `without evaltest.Main`
	os.Setenv("EVALTEST_ON_ERROR", "skip")
	tests.Run()
}

func TestA(t *testing.T) { eval.New(t).Run("Do it.") }
