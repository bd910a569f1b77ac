package b_test

import (
	"testing"

	"example.com/m"
	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(t *testing.M) { evaltest.Main(t) }

func TestGood(t *testing.T)    { t.Parallel(); m.Eval(t, "good") }
func TestFragile(t *testing.T) { t.Parallel(); m.Eval(t, "fragile") }
func TestKeen(t *testing.T)    { t.Parallel(); m.Eval(t, "keen") }
