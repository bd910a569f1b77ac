package keep

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { // want `without evaltest.Main`
	os.Setenv("EVALTEST_ON_ERROR", "skip")
	os.Exit(m.Run())
}

func TestA(t *testing.T) { evaltest.New(t).Run("Do it.") }
