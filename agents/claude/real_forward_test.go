package claude_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/internal/faulty"
)

// through puts a gateway that forwards between the CLI and a provider.
func through(p *faulty.Provider, h http.Header) prepare {
	return func(_ *agents.Setup, o *gateway.Options) {
		o.Script, o.Provider = nil, &agents.Provider{URL: p.URL, Header: h}
	}
}

// The CLI works through a gateway as it does without one; what its own retries overcome is a fact, and no error.
func TestForwarded(t *testing.T) {
	t.Parallel()
	const key = "sk-provider-0123456789"
	for name, plan := range map[string]faulty.Plan{
		"well":             {},
		"529 at the first": {Fault: faulty.Overloaded, At: 1},
		"529 later":        {Fault: faulty.Overloaded, At: 2},
		"cut later":        {Fault: faulty.Cut, At: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cli(t)
			plan.Key, plan.Model = key, "claude-answering-20260101"
			p := faulty.Start(t, plan, script.Run("env > env.txt; echo 1 > a"), script.Run("echo 2 > b"), script.Say("All done."))
			b := open(t, nil, through(p, http.Header{"X-Api-Key": {key}}))
			require.Nil(t, b.send("Go."))
			require.Equal(t, []string{"All done."}, b.texts())
			require.Equal(t, "2\n", b.file("b"))
			for _, c := range b.calls() {
				require.Equal(t, agents.Completed, c.Status)
			}

			log := b.gateway.Log()
			require.Nil(t, gateway.Unhealed(log))
			failed, answered := 0, 0
			for i, x := range log {
				switch {
				case x.Failure != nil:
					failed++
					assert.True(t, gateway.Overcome(log)[i], "%+v", x)
				case !x.Side:
					answered++
					assert.Equal(t, gateway.Answered, x.State)
					assert.Equal(t, plan.Model, x.Answered)
				}
			}
			assert.Equal(t, 3, answered)
			want := 0
			if plan.Fault != faulty.None {
				want = 1
			}
			assert.Equal(t, want, failed)
			assert.Equal(t, 3+want, p.Requests())

			metered, said := gateway.Metered(log), b.spent()
			assert.Equal(t, metered.CachedTokens, said.CachedTokens)
			assert.Equal(t, metered.CacheWriteTokens, said.CacheWriteTokens)
			if plan.Fault != faulty.Cut { // the CLI says nothing of what an answer that was cut has cost
				assert.Equal(t, metered.InputTokens, said.InputTokens)
				assert.Equal(t, metered.OutputTokens, said.OutputTokens)
			}
			assert.NotContains(t, b.file("env.txt"), key)
			assert.Contains(t, b.file("env.txt"), "ANTHROPIC_API_KEY="+b.gateway.Endpoint().Token)
			for _, h := range p.Headers() {
				assert.Equal(t, key, h.Get("X-Api-Key"))
				assert.Empty(t, h.Get("Authorization"))
			}
			f := b.close()
			assert.Regexp(t, `^\d+\.\d+\.\d+$`, f.Version)
			assert.Equal(t, plan.Model, f.Model)
		})
	}
}

// A CLI with a login of its own presents it itself; the secret in the path is what lets it in, and goes no further.
func TestForwardedWithItsOwnLogin(t *testing.T) {
	cli(t)
	const login = "sk-ant-oat01-its-own-login"
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "ANTHROPIC_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("CLAUDE_CODE_OAUTH_TOKEN", login)
	p := faulty.Start(t, faulty.Plan{Key: login}, script.Run("echo 1 > a"), script.Say("All done."))
	b := open(t, nil, func(_ *agents.Setup, o *gateway.Options) {
		o.Script, o.Provider = nil, &agents.Provider{URL: p.URL, Login: []string{"CLAUDE_CODE_OAUTH_TOKEN=" + login}}
	})
	require.Nil(t, b.send("Go."))
	require.Equal(t, "1\n", b.file("a"))
	require.Nil(t, gateway.Unhealed(b.gateway.Log()))
	require.NotEmpty(t, p.Headers())
	url := b.gateway.Endpoint().URL
	secret := url[strings.LastIndex(url, "/")+1:]
	for _, h := range p.Headers() {
		assert.Equal(t, "Bearer "+login, h.Get("Authorization"))
		for _, values := range h {
			assert.NotContains(t, strings.Join(values, " "), secret)
		}
	}
}
