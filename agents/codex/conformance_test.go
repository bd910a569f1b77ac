package codex_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/agenttest"
	"github.com/evaltest-go/evaltest/agents/codex"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// program is the real Codex: what EVALTEST_CODEX names, or what make agents has installed.
func program(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(codex.PathVariable); path != "" {
		return path
	}
	found, err := filepath.Glob("../../.agents/node_modules/@openai/codex-*/vendor/*/bin/codex")
	if err == nil && len(found) == 1 {
		if path, err := exec.LookPath(found[0]); err == nil {
			path, err = filepath.Abs(path)
			if err == nil {
				return path
			}
		}
	}
	if os.Getenv("EVALTEST_REQUIRE_AGENTS") != "" {
		t.Fatal("needs the real Codex: run make agents")
	}
	t.Skip("needs the real Codex: run make agents")
	return ""
}

// harness has the real Codex carry out scripts, with the gateway in its model's place.
func harness(t testing.TB) agenttest.Harness {
	agent := codex.New(codex.Path(program(t)), codex.Model("gpt-5.5"))
	return agenttest.Harness{
		Info: agent.Info(),
		Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
			g, err := gateway.Open(gateway.Options{Wire: agent.Info().Wire, Script: steps, Dir: setup.Dir})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = g.Close() })
			endpoint := g.Endpoint()
			setup.Gateway = &endpoint
			session, err := agent.Open(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			return session
		},
		Skips: map[string]string{
			"sub-agent":  "its tool for sub-agents is one that the model has to search for, and it returns before they are done",
			"sub-agents": "as sub-agent",
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, harness(t))
}

// A provider that fails is an error of the session's, and the gateway before it knows of which kind.
func TestFaults(t *testing.T) {
	t.Parallel()
	path := program(t)
	for _, kind := range []agents.ErrorKind{agents.Auth, agents.Quota, agents.RateLimit, agents.Overloaded, agents.Network, agents.Protocol} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			in := setup(t)
			provider, err := gateway.Open(gateway.Options{Wire: agents.OpenAIResponses, Dir: in.Dir, Script: []script.Step{
				script.Run("echo before >before.txt"), script.Fail(agents.Errorf(kind, agents.FromProvider, "no luck"))}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, provider.Close()) })
			g, err := gateway.Open(gateway.Options{Wire: agents.OpenAIResponses, Provider: &agents.Provider{
				URL: provider.Endpoint().URL, Header: http.Header{"Authorization": {"Bearer " + provider.Endpoint().Token}}}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, g.Close()) })
			endpoint := g.Endpoint()
			in.Gateway = &endpoint
			s, err := codex.New(codex.Path(path), codex.Model("gpt-5.5")).Open(t.Context(), in)
			require.NoError(t, err)
			var failed *agents.Error
			for _, err := range s.Send(t.Context(), "Go.") {
				if err != nil {
					failed = agents.AsError(err, agents.Harness, agents.FromHarness)
				}
			}
			_, err = s.Close()
			require.NoError(t, err)
			require.NotNil(t, failed)
			require.Equal(t, agents.FromProvider, failed.Source)
			x := gateway.Unhealed(g.Log())
			require.NotNil(t, x)
			require.Equal(t, kind, x.Failure.Kind)
			require.FileExists(t, filepath.Join(in.Dir, "before.txt"))
			require.LessOrEqual(t, len(g.Log()), 12, "it does not try for ever")
		})
	}
}
