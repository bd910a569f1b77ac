package shared

import (
	"testing"

	"github.com/evaltest-go/evaltest/lint/evalmain/testdata/kit"
)

func TestA(t *testing.T) {
	kit.Eval(t, kit.Defaults...).Run("Do it.") // want `errors skip evals of package shared`
}
