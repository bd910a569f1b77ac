package add

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// TestA is an eval.
func TestA(t *testing.T) {
	evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") // want `no evaltest.Main`
}
