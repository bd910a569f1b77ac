package gateway_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/internal/faulty"
)

const (
	started = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
	called  = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\"}}\n\n"
	stopped = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

// serve is a provider that does what handle does, once it has read a request.
func serve(t testing.TB, handle http.HandlerFunc) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// What the agent has read is in the log: it may be over the moment that it has, and the gateway with it, while the provider
// still holds the connection.
func TestLogKnowsWhatTheAgentHasRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stream string
		check  func(t *testing.T, x gateway.Exchange)
	}{
		"the end": {started + stopped, func(t *testing.T, x gateway.Exchange) {
			assert.Equal(t, gateway.Answered, x.State)
			assert.Nil(t, x.Failure)
		}},
		"an error": {started + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", func(t *testing.T, x gateway.Exchange) {
			assert.Equal(t, gateway.Answered, x.State)
			if assert.NotNil(t, x.Failure) {
				assert.Equal(t, agents.Overloaded, x.Failure.Kind)
			}
		}},
		"nonsense": {started + "event: news\ndata: {\"type\":\n\n", func(t *testing.T, x gateway.Exchange) {
			if assert.NotNil(t, x.Failure) {
				assert.Equal(t, agents.Protocol, x.Failure.Kind)
			}
		}},
		"a call": {started + called, func(t *testing.T, x gateway.Exchange) {
			assert.Equal(t, []string{"t"}, x.Calls)
			assert.Equal(t, gateway.Cut, x.State)
			assert.Nil(t, x.Failure, "the agent left")
			assert.Equal(t, agents.Usage{InputTokens: 5, OutputTokens: 1}, x.Usage)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, tc.stream)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})
			g := through(t, url)
			resp, err := begin(t, g, "Go.").send(t.Context())
			require.NoError(t, err)
			defer resp.Body.Close()
			got := make([]byte, len(tc.stream))
			_, err = io.ReadFull(resp.Body, got)
			require.NoError(t, err)
			require.NoError(t, g.Close())
			tc.check(t, g.Log()[0])
		})
	}
}

// Pings and silence are no progress, content is.
func TestWaitingForProgress(t *testing.T) {
	t.Parallel()
	for _, fault := range []faulty.Fault{faulty.Silence, faulty.Drip, faulty.Babble} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			p := faulty.Start(t, faulty.Plan{Key: key, Fault: fault, At: 1}, script.Run("ls"))
			var progress atomic.Int64
			g := through(t, p.URL, func(o *gateway.Options) { o.Progress = func() { progress.Add(1) } })
			_, ok := g.Waiting()
			require.False(t, ok)
			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan struct{})
			var read atomic.Int64
			go func() {
				defer close(gone)
				resp, err := begin(t, g, "Go.").send(ctx)
				if err != nil {
					return
				}
				defer resp.Body.Close()
				buf := make([]byte, 4096)
				for err == nil {
					var n int
					n, err = resp.Body.Read(buf)
					read.Add(int64(n))
				}
			}()
			begun := map[faulty.Fault]int64{faulty.Silence: 0, faulty.Drip: 3, faulty.Babble: 4}[fault] // headers, message, block, more
			eventually(t, func() bool { _, ok := g.Waiting(); return ok && progress.Load() >= begun }, "it is under way")
			before, _ := g.Waiting()
			switch fault {
			case faulty.Babble:
				eventually(t, func() bool { since, ok := g.Waiting(); return ok && since.After(before) && progress.Load() > begun }, "content counts")
			case faulty.Drip:
				had := read.Load()
				eventually(t, func() bool { return read.Load() > had+200 }, "pings come")
				fallthrough
			default:
				time.Sleep(50 * time.Millisecond)
				since, ok := g.Waiting()
				require.True(t, ok)
				assert.Equal(t, before, since)
				assert.Equal(t, begun, progress.Load())
			}
			leave()
			<-gone
			eventually(t, func() bool { _, ok := g.Waiting(); return !ok }, "nobody waits")
			assert.Equal(t, gateway.Cut, g.Log()[0].State)
			assert.Nil(t, g.Log()[0].Failure, "the agent left")
			begin(t, g, "Go.").ask()
			assert.Equal(t, 2, p.Requests())
			assert.Nil(t, gateway.Unhealed(g.Log()))
		})
	}
}

// Close ends streams at once, here and at the provider, and leaves nothing behind.
func TestCloseDuringStreams(t *testing.T) { //nolint:paralleltest // counts goroutines
	var open, reading atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		open.Add(1)
		defer open.Add(-1)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, started)
		for r.Context().Err() == nil {
			fmt.Fprint(w, called)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
		}
	}))
	g := through(t, upstream.URL)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			resp, err := begin(t, g, "Go.").send(context.WithoutCancel(t.Context()))
			if assert.NoError(t, err) {
				reading.Add(1)
				_, err = io.Copy(io.Discard, resp.Body)
				assert.Error(t, err, "it was cut")
				resp.Body.Close()
			}
		})
	}
	eventually(t, func() bool { return reading.Load() == 20 }, "all stream")
	require.NoError(t, g.Close())
	for _, x := range g.Log() {
		assert.Equal(t, gateway.Cut, x.State)
		assert.Nil(t, x.Failure)
	}
	wg.Wait()
	_, err := net.DialTimeout("tcp", strings.TrimPrefix(g.Endpoint().URL, "http://"), time.Second)
	require.Error(t, err, "the port is free")
	eventually(t, func() bool { return open.Load() == 0 }, "the provider's work has ended")
	upstream.Close()
	eventually(t, func() bool {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		return !strings.Contains(stacks, "gateway.(*forward)") && !strings.Contains(stacks, "gateway.(*Gateway)")
	}, "no goroutine is left")
}

// A request that the gateway does not understand is the provider's to judge.
func TestOddRequestsPass(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(string(body))
		assert.Equal(t, int64(len(body)), r.ContentLength)
		fmt.Fprint(w, `{"type":"message","id":"m","model":"x","content":[{"type":"text","text":7}],"usage":{"input_tokens":3,"output_tokens":"many"}}`)
	}))
	defer s.Close()
	g := through(t, s.URL)
	for i, tc := range []struct {
		body string
		side bool
		note string
	}{
		{`{"model":"a","messages":[{"role":"user","content":"Go."}],"tools":[{"name":"x","input_schema":{"properties":{"any":true,"one":{"enum":"no list"}}}},7]}`, false, ""},
		{`{"model":"a","messages":[{"role":"user","content":[{"type":"text","text":["odd"]},"odder"]},7]}`, true, ""},
		{`{"model":"a","messages":[]}`, false, "at least one message"},
		{`nonsense`, false, "decode body"},
		{``, false, "decode body"},
	} {
		r := request(t.Context(), t, g, "/v1/messages", object{})
		r.Body, r.ContentLength, r.GetBody = io.NopCloser(strings.NewReader(tc.body)), int64(len(tc.body)), nil
		resp, err := do(t, r)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode, tc.body)
		resp.Body.Close()
		assert.Equal(t, tc.body, got.Load())
		x := g.Log()[i]
		assert.Equal(t, tc.side, x.Side, tc.body)
		assert.Contains(t, x.Note, tc.note)
		assert.Equal(t, tc.note == "", x.Note == "")
		assert.Equal(t, gateway.Answered, x.State)
		assert.Nil(t, x.Failure)
		assert.Equal(t, int64(3), x.Usage.InputTokens)
	}
}

// Paths pass as they are written, and none leads out of the API.
func TestPathsPassAsTheyAre(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	got.Store("")
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.Store(r.RequestURI) })
	for _, login := range [][]string{nil, {"TOKEN=its-own"}} {
		g := open(t, gateway.Options{Provider: &agents.Provider{URL: url + "/a%2Fb", Login: login}})
		for path, want := range map[string]string{
			"/v1/files/x%2Fy?z=%2F": "/a%2Fb/v1/files/x%2Fy?z=%2F", "/v1//models": "/a%2Fb/v1//models",
			"/v1/../../admin": "", "/v1/%2e%2e/admin": "",
		} {
			got.Store("")
			r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, g.Endpoint().URL+path, nil)
			require.NoError(t, err)
			r.Header.Set("X-Api-Key", g.Endpoint().Token)
			resp, err := do(t, r)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, want, got.Load(), path)
			assert.Equal(t, want == "", resp.StatusCode == http.StatusNotFound)
		}
	}
}

// A certificate that nobody vouches for is a fault of the network; an answer in a form that nobody asked for makes no sense,
// unless it can be read all the same.
func TestTransport(t *testing.T) {
	t.Parallel()
	t.Run("certificate", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		defer s.Close()
		g := through(t, s.URL)
		resp, err := begin(t, g, "Go.").send(t.Context())
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusBadGateway, resp.StatusCode)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Contains(t, string(body), `"type":"api_error"`)
		assert.Equal(t, agents.Network, g.Log()[0].Failure.Kind)
		assert.Zero(t, g.Log()[0].Status, "no answer began")
	})
	for encoding, kind := range map[string]agents.ErrorKind{"gzip": "", "br": agents.Protocol} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Content-Encoding", encoding)
				z := gzip.NewWriter(w)
				_, _ = io.WriteString(z, started+stopped)
				_ = z.Close()
			})
			g := through(t, url)
			resp, err := begin(t, g, "Go.").send(t.Context())
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			x := g.Log()[0]
			if kind == "" {
				assert.Equal(t, started+stopped, string(body))
				assert.Nil(t, x.Failure)
				assert.Equal(t, int64(5), x.Usage.InputTokens)
				return
			}
			require.NotNil(t, x.Failure)
			assert.Equal(t, kind, x.Failure.Kind)
			assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
		})
	}
}

// Long lines, and answers that come in one piece, are read as well.
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"" + strings.Repeat("x", 4<<20) + "\"}}\n\n"
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, started, long, stopped)
	})
	g := through(t, url)
	resp, err := begin(t, g, "Go.").send(t.Context())
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.True(t, bytes.Equal([]byte(started+long+stopped), body))
	assert.Equal(t, gateway.Answered, g.Log()[0].State)
	assert.Nil(t, g.Log()[0].Failure)
}
