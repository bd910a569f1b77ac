package initenv

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func init() {
	os.Setenv("EVALTEST_ON_ERROR", "skip") // want `errors skip evals of package initenv`
}

func TestA(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) { evaltest.New(t).Run("Do it.") })
	}
}
