package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Options say what one session's endpoint is to do.
type Options struct {
	// Wire is the wire format that the agent speaks.
	Wire agents.Wire
	// Script is what the model does. An empty one hands back at once, as does every request after its end.
	Script []script.Step
	// Dir is the agent's workspace, an absolute path: relative paths of the script are joined to it.
	Dir string
	// Admit, when not nil, is asked before a model request is answered, by several goroutines at once when the agent has
	// sub-agents. It may block as long as it likes; ctx ends when the agent goes away or the gateway closes, and then it
	// has to return. An error refuses: the connection is closed without an answer.
	Admit func(ctx context.Context, r Request) error
}

// A Gateway is an open endpoint. Its methods are safe for concurrent use.
type Gateway struct {
	opts   Options
	token  string
	url    string
	server *http.Server
	log    log
	stop   context.CancelFunc

	handlers sync.WaitGroup
	mu       sync.Mutex
	closed   bool
	once     sync.Once
	closeErr error
}

// Open listens on a free port of 127.0.0.1.
func Open(o Options) (*Gateway, error) {
	if o.Wire != agents.AnthropicMessages {
		return nil, fmt.Errorf("gateway: open: no wire format %q (known: %s)", o.Wire, agents.AnthropicMessages)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("gateway: open: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &Gateway{opts: o, token: "evaltest-" + rand.Text(), url: "http://" + l.Addr().String(), stop: stop}
	g.server = &http.Server{
		Handler:           g.admitted(&messages{gateway: g, upstream: newScripted(o.Script, o.Dir)}),
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:          discard,
	}
	g.handlers.Go(func() { _ = g.server.Serve(l) })
	return g, nil
}

// Endpoint is what the agent is given to reach its model by.
func (g *Gateway) Endpoint() agents.Endpoint { return agents.Endpoint{URL: g.url, Token: g.token} }

// Log is the model requests so far, in order of arrival: a copy.
func (g *Gateway) Log() []Exchange { return g.log.snapshot() }

// Close stops listening, closes every connection, held requests included, and returns when no handler runs any more. It
// may be called twice.
func (g *Gateway) Close() error {
	g.once.Do(func() {
		g.mu.Lock()
		g.closed = true
		g.mu.Unlock()
		g.stop()
		if err := g.server.Close(); err != nil {
			g.closeErr = fmt.Errorf("gateway: close: %w", err)
		}
		g.handlers.Wait()
	})
	return g.closeErr
}

// admitted lets in who has the token, and counts the handlers that run.
func (g *Gateway) admitted(next *messages) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		if g.closed {
			g.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		g.handlers.Add(1)
		g.mu.Unlock()
		defer g.handlers.Done()
		switch {
		case r.URL.Path == "/" && (r.Method == http.MethodHead || r.Method == http.MethodGet):
			w.WriteHeader(http.StatusOK) // a probe: is anyone there?
		case !g.knows(r):
			next.fail(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether r carries the token, as a key or as a bearer.
func (g *Gateway) knows(r *http.Request) bool {
	same := func(s string) bool { return subtle.ConstantTimeCompare([]byte(s), []byte(g.token)) == 1 }
	return same(r.Header.Get("X-Api-Key")) || same(bearer(r.Header.Get("Authorization")))
}
