package again

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// The test binary is the program under test, too.
func TestMain(m *testing.M) {
	if os.Getenv("AGAIN_TOOL") != "" {
		os.Exit(m.Run())
	}
	start(m)
}

func start(m *testing.M) { evaltest.Main(m) }

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
