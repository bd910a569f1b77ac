package b_test

import (
	"testing"

	"example.com/m"
	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(t *testing.M) { evaltest.Main(t, evaltest.OnError("skip")) }

func TestEvals(t *testing.T) { m.Evals(t) }
