package right

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// There are 2³⁵ ways through it.
func swapped(t *testing.T) {
	a, b := evaltest.New(t), evaltest.New(t)
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	if testing.Short() {
		a, b = b, a
	}
	a.Run("a")
	b.Run("b")
}
