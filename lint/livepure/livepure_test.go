package livepure_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/internal/linttest"
	"github.com/evaltest-go/evaltest/lint/livepure"
)

func TestCriteria(t *testing.T) {
	t.Parallel()
	linttest.Run(t, livepure.New(livepure.Options{}), "wrong", "helpers", "right", "own")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	const helpers = "github.com/evaltest-go/evaltest/lint/livepure/testdata/helpers."
	linttest.Run(t, livepure.New(livepure.Options{Strict: true, Pure: []string{helpers + "Allowed"}, Impure: []string{helpers + "Words"}}), "strict")
}
