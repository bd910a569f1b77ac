package unsure

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { // want `without evaltest.Main`
	defer os.Remove("x")
	m.Run()
}

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
