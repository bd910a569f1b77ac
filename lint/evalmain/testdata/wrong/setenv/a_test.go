package setenv

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

const variable = "EVALTEST_ON_ERROR"

func FuzzA(f *testing.F) {
	f.Setenv(variable, "skip") // want `errors skip evals of package setenv`
	evaltest.New(f).Run("Do it.")
}
