package dynamic

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) {
	evaltest.New(t, evaltest.OnError(os.Getenv("POLICY"))).Run("Do it.")
}
