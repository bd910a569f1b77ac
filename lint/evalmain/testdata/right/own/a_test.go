package own

import (
	"testing"

	_ "github.com/evaltest-go/evaltest/evaltest"
)

type evaltester struct{}

func (evaltester) New(*testing.T, ...string) evaltester { return evaltester{} }
func (evaltester) OnError(s string) string              { return s }

var evaltest evaltester

func TestA(t *testing.T) { evaltest.New(t, evaltest.OnError("skip")) }
