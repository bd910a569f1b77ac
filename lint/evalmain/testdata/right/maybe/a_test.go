package maybe

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) {
	if os.Getenv("MAYBE_PLAIN") != "" {
		os.Exit(m.Run())
	}
	testscript.Main(m, map[string]func(){})
}

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
