package stopwhen_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/internal/linttest"
	"github.com/evaltest-go/evaltest/lint/stopwhen"
)

func TestEvals(t *testing.T) {
	t.Parallel()
	linttest.Run(t, stopwhen.New(stopwhen.Options{}), "wrong", "right", "helpers")
}
