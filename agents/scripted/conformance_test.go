package scripted_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/agenttest"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

var harness = agenttest.Harness{
	Info: scripted.New().Info(),
	Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
		s, err := scripted.New(steps...).Open(t.Context(), setup)
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

func TestConformance(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, harness)
}

func TestTheSameScriptIsTheSameTrajectory(t *testing.T) {
	t.Parallel()
	agenttest.Compare(t, harness, harness)
}
