package main_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestMain(m *testing.M) { evaltest.Main(m, evaltest.OnError("skip")) }

func TestA(t *testing.T) { evaltest.New(t).Run("Do it.") }
