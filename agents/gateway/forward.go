package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// forward passes requests on to a provider and its answers back, byte by byte as they come, and reads along.
type forward struct {
	messages // for errors of the gateway's own
	gateway  *Gateway
	base     *url.URL
	header   http.Header
	secrets  []string // what of the header must not come back
}

func newForward(g *Gateway, p *agents.Provider) (*forward, error) {
	base, err := url.Parse(strings.TrimSuffix(p.URL, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("%q is no base URL of an API", p.URL)
	}
	f := &forward{messages: messages{gateway: g}, gateway: g, base: base, header: p.Header.Clone()}
	for _, values := range f.header {
		for _, v := range values {
			if credential := v[strings.LastIndexByte(v, ' ')+1:]; len(credential) >= 8 {
				f.secrets = append(f.secrets, credential)
			}
		}
	}
	return f, nil
}

// client reaches providers. Sessions share its connections.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   20 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    true, // what passes is to be read along
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (f *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && strings.TrimSuffix(r.URL.Path, "/") == "/v1/messages" {
		f.create(w, r)
		return
	}
	resp, err := f.send(r, http.MaxBytesReader(nil, r.Body, maxRequest))
	if err != nil {
		f.unreached(w, r, err)
		return
	}
	defer resp.Body.Close()
	f.head(w, resp)
	if err := copyAsItComes(w, resp.Body, func([]byte) {}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// create passes a model request.
func (f *forward) create(w http.ResponseWriter, r *http.Request) {
	body, q, err := readQuery(r)
	if err != nil {
		f.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	x := f.gateway.arrive(r.Context(), &q.Request)
	defer x.end(Cut) // unless it ended otherwise before
	x.update(func(e *Exchange) { e.State, e.Admitted = Answering, time.Now() })
	resp, err := f.send(r, bytes.NewReader(body))
	if err != nil {
		if r.Context().Err() == nil {
			failure := unreachable(f.base.Host, f.hushed(err))
			x.update(func(e *Exchange) { e.Failure, e.Error = failure, "unreachable" })
			defer x.end(Answered)
		}
		f.unreached(w, r, err)
		return
	}
	defer resp.Body.Close()
	x.update(func(e *Exchange) { e.Status, e.FirstByte = resp.StatusCode, time.Now() })
	m := &meter{x: x, progress: f.gateway.opts.Progress}
	if resp.StatusCode == http.StatusOK && f.encoded(resp) == nil && isStream(resp.Header) {
		f.stream(w, r, resp, m)
	} else {
		f.whole(w, r, resp, m)
	}
}

// stream passes an answer on as it comes. What a piece of it says is known before the agent gets the piece.
func (f *forward) stream(w http.ResponseWriter, r *http.Request, resp *http.Response, m *meter) {
	f.head(w, resp)
	_ = http.NewResponseController(w).Flush() // the agent is to know that the answer has begun
	err := copyAsItComes(w, resp.Body, m.lines)
	if gone := new(writeError); errors.As(err, gone) || r.Context().Err() != nil {
		if m.failure != nil {
			f.close(m) // it went away because of that
		}
		panic(http.ErrAbortHandler) // else it is no doing of the provider's
	}
	m.end(f.hushed(err))
	f.close(m)
	if err != nil {
		panic(http.ErrAbortHandler) // cut here as it was cut there
	}
}

// whole passes an answer on in one piece: an error, or a message that is no stream.
func (f *forward) whole(w http.ResponseWriter, r *http.Request, resp *http.Response, m *meter) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRequest))
	switch {
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler)
	case err != nil:
		m.fail(broken(f.hushed(err)))
	case resp.StatusCode == http.StatusOK:
		m.whole(body)
	default:
		body = f.hush(body)
		failure := refusal(resp.StatusCode, resp.Header, body)
		m.x.update(func(e *Exchange) { e.Error, e.RetryAfter = readError(body).kind(), failure.RetryAfter })
		m.fail(failure)
	}
	f.close(m)
	f.head(w, resp)
	_, werr := w.Write(body)
	if err != nil || werr != nil {
		panic(http.ErrAbortHandler)
	}
}

// close writes down how the answer ended.
func (f *forward) close(m *meter) {
	m.x.update(func(e *Exchange) { e.Failure = m.failure })
	m.x.end(Answered)
}

// send makes the request of the agent one of the gateway.
func (f *forward) send(r *http.Request, body io.Reader) (*http.Response, error) {
	target := *f.base
	target.Path = strings.TrimSuffix(f.base.Path, "/") + r.URL.Path
	target.RawQuery = r.URL.RawQuery
	out, err := http.NewRequestWithContext(r.Context(), r.Method, target.String(), body)
	if err != nil {
		return nil, err
	}
	if _, whole := body.(*bytes.Reader); !whole {
		out.ContentLength = r.ContentLength
	}
	out.Header = r.Header.Clone()
	dropHops(out.Header)
	for _, name := range []string{"Accept-Encoding", "Cookie", "Content-Length"} {
		out.Header.Del(name)
	}
	out.Header.Set("Accept-Encoding", "identity")
	if !f.gateway.ownLogin() {
		out.Header.Del("X-Api-Key")
		out.Header.Del("Authorization")
		out.Header.Del("X-Goog-Api-Key")
	}
	for name, values := range f.header {
		out.Header[name] = slices.Clone(values)
	}
	return client.Do(out)
}

// unreached answers a request that got no answer, as a provider would.
func (f *forward) unreached(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	f.fail(w, http.StatusBadGateway, "api_error", fmt.Sprintf("no answer from %s: %v", f.base.Host, f.hushed(err)))
}

// head begins the answer as the provider did.
func (f *forward) head(w http.ResponseWriter, resp *http.Response) {
	h := w.Header()
	for name, values := range resp.Header {
		for _, v := range values {
			h.Add(name, string(f.hush([]byte(v))))
		}
	}
	dropHops(h)
	for _, name := range []string{"Set-Cookie", "Location", "Content-Length", "Alt-Svc", "Strict-Transport-Security"} {
		h.Del(name)
	}
	w.WriteHeader(resp.StatusCode)
}

// hush takes what authenticates out of what the agent gets to see: some providers quote a key that they refuse.
func (f *forward) hush(text []byte) []byte {
	for _, s := range f.secrets {
		text = bytes.ReplaceAll(text, []byte(s), []byte("‹key›"))
	}
	return text
}

func (f *forward) hushed(err error) error {
	if err == nil || len(f.secrets) == 0 {
		return err
	}
	if text := string(f.hush([]byte(err.Error()))); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// encoded undoes a compression that was not asked for.
func (f *forward) encoded(resp *http.Response) error {
	if resp.Header.Get("Content-Encoding") != "gzip" {
		return nil
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		return err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{z, resp.Body}
	resp.Header.Del("Content-Encoding")
	return nil
}

func isStream(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// hops are the headers that are between two ends of a connection.
var hops = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func dropHops(h http.Header) {
	for _, value := range h.Values("Connection") {
		for name := range strings.SplitSeq(value, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hops {
		h.Del(name)
	}
}

// writeError is that of an agent that went away.
type writeError struct{ error }

// copyAsItComes copies, and shows each piece before it is written on.
func copyAsItComes(w http.ResponseWriter, r io.Reader, see func([]byte)) error {
	flush := http.NewResponseController(w).Flush
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			see(buf[:n])
			if _, werr := w.Write(buf[:n]); werr != nil {
				return writeError{werr}
			}
			if werr := flush(); werr != nil {
				return writeError{werr}
			}
		}
		if err == io.EOF { // an end that was not foreseen is another error
			return nil
		}
		if err != nil {
			return err
		}
	}
}
