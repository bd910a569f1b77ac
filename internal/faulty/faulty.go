// Package faulty is a model's provider for tests, on loopback: it plays a script, and fails where it is told to.
//
//	p := faulty.Start(t, faulty.Plan{Fault: faulty.Overloaded, At: 2, Forever: true}, script.Run("go test ./..."))
//	t.Setenv("ANTHROPIC_BASE_URL", p.URL)
package faulty

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Fault is a way in which a provider fails a request.
type Fault string

const (
	None             Fault = ""
	Unauthorized     Fault = "401"
	Forbidden        Fault = "403"
	RateLimited      Fault = "429"
	RateLimitedAfter Fault = "429 with Retry-After" // of a second
	Internal         Fault = "500"
	Overloaded       Fault = "529"
	Refused          Fault = "connection refused"
	Cut              Fault = "cut mid-stream"
	Malformed        Fault = "malformed stream"
	Page             Fault = "an HTML page with 200"
	Drip             Fault = "an endless drip" // pings
	Babble           Fault = "an endless answer"
	Silence          Fault = "silence"
)

// Faults are all of them.
var Faults = []Fault{Unauthorized, Forbidden, RateLimited, RateLimitedAfter, Internal, Overloaded, Refused, Cut, Malformed, Page, Drip, Babble, Silence}

// Plan says what fails.
type Plan struct {
	Fault   Fault
	At      int           // the number of the model request, from 1, that fails first. Requests on the side, without tools, never do
	Forever bool          // all that follow fail, too
	Model   string        // that answers; "": the one that is asked for
	Latency time.Duration // before each answer
	Key     string        // what lets in, as a key or a bearer; "": "test-key"
}

// Provider is a provider at work.
type Provider struct {
	URL string

	plan   Plan
	inner  http.Handler
	addr   string
	closed bool

	mu       sync.Mutex
	listener net.Listener
	server   *http.Server
	requests int
	headers  []http.Header
	stop     chan struct{}
	wg       sync.WaitGroup
}

// Start starts a provider that ends with the test.
func Start(t testing.TB, plan Plan, steps ...script.Step) *Provider {
	t.Helper()
	g, err := gateway.Open(gateway.Options{Wire: agents.AnthropicMessages, Script: steps, Dir: "/ws"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	e := g.Endpoint()
	target, err := url.Parse(e.URL)
	require.NoError(t, err)
	if plan.Key == "" {
		plan.Key = "test-key"
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	p := &Provider{plan: plan, stop: make(chan struct{})}
	p.inner = &httputil.ReverseProxy{
		FlushInterval: -1, Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
			r.Out.Header.Del("Authorization")
			r.Out.Header.Set("X-Api-Key", e.Token)
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	if plan.Model != "" {
		p.inner = renamed(p.inner, plan.Model)
	}
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.addr = p.listener.Addr().String()
	p.URL = "http://" + p.addr
	p.serve(p.listener)
	t.Cleanup(p.end)
	return p
}

func (p *Provider) serve(l net.Listener) {
	s := &http.Server{Handler: p, ReadHeaderTimeout: 30 * time.Second}
	p.server = s
	p.wg.Go(func() { _ = s.Serve(l) })
}

func (p *Provider) end() {
	p.mu.Lock()
	p.closed = true
	s := p.server
	p.mu.Unlock()
	close(p.stop)
	_ = s.Close()
	p.wg.Wait()
}

// Requests is the number of model requests so far, those on the side not counted.
func (p *Provider) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// Headers are those of all requests so far.
func (p *Provider) Headers() []http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]http.Header(nil), p.headers...)
}

func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var in struct {
		Tools  []json.RawMessage `json:"tools"`
		Stream bool              `json:"stream"`
		Model  string            `json:"model"`
	}
	_ = json.Unmarshal(body, &in) // the inner one answers what makes no sense
	main := r.URL.Path == "/v1/messages" && len(in.Tools) > 0
	p.mu.Lock()
	p.headers = append(p.headers, r.Header.Clone())
	if main {
		p.requests++
	}
	n := p.requests
	p.mu.Unlock()
	if key := r.Header.Get("X-Api-Key"); key != p.plan.Key && r.Header.Get("Authorization") != "Bearer "+p.plan.Key {
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key "+key)
		return
	}
	if p.plan.Latency > 0 {
		select {
		case <-time.After(p.plan.Latency):
		case <-r.Context().Done():
			return
		}
	}
	if main && p.plan.Fault != None && (n == p.plan.At || n > p.plan.At && p.plan.Forever) {
		p.fail(w, r, in.Stream, in.Model)
		return
	}
	p.inner.ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
}

func (p *Provider) fail(w http.ResponseWriter, r *http.Request, stream bool, model string) {
	switch p.plan.Fault {
	case Unauthorized:
		refuse(w, 401, "authentication_error", "invalid x-api-key")
	case Forbidden:
		refuse(w, 403, "permission_error", "not for you")
	case RateLimitedAfter:
		w.Header().Set("Retry-After", "1")
		refuse(w, 429, "rate_limit_error", "slow down")
	case RateLimited:
		refuse(w, 429, "rate_limit_error", "slow down")
	case Internal:
		refuse(w, 500, "api_error", "oops")
	case Overloaded:
		refuse(w, 529, "overloaded_error", "Overloaded")
	case Refused:
		p.goAway()
		panic(http.ErrAbortHandler)
	case Page:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Sign in</title><p>Please sign in to the network.")
	case Silence:
		p.hang(r, nil)
	default:
		p.stream(w, r, stream, model)
	}
}

// stream begins an answer that goes wrong.
func (p *Provider) stream(w http.ResponseWriter, r *http.Request, stream bool, model string) {
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"msg_`)
		if p.plan.Fault != Malformed {
			flush(w)
			panic(http.ErrAbortHandler)
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if p.plan.Fault == Malformed {
		fmt.Fprint(w, "event: message_start\ndata: {\"type\":\"message_start\",\"mess\n\n")
		return
	}
	fmt.Fprintf(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_x\",\"type\":\"message\",\"role\":\"assistant\",\"model\":%q,"+
		"\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"output_tokens\":1}}}\n\n", model)
	fmt.Fprint(w, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	flush(w)
	switch p.plan.Fault {
	case Drip:
		p.hang(r, func() { fmt.Fprint(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n"); flush(w) })
	case Babble:
		p.hang(r, func() {
			fmt.Fprint(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"la \"}}\n\n")
			flush(w)
		})
	}
	panic(http.ErrAbortHandler)
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// hang holds the request until the client goes away.
func (p *Provider) hang(r *http.Request, beat func()) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-p.stop:
			panic(http.ErrAbortHandler)
		case <-tick.C:
			if beat != nil {
				beat()
			}
		}
	}
}

// goAway closes the port: connections are refused from now on, or for a moment.
func (p *Provider) goAway() {
	p.mu.Lock()
	s := p.server
	p.mu.Unlock()
	go func() { _ = s.Close() }()
	_ = p.listener.Close()
	if p.plan.Forever {
		return
	}
	p.wg.Go(func() {
		time.Sleep(300 * time.Millisecond)
		for range 100 {
			p.mu.Lock()
			if p.closed {
				p.mu.Unlock()
				return
			}
			l, err := net.Listen("tcp", p.addr)
			if err == nil {
				p.listener = l
				p.serve(l)
				p.mu.Unlock()
				return
			}
			p.mu.Unlock()
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// renamed has another model answer.
func renamed(next http.Handler, model string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in map[string]json.RawMessage
		if json.Unmarshal(body, &in) == nil && in["model"] != nil {
			in["model"] = json.RawMessage(fmt.Sprintf("%q", model))
			body, _ = json.Marshal(in) // of what was just read
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}
