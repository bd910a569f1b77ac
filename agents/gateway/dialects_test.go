package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func play(t testing.TB, wire agents.Wire, steps ...script.Step) *gateway.Gateway {
	t.Helper()
	return openAs(t, wire, gateway.Options{Script: steps, Dir: "/ws"})
}

func openAs(t testing.TB, wire agents.Wire, o gateway.Options) *gateway.Gateway {
	t.Helper()
	o.Wire = wire
	g, err := gateway.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

// over stands before a scripted provider of the same wire format.
func over(t testing.TB, wire agents.Wire, p *gateway.Gateway) *gateway.Gateway {
	e := p.Endpoint()
	h := http.Header{}
	h.Set("Authorization", "Bearer "+e.Token)
	return openAs(t, wire, gateway.Options{Provider: &agents.Provider{URL: e.URL, Header: h}})
}

// each runs a test for every dialect, streaming and not.
func each(t *testing.T, test func(t *testing.T, s speaker, streams bool)) {
	t.Parallel()
	for _, s := range speakers {
		for _, streams := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%v", s.wire, streams), func(t *testing.T) {
				t.Parallel()
				test(t, s, streams)
			})
		}
	}
}

var long = strings.Repeat("a line with \"quotes\" and ünïcödé\n", 300)

// The same script is the same conversation in every dialect, directly and passed through, and all that is known of it is the same.
func TestEveryDialectPlaysTheScript(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		provider := play(t, s.wire,
			script.Together(script.Say("Both. "), script.Run("ls"), script.Run("pwd")),
			script.Write("out.txt", long),
			script.Read("/etc/hosts"),
			script.Skill("pdf"),
			script.Call("mcp__db__query", map[string]any{"sql": "select 1"}),
			script.Say(long),
			script.HandBack(),
			script.Say("Again."),
		)
		through := over(t, s.wire, provider)
		c := s.begin(t, through, streams, "Go.")
		input := func(v any) string {
			data, err := json.Marshal(v)
			require.NoError(t, err)
			return string(data)
		}
		var answers []said
		for _, want := range []said{
			{Text: "Both. ", Calls: []call{{"toolu_m_0_1", "bash", input(object{"command": "ls"})}, {"toolu_m_0_2", "bash", input(object{"command": "pwd"})}}},
			{Calls: []call{{"toolu_m_1_0", "write", input(object{"content": long, "path": "/ws/out.txt"})}}},
			{Calls: []call{{"toolu_m_2_0", "read", input(object{"path": "/etc/hosts"})}}},
			{Calls: []call{{"toolu_m_3_0", "skill", input(object{"name": "pdf"})}}},
			{Calls: []call{{"toolu_m_4_0", "mcp__db__query", input(object{"sql": "select 1"})}}},
			{Text: long},
			{Text: "Again."},
			{Text: "Done."},
		} {
			a := c.next()
			require.Equal(t, want.Text, a.Text)
			require.Len(t, a.Calls, len(want.Calls))
			for i := range a.Calls {
				require.Equal(t, want.Calls[i].ID, a.Calls[i].ID)
				require.Equal(t, want.Calls[i].Name, a.Calls[i].Name)
				require.JSONEq(t, want.Calls[i].Input, a.Calls[i].Input)
			}
			require.Equal(t, "a-model", a.Model)
			answers = append(answers, a)
		}
		for what, log := range map[string][]gateway.Exchange{"scripted": provider.Log(), "passed through": through.Log()} {
			require.Len(t, log, len(answers), what)
			for i, x := range log {
				usage, err := gateway.ParseUsage(s.wire, answers[i].Usage)
				require.NoError(t, err)
				assert.Equal(t, usage, x.Usage, "%s %d", what, i)
				assert.Equal(t, answers[i].ID, x.ID, what)
				assert.Equal(t, answers[i].Stop, x.Stop, what)
				assert.Equal(t, gateway.Answered, x.State, what)
				assert.Equal(t, http.StatusOK, x.Status, what)
				assert.Equal(t, "a-model", x.Model, what)
				assert.Equal(t, streams, x.Stream, what)
				assert.Nil(t, x.Failure, what)
				assert.False(t, x.Side, what)
				assert.Len(t, x.Calls, len(answers[i].Calls), what)
				if i > 0 && len(answers[i-1].Calls) > 0 {
					assert.Equal(t, log[i-1].Calls, x.Results, what)
					assert.Equal(t, log[i-1].ID, x.Answer, what)
				} else {
					assert.Empty(t, x.Results, what)
				}
			}
		}
		for _, x := range through.Log() {
			assert.Equal(t, "a-model", x.Answered)
		}
	})
}

// The tokens of a script are the same in all dialects, but for those written to a cache, which most count as input.
func TestUsageIsTheSameInEveryDialect(t *testing.T) {
	t.Parallel()
	var all []agents.Usage
	for _, s := range speakers {
		g := play(t, s.wire, script.Run("ls"), script.Say("Done."))
		c := s.begin(t, g, true, "Go.")
		c.next()
		c.next()
		u := gateway.Metered(g.Log())
		u.InputTokens, u.CacheWriteTokens = u.InputTokens+u.CacheWriteTokens, 0
		all = append(all, u)
	}
	for _, u := range all {
		assert.Equal(t, all[0], u)
	}
	assert.Positive(t, all[0].CachedTokens)
}

// What is asked again is answered the same; what is asked on the side changes nothing; an agent that forgets the ids of calls, or
// has ids of its own, is understood.
func TestNothingDesynchronisesAnyDialect(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		g := play(t, s.wire, script.Run("one"), script.Run("two"), script.Say("three"))
		c := s.begin(t, g, streams, "Go.")
		first := c.ask()
		require.Equal(t, first.Calls, c.ask().Calls)
		require.Equal(t, g.Log()[0].Point, g.Log()[1].Point)
		side := c.askWith([]any{s.prompt("A title for this, please.")}, nil)
		require.Empty(t, side.Calls)
		require.True(t, g.Log()[2].Side)
		c.next()
		data, err := json.Marshal(c.history)
		require.NoError(t, err)
		var renamed []any
		unmarshal(t, bytes.ReplaceAll(data, []byte("toolu_m_0_0"), []byte("call-of-its-own")), &renamed)
		c.history = renamed
		second := c.next()
		require.Len(t, second.Calls, 1)
		require.Contains(t, second.Calls[0].Input, "two")
		require.Equal(t, "three", c.next().Text)
	})
}

// An agent without tools has nothing on the side.
func TestBareModel(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		g := openAs(t, s.wire, gateway.Options{Script: []script.Step{script.Say("one"), script.HandBack(), script.Say("two")}, Bare: true})
		c := s.begin(t, g, streams, "Go.")
		for _, want := range []string{"one", "two"} {
			a := c.askWith(c.history, nil)
			require.Equal(t, want, a.Text)
			c.history = append(append(c.history, a.Repeat...), s.prompt("Go on."))
		}
		require.False(t, g.Log()[0].Side)
	})
}

// Answers that an agent puts into the model's mouth are none of the script's.
func TestConversationThatBeginsWithAnAnswer(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		seed := play(t, s.wire, script.Say("Got it. Thanks for the context!"))
		c := s.begin(t, seed, streams, "This is the context.")
		c.next()
		c.history[len(c.history)-1] = s.prompt("Go.")
		c.g = play(t, s.wire, script.Say("one  two"), script.HandBack(), script.HandBack(), script.Run("three"))
		require.Equal(t, "one  two", c.next().Text)
		require.Equal(t, "Done.", c.next().Text)
		require.Contains(t, c.next().Calls[0].Input, "three")
	})
}

// A sub-agent's requests are known by its prompt.
func TestSubagentsInEveryDialect(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		g := play(t, s.wire, script.Agent("Look around.", script.Run("inner"), script.Say("Seen.")), script.Say("Over."))
		c := s.begin(t, g, streams, "Go.")
		started := c.next()
		require.Len(t, started.Calls, 1)
		var args struct{ Prompt string }
		unmarshal(t, []byte(started.Calls[0].Input), &args)
		inner := s.begin(t, g, streams, args.Prompt)
		require.Contains(t, inner.next().Calls[0].Input, "inner")
		require.Equal(t, "Over.", c.next().Text, "meanwhile")
		require.Equal(t, "Seen.", inner.next().Text)
	})
}

// What fails is of the right kind, whoever looks: the provider that plays it, and the gateway before it that reads it.
func TestFailuresInEveryDialect(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		for _, kind := range []agents.ErrorKind{agents.Auth, agents.Quota, agents.RateLimit, agents.Overloaded, agents.Network, agents.Protocol, agents.Crash} {
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel()
				e := agents.Errorf(kind, agents.FromProvider, "no luck")
				if kind == agents.RateLimit {
					e.RetryAfter = 3 * time.Second
				}
				provider := play(t, s.wire, script.Run("ls"), script.Fail(e))
				through := over(t, s.wire, provider)
				c := s.begin(t, through, streams, "Go.")
				c.next()
				resp, err := c.send(c.history, c.tools())
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				want := kind
				switch {
				case kind == agents.Crash:
					want = agents.Overloaded // an internal error of the provider
				case kind == agents.Quota && s.wire == agents.GeminiGenerate:
					want = agents.RateLimit // it has one word for both
				}
				x := through.Log()[1]
				require.NotNil(t, x.Failure)
				assert.Equal(t, want, x.Failure.Kind)
				assert.Equal(t, agents.FromProvider, x.Failure.Source)
				assert.Equal(t, e.RetryAfter, x.RetryAfter)
				if x.Status >= 400 {
					assert.Equal(t, provider.Log()[1].Status, x.Status)
					assert.Equal(t, provider.Log()[1].Error, x.Error)
					assert.Contains(t, x.Failure.Message(), "no luck")
				}
				assert.NotNil(t, gateway.Unhealed(through.Log()))
			})
		}
	})
}

// Answers as providers give them, well and badly.
func TestAnswersOfProviders(t *testing.T) {
	t.Parallel()
	const sse, whole = "text/event-stream", "application/json"
	for _, tc := range []struct {
		name    string
		wire    agents.Wire
		kind    string
		body    string
		failure agents.ErrorKind // "": none
		state   gateway.State
		stop    string
		usage   agents.Usage
	}{
		{"completed", agents.OpenAIResponses, sse, `data: {"type":"response.created","response":{"id":"r","model":"m-1"}}

data: {"type":"response.output_item.added","item":{"type":"reasoning"}}

data: {"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":3}}}

`, "", gateway.Answered, "completed", agents.Usage{InputTokens: 6, CachedTokens: 4, OutputTokens: 3}},
		{"cut off by its own limit", agents.OpenAIResponses, sse, "data: {\"type\":\"response.incomplete\",\"response\":{\"id\":\"r\",\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"usage\":{\"output_tokens\":9}}}\n\n",
			"", gateway.Answered, "max_output_tokens", agents.Usage{OutputTokens: 9}},
		{"failed", agents.OpenAIResponses, sse, "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"busy\"},\"usage\":{\"input_tokens\":5}}}\n\n",
			agents.Overloaded, gateway.Answered, "", agents.Usage{InputTokens: 5}},
		{"failed by the rate", agents.OpenAIResponses, sse, "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Try again in 11 s\"}}}\n\n",
			agents.RateLimit, gateway.Answered, "", agents.Usage{}},
		{"an error event", agents.OpenAIResponses, sse, "data: {\"type\":\"error\",\"code\":\"insufficient_quota\",\"message\":\"no money\"}\n\n", agents.Quota, gateway.Answered, "", agents.Usage{}},
		{"without its end", agents.OpenAIResponses, sse, "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n", agents.Network, gateway.Cut, "", agents.Usage{}},
		{"no type", agents.OpenAIResponses, sse, "data: {\"id\":1}\n\n", agents.Protocol, gateway.Answered, "", agents.Usage{}},
		{"failed, whole", agents.OpenAIResponses, whole, `{"object":"response","status":"failed","error":{"code":"server_error","message":"oops"}}`, agents.Overloaded, gateway.Answered, "", agents.Usage{}},
		{"something else", agents.OpenAIResponses, whole, `{"hello":"world"}`, agents.Protocol, gateway.Answered, "", agents.Usage{}},

		{"stopped", agents.OpenAIChat, sse, "data: {\"id\":\"c\",\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10.0,\"completion_tokens\":2,\"prompt_tokens_details\":null}}\n\ndata: [DONE]\n\n",
			"", gateway.Answered, "stop", agents.Usage{InputTokens: 10, OutputTokens: 2}},
		{"no [DONE]", agents.OpenAIChat, sse, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":1}}\n\n", "", gateway.Answered, "length", agents.Usage{InputTokens: 1}},
		{"a filter", agents.OpenAIChat, sse, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n", "", gateway.Answered, "content_filter", agents.Usage{}},
		{"no reason to stop", agents.OpenAIChat, sse, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n", agents.Network, gateway.Cut, "", agents.Usage{}},
		{"an error in the stream", agents.OpenAIChat, sse, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"error\":{\"message\":\"busy\",\"type\":\"server_error\"}}\n\ndata: [DONE]\n\n",
			agents.Overloaded, gateway.Answered, "", agents.Usage{}},
		{"an error in a choice", agents.OpenAIChat, sse, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\",\"error\":{\"code\":502,\"message\":\"upstream\"}}]}\n\n", agents.Overloaded, gateway.Answered, "", agents.Usage{}},
		{"an error with 200", agents.OpenAIChat, whole, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, agents.RateLimit, gateway.Answered, "", agents.Usage{}},
		{"no choices", agents.OpenAIChat, whole, `{"object":"chat.completion"}`, agents.Protocol, gateway.Answered, "", agents.Usage{}},
		{"a page", agents.OpenAIChat, "text/html", "<!doctype html><title>Sign in</title>", agents.Protocol, gateway.Answered, "", agents.Usage{}},

		{"finished", agents.GeminiGenerate, sse, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"x\",\"args\":{}}}]}}],\"usageMetadata\":{\"promptTokenCount\":8}}\r\n\r\n" +
			"data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":8,\"cachedContentTokenCount\":5,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":1},\"modelVersion\":\"m-1\"}\r\n\r\n",
			"", gateway.Answered, "STOP", agents.Usage{InputTokens: 3, CachedTokens: 5, OutputTokens: 3}},
		{"unsafe", agents.GeminiGenerate, sse, "data: {\"candidates\":[{\"finishReason\":\"SAFETY\"}]}\n\n", "", gateway.Answered, "SAFETY", agents.Usage{}},
		{"a blocked prompt", agents.GeminiGenerate, sse, "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},\"usageMetadata\":{\"promptTokenCount\":8}}\n\n",
			"", gateway.Answered, "PROHIBITED_CONTENT", agents.Usage{InputTokens: 8}},
		{"unfinished", agents.GeminiGenerate, sse, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\n\n", agents.Network, gateway.Cut, "", agents.Usage{}},
		{"an error midway", agents.GeminiGenerate, sse, "data: {\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\n\n", agents.Overloaded, gateway.Answered, "", agents.Usage{}},
		{"an array", agents.GeminiGenerate, whole, `[{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]},` + "\n" + `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8}}]`,
			"", gateway.Answered, "STOP", agents.Usage{InputTokens: 8}},
		{"half an array", agents.GeminiGenerate, whole, `[{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}]`, agents.Protocol, gateway.Answered, "", agents.Usage{}},
		{"a bad key", agents.GeminiGenerate, "400", `{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`,
			agents.Auth, gateway.Answered, "", agents.Usage{}},
	} {
		t.Run(string(tc.wire)+"/"+tc.name, func(t *testing.T) {
			t.Parallel()
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tc.kind == "400" {
					w.WriteHeader(http.StatusBadRequest)
				} else {
					w.Header().Set("Content-Type", tc.kind)
				}
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(provider.Close)
			g := openAs(t, tc.wire, gateway.Options{Provider: &agents.Provider{URL: provider.URL}})
			var s speaker
			for _, s = range speakers {
				if s.wire == tc.wire {
					break
				}
			}
			resp, err := s.begin(t, g, tc.kind == sse, "Go.").send([]any{s.prompt("Go.")}, s.tools())
			require.NoError(t, err)
			got, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, tc.body, string(got), "it passes as it is")
			x := g.Log()[0]
			if tc.failure == "" {
				require.Nil(t, x.Failure)
			} else {
				require.NotNil(t, x.Failure)
				require.Equal(t, tc.failure, x.Failure.Kind, x.Failure)
			}
			require.Equal(t, tc.state, x.State)
			require.Equal(t, tc.stop, x.Stop)
			require.Equal(t, tc.usage, x.Usage)
		})
	}
}

// Each dialect has its own place for a key. The provider gets its own key there, and never the agent's token.
func TestKeysOfEveryDialect(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(r *http.Request, token string){
		"X-Api-Key":      func(r *http.Request, token string) { r.Header.Set("X-Api-Key", token) },
		"Authorization":  func(r *http.Request, token string) { r.Header.Set("Authorization", "Bearer "+token) },
		"X-Goog-Api-Key": func(r *http.Request, token string) { r.Header.Set("X-Goog-Api-Key", token) },
		"the query":      func(r *http.Request, token string) { r.URL.RawQuery = "alt=sse&key=" + token },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := make(chan *http.Request, 1)
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen <- r.Clone(t.Context())
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n")
			}))
			t.Cleanup(provider.Close)
			g := openAs(t, agents.GeminiGenerate, gateway.Options{Provider: &agents.Provider{URL: provider.URL, Header: http.Header{"X-Goog-Api-Key": {"the-real-key"}}}})
			e := g.Endpoint()
			for _, token := range []string{"wrong", e.Token} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL+"/v1beta/models/m:streamGenerateContent?alt=sse", strings.NewReader(`{"contents":[{"parts":[{"text":"Go."}]}]}`))
				require.NoError(t, err)
				give(r, token)
				resp, err := do(t, r)
				require.NoError(t, err)
				resp.Body.Close()
				if token == "wrong" {
					require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
					continue
				}
				require.Equal(t, http.StatusOK, resp.StatusCode)
				got := <-seen
				require.Equal(t, "the-real-key", got.Header.Get("X-Goog-Api-Key"))
				require.Equal(t, "alt=sse", got.URL.RawQuery)
				require.NotContains(t, fmt.Sprint(got.Header, got.URL), e.Token)
			}
		})
	}
}
