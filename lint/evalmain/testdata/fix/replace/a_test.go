package replace

import (
	"testing"

	eval "github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) { eval.New(t, eval.OnError("skip")).Run("Do it.") }
