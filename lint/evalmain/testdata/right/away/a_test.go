package away

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evaltest-go/evaltest/evaltest"
)

// What runs the tests is not known, and could not call evaltest.Main if it were told to.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){}) }

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
