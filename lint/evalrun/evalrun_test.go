package evalrun_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/evalrun"
	"github.com/evaltest-go/evaltest/lint/internal/linttest"
)

func TestEvals(t *testing.T) {
	t.Parallel()
	linttest.Run(t, evalrun.New(evalrun.Options{}), "wrong", "right", "helpers", "plain", "tests")
}

func TestFixes(t *testing.T) {
	t.Parallel()
	linttest.RunFixes(t, evalrun.New(evalrun.Options{}), "fix")
}
