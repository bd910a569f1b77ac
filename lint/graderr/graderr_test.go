package graderr_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/graderr"
	"github.com/evaltest-go/evaltest/lint/internal/linttest"
)

func TestCriteria(t *testing.T) {
	t.Parallel()
	linttest.Run(t, graderr.New(graderr.Options{}), "wrong", "right", "lib")
}

func TestFixes(t *testing.T) {
	t.Parallel()
	linttest.RunFixes(t, graderr.New(graderr.Options{}), "fix")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	const lib = "github.com/evaltest-go/evaltest/lint/graderr/testdata/lib."
	linttest.Run(t, graderr.New(graderr.Options{
		Faults:   []string{"(" + lib + "Judge).Ask", lib + "Untold"},
		Verdicts: []string{"os", lib + "Ask"},
	}), "options")
}
