package livepair_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/internal/linttest"
	"github.com/evaltest-go/evaltest/lint/livepair"
)

func TestCriteria(t *testing.T) {
	t.Parallel()
	linttest.Run(t, livepair.New(livepair.Options{}), "wrong", "right")
}

func TestCodeThatDoesNotTypeCheck(t *testing.T) {
	t.Parallel()
	linttest.Run(t, livepair.New(livepair.Options{}), "broken")
}

func TestFixes(t *testing.T) {
	t.Parallel()
	linttest.RunFixes(t, livepair.New(livepair.Options{}), "fix")
}
