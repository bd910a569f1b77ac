//go:build evals

package tagged

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { evaltest.Main(m) }
