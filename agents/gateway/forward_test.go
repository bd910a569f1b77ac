package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/internal/faulty"
)

const key = "sk-provider-0123456789"

func through(t testing.TB, url string, more ...func(*gateway.Options)) *gateway.Gateway {
	h := http.Header{}
	h.Set("X-Api-Key", key)
	o := gateway.Options{Provider: &agents.Provider{URL: url, Header: h}}
	for _, f := range more {
		f(&o)
	}
	return open(t, o)
}

// What the provider says passes unchanged, and what it means is known.
func TestForwarded(t *testing.T) {
	t.Parallel()
	p := faulty.Start(t, faulty.Plan{Key: key, Model: "a-model-20260101"}, script.Together(script.Say("a"), script.Run("ls"), script.Read("x")), script.Say("Done."))
	var progress sync.Map
	g := through(t, p.URL, func(o *gateway.Options) { o.Progress = func() { progress.Store("made", true) } })
	c := begin(t, g, "Go.")
	first := c.next()
	require.Len(t, first.Content, 3)
	second := c.ask()
	require.Equal(t, "Done.", second.Content[0].Text)
	c.stream = false
	require.Equal(t, second, c.ask(), "the same in one piece")

	log := g.Log()
	require.Len(t, log, 3)
	for _, x := range log {
		assert.Equal(t, gateway.Answered, x.State)
		assert.Nil(t, x.Failure)
		assert.Equal(t, "a-model", x.Model)
		assert.Equal(t, "a-model-20260101", x.Answered)
		assert.Positive(t, x.Usage.InputTokens)
		assert.Positive(t, x.Usage.CacheWriteTokens)
		assert.Positive(t, x.Usage.OutputTokens)
		assert.False(t, x.FirstByte.IsZero())
		assert.False(t, x.Side)
	}
	assert.Len(t, log[0].Calls, 2)
	assert.Equal(t, log[0].Calls, log[1].Results)
	assert.Equal(t, log[0].ID, log[1].Answer)
	assert.NotEqual(t, log[0].Point, log[1].Point)
	assert.Equal(t, log[1].Point, log[2].Point)
	assert.Equal(t, first.Usage.Read+second.Usage.Read*2, gateway.Metered(log).CachedTokens)
	_, made := progress.Load("made")
	assert.True(t, made)
	for _, h := range p.Headers() {
		assert.Equal(t, key, h.Get("X-Api-Key"))
		assert.NotContains(t, fmt.Sprint(h), g.Endpoint().Token)
	}
}

// The provider's key stays with the gateway, also when a provider quotes it.
func TestKeyIsKept(t *testing.T) {
	t.Parallel()
	quoting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", r.Header.Get("X-Api-Key"))
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"no such key: %s"}}`, r.Header.Get("X-Api-Key"))
	}))
	defer quoting.Close()
	g := through(t, quoting.URL)
	resp, err := begin(t, g, "Go.").send(t.Context())
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 401, resp.StatusCode)
	assert.Contains(t, string(body), "no such key")
	all := string(body) + fmt.Sprint(resp.Header) + fmt.Sprintf("%+v", g.Log()) + g.Log()[0].Failure.Error()
	assert.NotContains(t, all, key)
	assert.Empty(t, resp.Cookies())

	// Who has not the token, or comes under another name, gets nothing through.
	r := request(t.Context(), t, g, "/v1/messages", object{})
	r.Header.Set("X-Api-Key", "guess")
	resp, err = do(t, r)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 401, resp.StatusCode)
	r = request(t.Context(), t, g, "/v1/messages", object{})
	r.Host = "evil.example"
	resp, err = do(t, r)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 403, resp.StatusCode)
	assert.Len(t, g.Log(), 1)
}

// An agent with a login of its own is let in by the path, and its credential is forwarded.
func TestOwnLogin(t *testing.T) {
	t.Parallel()
	p := faulty.Start(t, faulty.Plan{Key: "its-own-token"}, script.Say("Hi."))
	g := open(t, gateway.Options{Provider: &agents.Provider{URL: p.URL, Login: []string{"TOKEN=its-own-token"}}})
	e := g.Endpoint()
	require.Empty(t, e.Token)
	r := request(t.Context(), t, g, "/v1/messages", begin(t, g, "Go.").body())
	r.Header.Del("X-Api-Key")
	r.Header.Set("Authorization", "Bearer its-own-token")
	resp, err := do(t, r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)

	r.URL.Path = "/v1/messages"
	r.Body, _ = r.GetBody()
	resp, err = do(t, r)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 401, resp.StatusCode, "without the secret in the path")
}

// Every way in which a provider fails has its kind, by what was seen and not by words.
func TestFailuresHaveKinds(t *testing.T) {
	t.Parallel()
	want := map[faulty.Fault]agents.ErrorKind{
		faulty.Unauthorized: agents.Auth, faulty.Forbidden: agents.Auth, faulty.RateLimited: agents.RateLimit,
		faulty.RateLimitedAfter: agents.RateLimit, faulty.Internal: agents.Overloaded, faulty.Overloaded: agents.Overloaded,
		faulty.Refused: agents.Network, faulty.Cut: agents.Network, faulty.Malformed: agents.Protocol, faulty.Page: agents.Protocol,
	}
	for _, stream := range []bool{true, false} {
		for fault, kind := range want {
			t.Run(fmt.Sprintf("%s, stream %v", fault, stream), func(t *testing.T) {
				t.Parallel()
				p := faulty.Start(t, faulty.Plan{Key: key, Fault: fault, At: 1, Forever: true}, script.Run("ls"))
				g := through(t, p.URL)
				c := begin(t, g, "Go.")
				c.stream = stream
				for range 2 {
					resp, err := c.send(t.Context())
					if err == nil {
						_, _ = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
				}
				eventually(t, func() bool { return len(g.Log()) == 2 && !g.Log()[1].Ended.IsZero() }, "both are over")
				log := g.Log()
				for _, x := range log {
					require.NotNil(t, x.Failure)
					assert.Equal(t, kind, x.Failure.Kind, x.Failure)
					assert.Equal(t, agents.FromProvider, x.Failure.Source)
					assert.Equal(t, kind != agents.Auth, x.Failure.Retryable)
					want := gateway.Answered
					if fault == faulty.Cut {
						want = gateway.Cut
					}
					assert.Equal(t, want, x.State)
				}
				if fault == faulty.RateLimitedAfter {
					assert.Equal(t, time.Second, log[0].RetryAfter)
					assert.Equal(t, time.Second, log[0].Failure.RetryAfter)
				}
				require.NotNil(t, gateway.Unhealed(log))
				assert.Equal(t, 2, gateway.Unhealed(log).N)
				assert.Equal(t, []bool{false, false}, gateway.Overcome(log))
			})
		}
	}
}

// A failure that the agent overcomes by asking again is none.
func TestOvercome(t *testing.T) {
	t.Parallel()
	p := faulty.Start(t, faulty.Plan{Key: key, Fault: faulty.Overloaded, At: 1}, script.Say("Hi."))
	g := through(t, p.URL)
	c := begin(t, g, "Go.")
	resp, err := c.send(t.Context())
	require.NoError(t, err)
	resp.Body.Close()
	c.ask()
	log := g.Log()
	assert.Equal(t, []bool{true, false}, gateway.Overcome(log))
	assert.Nil(t, gateway.Unhealed(log))

	// One on the side, without tools, is nobody's loss.
	side := []gateway.Exchange{{Request: gateway.Request{N: 1, Side: true, Point: "x"}, State: gateway.Answered, Failure: agents.Errorf(agents.Auth, agents.FromProvider, "no")}}
	assert.Nil(t, gateway.Unhealed(side))
}

// The end of an agent is no failure of the provider's, and ends the provider's work.
func TestAgentGoesAway(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer upstream.Close()
	g := through(t, upstream.URL)
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := begin(t, g, "Go.").send(ctx)
	require.NoError(t, err)
	since, ok := g.Waiting()
	assert.True(t, ok)
	assert.Less(t, time.Since(since), time.Minute)
	cancel()
	resp.Body.Close()
	<-gone
	eventually(t, func() bool { return g.Log()[0].State == gateway.Cut }, "it is cut")
	assert.Nil(t, g.Log()[0].Failure)
	_, ok = g.Waiting()
	assert.False(t, ok)
}

// What is no model request passes, too, with its query and its headers; bytes are those of the provider.
func TestOtherPathsPass(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/base/v1/files", r.URL.Path)
		assert.Equal(t, "beta=true&x=%2F", r.URL.RawQuery)
		assert.Equal(t, "2023-06-01", r.Header.Get("Anthropic-Version"))
		assert.Empty(t, r.Header.Get("Cookie"))
		assert.Empty(t, r.Header.Get("Authorization"), "the agent's token is for this gateway")
		assert.Equal(t, key, r.Header.Get("X-Api-Key"))
		w.Header().Set("X-Other", "y")
		_, _ = w.Write(body)
	}))
	defer upstream.Close()
	g := through(t, upstream.URL+"/base/")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Endpoint().URL+"/v1/files?beta=true&x=%2F", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+g.Endpoint().Token)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Cookie", "a=b")
	resp, err := do(t, r)
	require.NoError(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(body), sha256.Sum256(got))
	assert.Equal(t, "y", resp.Header.Get("X-Other"))
	assert.Empty(t, g.Log())
}

// A stream arrives piece by piece, many of them at once, and nothing is left of them.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	p := faulty.Start(t, faulty.Plan{Key: key, Latency: 20 * time.Millisecond}, script.Together(script.Say(strings.Repeat("word ", 5000)), script.Run("ls")))
	g := through(t, p.URL)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a := begin(t, g, "Go.").ask()
			assert.Len(t, a.Content, 2)
		})
	}
	wg.Wait()
	assert.Len(t, g.Log(), 20)
	require.NoError(t, g.Close())
	_, err := net.DialTimeout("tcp", strings.TrimPrefix(g.Endpoint().URL, "http://"), time.Second)
	require.Error(t, err, "the port is free")
}

func TestRetryAfterForms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value string
		least, most time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second, 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{"Retry-After", "-3", 0, 0},
		{"Retry-After", "soon", 0, 0},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 59 * time.Minute, time.Hour},
	} {
		t.Run(tc.name+" "+tc.value, func(t *testing.T) {
			t.Parallel()
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(tc.name, tc.value)
				w.WriteHeader(529)
			}))
			defer upstream.Close()
			g := through(t, upstream.URL)
			resp, err := begin(t, g, "Go.").send(t.Context())
			require.NoError(t, err)
			resp.Body.Close()
			got := g.Log()[0].Failure.RetryAfter
			assert.GreaterOrEqual(t, got, tc.least)
			assert.LessOrEqual(t, got, tc.most)
		})
	}
}

// The provider's own word for an error says more than the status does; the words of the message say nothing.
func TestWordsOfProviders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status    int
		body      string
		kind      agents.ErrorKind
		retryable bool
	}{
		{400, `{"error":{"type":"invalid_request_error","message":"401 rate limit credit"}}`, agents.Protocol, false},
		{400, `{"error":{"type":"billing_error"}}`, agents.Quota, false},
		{402, ``, agents.Quota, false},
		{429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}`, agents.Quota, false},
		{429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, agents.RateLimit, true},
		{404, `{"error":{"type":"not_found_error"}}`, agents.Protocol, false},
		{413, `{"error":{"type":"request_too_large"}}`, agents.Protocol, false},
		{503, `<html>`, agents.Overloaded, true},
		{504, ``, agents.Network, true},
		{408, ``, agents.Network, true},
		{500, `{"error":{"type":"invalid_request_error"}}`, agents.Overloaded, true},
		{302, ``, agents.Protocol, false},
		{204, ``, agents.Protocol, true},
		{200, `{"type":"error","error":{"type":"rate_limit_error"}}`, agents.RateLimit, true},
		{200, `{"type":"error","error":{"type":"invalid_request_error"}}`, agents.Protocol, false},
		{200, `{"id":"x","choices":[]}`, agents.Protocol, true},
		{200, `{"type":"mess`, agents.Protocol, true},
		{200, `["message"]`, agents.Protocol, true},
		{200, "\n", agents.Protocol, true},
	} {
		t.Run(fmt.Sprint(tc.status, tc.body), func(t *testing.T) {
			t.Parallel()
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer upstream.Close()
			g := through(t, upstream.URL)
			resp, err := begin(t, g, "Go.").send(t.Context())
			require.NoError(t, err)
			got, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, tc.status, resp.StatusCode)
			assert.Equal(t, tc.body, string(got), "it passes as it is")
			f := g.Log()[0].Failure
			require.NotNil(t, f)
			assert.Equal(t, tc.kind, f.Kind)
			assert.Equal(t, tc.retryable, f.Retryable)
			assert.Empty(t, resp.Header.Get("Location"))
		})
	}
}

// An error in the middle of a stream, and a refusal of the model, which is none.
func TestStreamsThatEndOtherwise(t *testing.T) {
	t.Parallel()
	start := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":7,\"output_tokens\":1}}}\n\n"
	for name, tc := range map[string]struct {
		stream string
		kind   agents.ErrorKind
		usage  agents.Usage
	}{
		"error event": {start + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n", agents.Overloaded, agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"refusal":     {start + "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"},\"usage\":{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\n", "", agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 9}},
		"CRLF":        {strings.ReplaceAll(start+"data: {\"type\":\"message_stop\"}\n\n", "\n", "\r\n"), "", agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"no end":      {start, agents.Network, agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"nothing":     {"", agents.Protocol, agents.Usage{}},
		"unknown":     {start + "event: news\ndata: {\"type\":\"news\"}\n\ndata: {\"type\":\ndata: \"message_stop\"}\n\n", "", agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"CR alone":    {strings.ReplaceAll(start+"data: {\"type\":\"message_stop\"}\n\n", "\n", "\r"), "", agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"max tokens":  {start + "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\n", "", agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 9}},
		"half an end": {start + "data: {\"type\":\"message_stop\"}", agents.Network, agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"no type":     {start + "data: {}\n\n", agents.Protocol, agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"after it":    {start + "data: {\"type\":\"message_stop\"}\n\ndata: nonsense\n\n", "", agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"wrong kind":  {start + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}\n\n", agents.Auth, agents.Usage{InputTokens: 5, CachedTokens: 7, OutputTokens: 1}},
		"comments":    {": hello\n\n", agents.Protocol, agents.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				for i := range len(tc.stream) { // byte by byte
					fmt.Fprint(w, tc.stream[i:i+1])
					_ = http.NewResponseController(w).Flush()
				}
			}))
			defer upstream.Close()
			g := through(t, upstream.URL)
			resp, err := begin(t, g, "Go.").send(t.Context())
			require.NoError(t, err)
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			require.NoError(t, err)
			assert.Equal(t, tc.stream, string(got))
			eventually(t, func() bool { return !g.Log()[0].Ended.IsZero() }, "it is over")
			x := g.Log()[0]
			if tc.kind == "" {
				assert.Nil(t, x.Failure)
			} else if assert.NotNil(t, x.Failure) {
				assert.Equal(t, tc.kind, x.Failure.Kind)
			}
			assert.Equal(t, tc.usage, x.Usage)
		})
	}
}
