package chat_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/chat"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func each(t *testing.T, test func(t *testing.T, wire agents.Wire)) {
	t.Parallel()
	for wire := range chat.Names {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			test(t, wire)
		})
	}
}

// open opens a session over a gateway that plays steps.
func open(t testing.TB, agent agents.Agent, setup agents.Setup, steps ...script.Step) (agents.Session, *gateway.Gateway) {
	t.Helper()
	g, err := gateway.Open(gateway.Options{Wire: agent.Info().Wire, Script: steps, Bare: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	endpoint := g.Endpoint()
	setup.Gateway = &endpoint
	s, err := agent.Open(t.Context(), setup)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = s.Close() })
	return s, g
}

// send sends a message, and says what came of it.
func send(ctx context.Context, t testing.TB, tr *agents.Trajectory, s agents.Session, prompt string) *agents.Error {
	t.Helper()
	require.NoError(t, tr.Append(agents.Prompt(prompt)))
	for e, err := range s.Send(ctx, prompt) {
		if err != nil {
			return agents.AsError(err, agents.Harness, agents.FromHarness)
		}
		require.NoError(t, tr.Append(e))
	}
	return nil
}

// A conversation: each request carries what was said before, and what is told of it is what the provider tells.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, wire agents.Wire) {
		s, g := open(t, chat.New(wire, chat.Model("other")), agents.Setup{Model: "a-model/with:signs", System: "Be brief."},
			script.Say("Paris."), script.HandBack(), script.Say("Rome."), script.HandBack(), script.HandBack())
		var tr agents.Trajectory
		for _, tc := range []struct{ prompt, reply string }{{"The capital of France?", "Paris."}, {"And of Italy?", "Rome."}, {"Thanks.", "Done."}} {
			require.Nil(t, send(t.Context(), t, &tr, s, tc.prompt))
			require.Equal(t, tc.reply, tr.Reply())
		}
		require.Equal(t, 3, tr.Turns())
		final, err := s.Close()
		require.NoError(t, err)
		require.Equal(t, "a-model/with:signs", final.Model)
		require.Equal(t, gateway.Metered(g.Log()), final.Usage)
		require.Equal(t, tr.Usage(), final.Usage)
		require.Positive(t, final.Usage.OutputTokens)
		for _, x := range g.Log() {
			require.Equal(t, "a-model/with:signs", x.Model)
			require.True(t, x.Stream)
			require.False(t, x.Side)
		}
	})
}

// Leaving the loop at the request means that it is never made; a cancellation ends one that is under way.
func TestStops(t *testing.T) {
	each(t, func(t *testing.T, wire agents.Wire) {
		s, g := open(t, chat.New(wire, chat.Model("m")), agents.Setup{}, script.Say("Never."))
		for e, err := range s.Send(t.Context(), "Go.") {
			require.NoError(t, err)
			require.Equal(t, agents.EventRequest, e.Kind)
			break
		}
		require.Empty(t, g.Log())

		s, g = open(t, chat.New(wire, chat.Model("m")), agents.Setup{}, script.Wait(time.Hour), script.Say("Never."))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for len(g.Log()) == 0 || g.Log()[0].State != gateway.Answering {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		var tr agents.Trajectory
		err := send(ctx, t, &tr, s, "Go.")
		require.NotNil(t, err)
		require.Equal(t, agents.Interrupted, err.Kind)
		_, closeErr := s.Close()
		require.NoError(t, closeErr)
	})
}

// What the provider fails is an error of its kind, and no answer.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, wire agents.Wire) {
		for _, kind := range []agents.ErrorKind{agents.Auth, agents.RateLimit, agents.Overloaded, agents.Network, agents.Protocol} {
			s, _ := open(t, chat.New(wire, chat.Model("m")), agents.Setup{}, script.Fail(agents.Errorf(kind, agents.FromProvider, "no luck")))
			var tr agents.Trajectory
			err := send(t.Context(), t, &tr, s, "Go.")
			require.NotNil(t, err, kind)
			assert.Equal(t, kind, err.Kind)
			assert.Equal(t, agents.FromProvider, err.Source)
			assert.Empty(t, tr.Reply())
		}
		closed := httptest.NewServer(nil)
		closed.Close()
		s, err := chat.New(wire, chat.Model("m")).Open(t.Context(), agents.Setup{Gateway: &agents.Endpoint{URL: closed.URL, Token: "t"}})
		require.NoError(t, err)
		var tr agents.Trajectory
		failed := send(t.Context(), t, &tr, s, "Go.")
		require.NotNil(t, failed)
		require.Equal(t, agents.Network, failed.Kind)
	})
}

// What is asked is in the provider's words: seen at a server that says nothing good of it.
func TestRequests(t *testing.T) {
	t.Parallel()
	for wire, want := range map[agents.Wire]struct{ path, body string }{
		agents.AnthropicMessages: {"/v1/messages", `{"model":"m","max_tokens":99,"stream":true,"system":"Be brief.","messages":[{"role":"user","content":"Go."}]}`},
		agents.OpenAIResponses:   {"/responses", `{"model":"m","max_output_tokens":99,"stream":true,"store":false,"instructions":"Be brief.","input":[{"role":"user","content":"Go."}]}`},
		agents.OpenAIChat: {"/chat/completions", `{"model":"m","max_completion_tokens":99,"stream":true,"stream_options":{"include_usage":true},
			"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go."}]}`},
		agents.GeminiGenerate: {"/v1beta/models/m:streamGenerateContent?alt=sse", `{"generationConfig":{"maxOutputTokens":99},
			"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Go."}]}]}`},
	} {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			var path, body string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				data, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				path, body = r.URL.RequestURI(), string(data)
				w.WriteHeader(http.StatusTeapot)
			}))
			t.Cleanup(server.Close)
			s, err := chat.New(wire, chat.Model("m"), chat.MaxTokens(99)).Open(t.Context(), agents.Setup{System: "Be brief.", Gateway: &agents.Endpoint{URL: server.URL}})
			require.NoError(t, err)
			var tr agents.Trajectory
			require.NotNil(t, send(t.Context(), t, &tr, s, "Go."))
			_, err = s.Close()
			require.NoError(t, err)
			require.Equal(t, want.path, path)
			require.JSONEq(t, want.body, body)
		})
	}
}

// A provider is found where its own clients find it.
func TestProvider(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		wire          agents.Wire
		env           map[string]string
		url           string
		header, value string
	}{
		{agents.AnthropicMessages, map[string]string{"ANTHROPIC_API_KEY": "k"}, "https://api.anthropic.com", "X-Api-Key", "k"},
		{agents.AnthropicMessages, map[string]string{"ANTHROPIC_AUTH_TOKEN": "k", "ANTHROPIC_BASE_URL": "https://x.example"}, "https://x.example", "Authorization", "Bearer k"},
		{agents.OpenAIChat, map[string]string{"OPENAI_API_KEY": "k"}, "https://api.openai.com/v1", "Authorization", "Bearer k"},
		{agents.OpenAIResponses, map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://x.example/v1"}, "https://x.example/v1", "Authorization", "Bearer k"},
		{agents.OpenAIChat, map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}, "http://127.0.0.1:11434/v1", "Authorization", ""},
		{agents.GeminiGenerate, map[string]string{"GOOGLE_API_KEY": "k"}, "https://generativelanguage.googleapis.com", "X-Goog-Api-Key", "k"},
	} {
		agent, ok := chat.New(tc.wire).(agents.Provided)
		require.True(t, ok)
		p, err := agent.Provider(func(name string) string { return tc.env[name] })
		require.NoError(t, err)
		assert.Equal(t, tc.url, p.URL)
		assert.Equal(t, tc.value, p.Header.Get(tc.header))
	}
	each := chat.New(agents.GeminiGenerate).(agents.Provided)
	_, err := each.Provider(func(string) string { return "" })
	var e *agents.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, agents.Auth, e.Kind)
	require.ErrorContains(t, err, "set GEMINI_API_KEY")
}

// What a bare model cannot do is refused before anything is spent.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	endpoint := &agents.Endpoint{URL: "http://127.0.0.1:1", Token: "t"}
	for want, setup := range map[string]agents.Setup{
		"no use for skills":         {Model: "m", Skills: append(agents.Setup{}.Skills, fstest.MapFS{})},
		"no use for MCP servers":    {Model: "m", MCP: []agents.MCPServer{{Name: "db"}}},
		"no use for lists of tools": {Model: "m", Allow: []string{"Bash"}},
		"name the model to ask":     {},
	} {
		setup.Gateway = endpoint
		_, err := chat.New(agents.OpenAIChat).Open(t.Context(), setup)
		var e *agents.Error
		require.ErrorAs(t, err, &e, want)
		require.Equal(t, agents.FromAuthor, e.Source)
		require.ErrorContains(t, err, want)
	}
	require.Panics(t, func() { chat.New("smoke-signals") })
	for _, name := range chat.Names {
		agent, err := agents.Lookup(name)
		require.NoError(t, err)
		require.Equal(t, name, agent.Info().Name)
		require.False(t, agent.Info().CanShow(agents.Execute))
		require.False(t, agent.Info().CanGate(agents.Execute))
	}
}
