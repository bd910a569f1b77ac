package claude_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestProviderFails(t *testing.T) {
	t.Parallel()
	for _, kind := range []agents.ErrorKind{agents.Auth, agents.Quota, agents.RateLimit, agents.Overloaded, agents.Network, agents.Protocol} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := open(t, []script.Step{script.Run("touch a"), script.Fail(agents.Errorf(kind, agents.FromProvider, "no luck"))},
				setup(func(s *agents.Setup) { s.Env = append(s.Env, "CLAUDE_CODE_MAX_RETRIES=1") }))
			err := b.send("Go.")
			require.NotNil(t, err)
			require.Equal(t, kind, err.Kind, "%v", err)
			require.Equal(t, agents.FromProvider, err.Source)
			require.Len(t, b.calls(), 1)
			require.Empty(t, b.texts(), "an error is not the model's words")
			require.Positive(t, b.spent().Tokens())
			require.NotNil(t, b.send("Again."))
		})
	}
}

func TestBadFlagIsACrash(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	s, err := claude.New(claude.Path(cli(t)), claude.Args("--no-such-flag")).Open(t.Context(), agents.Setup{Dir: dir, Home: home, Temp: shortDir(t),
		Gateway: &agents.Endpoint{URL: "http://127.0.0.1:1", Token: "x"}})
	require.NoError(t, err)
	for _, err := range s.Send(t.Context(), "Go.") {
		var e *agents.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, agents.Crash, e.Kind)
		require.Contains(t, e.Error(), "no-such-flag")
	}
	_, err = s.Close()
	require.NoError(t, err)
}

func TestKilledIsACrash(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{script.Run("kill -9 $PPID; sleep 1"), script.Run("touch after")})
	err := b.send("Go.")
	require.NotNil(t, err)
	require.Equal(t, agents.Crash, err.Kind, "%v", err)
	b.close()
	b.requireNoFile("after")
}
