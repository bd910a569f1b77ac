package ignored

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) }

func TestA(t *testing.T) { evaltest.New(t).Run("Do it.") }
