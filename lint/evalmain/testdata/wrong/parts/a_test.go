package parts

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) {
	evaltest.New(t).Run("Do it.")
}
