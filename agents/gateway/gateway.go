package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Options say what one session's endpoint is to do.
type Options struct {
	// Wire is the wire format that the agent speaks.
	Wire agents.Wire
	// Provider, when not nil, is where requests are forwarded to; Script is then not used.
	Provider *agents.Provider
	// Script is what the model does. An empty one hands back at once, as does every request after its end.
	Script []script.Step
	// Dir is the agent's workspace, an absolute path: relative paths of the script are joined to it.
	Dir string
	// Bare: the agent has no tools to offer, so that a request without any is as good as another, and none is on the side.
	Bare bool
	// Admit, when not nil, is asked before a model request is answered, by several goroutines at once when the agent has
	// sub-agents. It may block as long as it likes; ctx ends when the agent goes away or the gateway closes, and then it
	// has to return. An error refuses: the connection is closed without an answer.
	Admit func(ctx context.Context, r Request) error
	// Progress, when not nil, is called whenever an answer of the provider makes progress: its first byte, its content. Pings
	// and comments are none. It is called by several goroutines at once, and has to be quick.
	Progress func()
}

// A Gateway is an open endpoint. Its methods are safe for concurrent use.
type Gateway struct {
	opts   Options
	token  string
	host   string // of the listener, with its port
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
	d, err := dialectOf(o.Wire)
	if err != nil {
		return nil, fmt.Errorf("gateway: open: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("gateway: open: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &Gateway{opts: o, token: "evaltest-" + rand.Text(), host: l.Addr().String(), stop: stop}
	g.url = "http://" + g.host
	speaks := api{gateway: g, dialect: d}
	var h handler = &player{speaks, newScripted(d, o.Script, o.Dir)}
	if o.Provider != nil {
		f, err := newForward(speaks, o.Provider)
		if err != nil {
			stop()
			_ = l.Close()
			return nil, fmt.Errorf("gateway: open: %w", err)
		}
		h = f
	}
	g.server = &http.Server{
		Handler:           g.admitted(h),
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:          discard,
	}
	g.handlers.Go(func() { _ = g.server.Serve(l) })
	return g, nil
}

// ownLogin reports whether the agent presents a credential of its own, which is forwarded. What lets it in is then a secret
// in the path.
func (g *Gateway) ownLogin() bool { return g.opts.Provider != nil && len(g.opts.Provider.Login) > 0 }

// Endpoint is what the agent is given to reach its model by.
func (g *Gateway) Endpoint() agents.Endpoint {
	if g.ownLogin() {
		return agents.Endpoint{URL: g.url + "/" + g.token}
	}
	return agents.Endpoint{URL: g.url, Token: g.token}
}

// Waiting is since when the provider has given nothing: the oldest request that is being answered, and has made no progress
// since then. It is false when there is none.
func (g *Gateway) Waiting() (since time.Time, ok bool) { return g.log.waiting() }

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

// handler serves the API of a provider.
type handler interface {
	http.Handler
	// fail answers with an error in the format of the API.
	fail(w http.ResponseWriter, status int, text string)
}

// admitted lets in who has the token, and counts the handlers that run.
func (g *Gateway) admitted(next handler) http.Handler {
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
		case !g.local(r):
			next.fail(w, http.StatusForbidden, "this endpoint serves its own machine alone")
		case !g.knows(r):
			if isRead(r) && r.URL.Path == "/" {
				w.WriteHeader(http.StatusOK) // a probe: is anyone there?
				return
			}
			next.fail(w, http.StatusUnauthorized, "invalid API key")
		case isRead(r) && r.URL.Path == "/":
			w.WriteHeader(http.StatusOK)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// local reports whether r comes from this machine and is meant for this endpoint: a page in a browser can be made to ask
// 127.0.0.1 under a name of its own.
func (g *Gateway) local(r *http.Request) bool {
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(peer).IsLoopback() {
		return false
	}
	_, port, _ := net.SplitHostPort(g.host)
	return r.Host == g.host || r.Host == "localhost:"+port
}

// knows reports whether r carries the token: as a key in a header or in the query, as a bearer, or at the beginning of its path, which
// it is taken from.
func (g *Gateway) knows(r *http.Request) bool {
	same := func(s string) bool { return subtle.ConstantTimeCompare([]byte(s), []byte(g.token)) == 1 }
	if !g.ownLogin() {
		return same(r.Header.Get("X-Api-Key")) || same(r.Header.Get("X-Goog-Api-Key")) || same(bearer(r.Header.Get("Authorization"))) ||
			same(r.URL.Query().Get("key"))
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !same(first) {
		return false
	}
	r.URL.Path, r.URL.RawPath = "/"+rest, strings.TrimPrefix(r.URL.RawPath, "/"+g.token)
	return true
}
