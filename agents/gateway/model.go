package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// A Model is a scripted model in memory: an [http.RoundTripper] for the client of a provider's API that an author's own program has.
// There is no socket, so that it works in a bubble of testing/synctest, too, where the waits of a script take no time. It takes any
// key, any host and any path before that of the API. All methods are safe for concurrent use.
//
//	model, err := gateway.NewModel(agents.OpenAIChat, script.Call("lookup", map[string]any{"word": "gopher"}), script.Say("An animal."))
//	if err != nil {
//		t.Fatal(err)
//	}
//	answer := ask(&http.Client{Transport: model}, "What is a gopher?")
//	for _, r := range model.Requests() {
//		t.Logf("%s", r.Body)
//	}
//
// A script's failures come as a provider's: with their status, as a reset connection ([agents.Network]), as an answer that makes no
// sense ([agents.Protocol]) or as none before the request's context ends ([agents.Timeout]).
type Model struct {
	gateway *Gateway
	player  *player

	mu       sync.Mutex
	received []Received
}

// Received is a model request as a Model got it.
type Received struct {
	Request
	Header http.Header
	Body   []byte // JSON, in the provider's words
}

// NewModel is a model that plays a script in a wire format. Relative paths in it stay as they are.
func NewModel(wire agents.Wire, steps ...script.Step) (*Model, error) {
	d, err := dialectOf(wire)
	if err != nil {
		return nil, fmt.Errorf("gateway: new model: %w", err)
	}
	m := &Model{gateway: new(Gateway)}
	m.gateway.opts = Options{Wire: wire, Script: steps, Bare: true, Admit: m.receive}
	m.player = &player{api{m.gateway, d}, newScripted(d, steps, "")}
	return m, nil
}

// Requests are the model requests so far, in order of arrival: a copy.
func (m *Model) Requests() []Received {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Clone(m.received)
	slices.SortFunc(out, func(a, b Received) int { return a.N - b.N })
	for i, r := range out {
		out[i].Header, out[i].Body, out[i].Results = r.Header.Clone(), bytes.Clone(r.Body), slices.Clone(r.Results)
	}
	return out
}

// Log is what became of each of them, in the same order: a copy.
func (m *Model) Log() []Exchange { return m.gateway.Log() }

// receivedKey is the key of what came, in the context of a request.
type receivedKey struct{}

func (m *Model) receive(ctx context.Context, r Request) error {
	came, _ := ctx.Value(receivedKey{}).(Received)
	came.Request = r
	m.mu.Lock()
	defer m.mu.Unlock()
	m.received = append(m.received, came)
	return nil
}

// RoundTrip answers a request. The body of the answer comes as the script has it, and has to be closed.
func (m *Model) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, fmt.Errorf("gateway: read request: %w", err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), receivedKey{}, Received{Header: r.Header.Clone(), Body: body}))
	in := r.Clone(ctx)
	in.Body, in.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if i := strings.Index(in.URL.Path, "/v1/"); i > 0 { // the API of a company's own host may lie deeper
		in.URL.Path, in.URL.RawPath = in.URL.Path[i:], ""
	}
	w := newPiped(r, cancel)
	stop := context.AfterFunc(ctx, func() { _ = w.w.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer stop()
		m.serve(w, in)
	}()
	select {
	case <-w.begun:
		return w.resp, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (m *Model) serve(w *piped, r *http.Request) {
	defer func() {
		switch e := recover(); e {
		case nil:
			w.WriteHeader(http.StatusOK)
			_ = w.w.Close()
		case http.ErrAbortHandler: // a connection that is reset, unless the client went away first
			w.cancel(&net.OpError{Op: "read", Net: "memory", Err: syscall.ECONNRESET})
			_ = w.w.CloseWithError(context.Cause(r.Context()))
		default:
			panic(e)
		}
	}()
	m.player.ServeHTTP(w, r)
}

// piped is the writer of an answer that somebody reads as it is written.
type piped struct {
	resp   *http.Response
	header http.Header
	w      *io.PipeWriter
	cancel context.CancelCauseFunc
	once   sync.Once
	begun  chan struct{} // closed with the header
}

func newPiped(r *http.Request, cancel context.CancelCauseFunc) *piped {
	reader, writer := io.Pipe()
	w := &piped{header: http.Header{}, w: writer, cancel: cancel, begun: make(chan struct{})}
	w.resp = &http.Response{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r,
		Body: struct {
			io.Reader
			io.Closer
		}{reader, closer(func() error {
			cancel(errClosed)
			return reader.Close()
		})}}
	return w
}

type closer func() error

func (c closer) Close() error { return c() }

var errClosed = errors.New("gateway: the body of the answer was closed")

func (w *piped) Header() http.Header { return w.header }

func (w *piped) WriteHeader(status int) {
	w.once.Do(func() {
		w.resp.StatusCode, w.resp.Status = status, fmt.Sprintf("%d %s", status, http.StatusText(status))
		w.resp.Header = w.header.Clone()
		close(w.begun)
	})
}

func (w *piped) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.w.Write(p)
}

// Flush does nothing: nothing is held back.
func (w *piped) Flush() {}
