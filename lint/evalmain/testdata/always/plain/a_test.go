package plain

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) {
	evaltest.New(t).Run("Do it.") // want `package plain has evals, and no evaltest.Main; add func TestMain`
}
