package drop

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) } // want `without evaltest.Main`

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
