package inner_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") }
