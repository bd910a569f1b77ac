package value

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

var run = evaltest.Main

func TestMain(m *testing.M) { run(m, evaltest.OnError("skip")) }

func TestA(t *testing.T) { evaltest.New(t).Run("Do it.") }
