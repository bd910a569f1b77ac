package twice_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestB(t *testing.T) { // it is told once, in package twice
	evaltest.New(t, evaltest.OnError("skip")).Run("Do it.")
}
