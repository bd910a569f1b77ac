package external_test

import (
	"testing"

	ev "github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) {
	ev.New(t, ev.OnError("skip")).Run("Do it.") // want `errors skip evals of package external_test`
}
