package parts_test

import (
	"os"
	"testing"

	_ "github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { // want `TestMain runs evals that errors skip, without evaltest.Main`
	os.Setenv("EVALTEST_ON_ERROR", "skip")
	os.Exit(m.Run())
}
