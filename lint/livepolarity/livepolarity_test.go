package livepolarity_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/internal/linttest"
	"github.com/evaltest-go/evaltest/lint/livepolarity"
)

func TestCriteria(t *testing.T) {
	t.Parallel()
	linttest.Run(t, livepolarity.New(livepolarity.Options{}), "wrong", "right")
}
