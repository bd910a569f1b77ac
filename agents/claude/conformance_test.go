package claude_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/agenttest"
	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

// harness has the real CLI carry out scripts, with the gateway in its model's place.
func harness(t testing.TB) agenttest.Harness {
	agent := claude.New(claude.Path(cli(t)))
	return agenttest.Harness{
		Info: agent.Info(),
		Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
			g, err := gateway.Open(gateway.Options{Wire: agent.Info().Wire, Script: steps, Dir: setup.Dir})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { g.Close() })
			endpoint := g.Endpoint()
			setup.Gateway = &endpoint
			session, err := agent.Open(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			return session
		},
		Skips: map[string]string{"calls-overlap": "commands that may write run one after the other"},
	}
}

func TestConformance(t *testing.T) {
	agenttest.Run(t, harness(t))
}

// One set of scripts, carried out in-process and by the real CLI, gives the same trajectories.
func TestSameAsScripted(t *testing.T) {
	embedded := agenttest.Harness{
		Info: scripted.New().Info(),
		Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
			s, err := scripted.New(steps...).Open(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	agenttest.Compare(t, embedded, harness(t))
}
