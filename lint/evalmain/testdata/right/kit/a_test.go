package kit_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/evalmain/testdata/kit"
)

func TestMain(m *testing.M) { kit.Main(m) }

func TestA(t *testing.T) { kit.Eval(t, kit.Lenient()).Run("Do it.") }
