package runs

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) } // want `TestMain runs evals without evaltest.Main; call evaltest.Main\(m\) instead of m.Run\(\)`

func TestA(t *testing.T) { evaltest.New(t).Run("Do it.") }
