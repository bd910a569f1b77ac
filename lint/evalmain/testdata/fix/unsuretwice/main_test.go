package unsuretwice

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { // want `without evaltest.Main`
	if os.Getenv("PLAIN") != "" {
		os.Exit(m.Run())
	}
	os.Exit(m.Run())
}

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
