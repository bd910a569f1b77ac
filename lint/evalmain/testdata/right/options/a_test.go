package options

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Options that are looked at, and no eval.
func TestA(t *testing.T) {
	if evaltest.OnError("skip") == nil {
		t.Fatal("nil")
	}
}
