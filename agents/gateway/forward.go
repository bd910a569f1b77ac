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
	api
	base    *url.URL
	header  http.Header
	secrets *hush
}

func newForward(a api, p *agents.Provider) (*forward, error) {
	base, err := url.Parse(strings.TrimRight(p.URL, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("the provider's URL is no base URL of an API, such as https://api.example.com")
	}
	f := &forward{api: a, base: base, header: http.Header{}}
	for name, values := range p.Header {
		for _, v := range values {
			f.header.Add(name, v)
		}
	}
	if base.User != nil && f.header.Get("Authorization") == "" {
		password, _ := base.User.Password()
		r := http.Request{Header: f.header}
		r.SetBasicAuth(base.User.Username(), password)
	}
	base.User = nil
	f.secrets = newHush(f.header)
	return f, nil
}

// client reaches providers. Sessions share its connections.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}, // a dead connection is no slow model
		TLSHandshakeTimeout:   20 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    true, // what passes is to be read along
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (f *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if slices.Contains(strings.Split(r.URL.Path, "/"), "..") {
		f.fail(w, http.StatusNotFound, "the path leaves the API")
		return
	}
	if f.dialect.route(r) == asks {
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
	secrets := f.secrets.keys
	if resp.StatusCode >= 400 {
		secrets = f.secrets.all
	}
	if err := copyAsItComes(w, resp.Body, &sieve{secrets: secrets}, func([]byte) {}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// create passes a model request.
func (f *forward) create(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		f.fail(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	q, err := f.dialect.parse(r, unpacked(r, body))
	note := ""
	if err != nil {
		q, note = new(query), err.Error() // the provider is going to say what it thinks of it
	}
	x := f.gateway.arrive(r.Context(), &q.Request)
	defer x.end(Cut) // unless it ended otherwise before
	x.update(func(e *Exchange) { e.State, e.Admitted, e.Note = Answering, time.Now(), note })
	resp, err := f.send(r, bytes.NewReader(body))
	if err != nil {
		if r.Context().Err() == nil {
			failure := unreachable(f.base.Host, err, f.secrets.error(cause(err)))
			x.update(func(e *Exchange) { e.Failure, e.Error = failure, "unreachable" })
			x.end(Answered)
		}
		f.unreached(w, r, err)
		return
	}
	defer resp.Body.Close()
	m := &meter{x: x, reader: f.dialect.reader(), progress: f.gateway.opts.Progress}
	m.begin(resp.StatusCode)
	if err := decoded(resp); err != nil {
		m.fail(senseless("its compression: %v", err))
		x.end(Answered)
		f.fail(w, http.StatusBadGateway, "an answer that cannot be read came from "+f.base.Host)
		return
	}
	if good(resp) && isStream(resp.Header) {
		f.stream(w, r, resp, m)
	} else {
		f.whole(w, r, resp, m)
	}
}

// stream passes an answer on as it comes. What a piece of it says is known before the agent gets the piece.
func (f *forward) stream(w http.ResponseWriter, r *http.Request, resp *http.Response, m *meter) {
	f.head(w, resp)
	_ = http.NewResponseController(w).Flush() // the agent is to know that the answer has begun
	err := copyAsItComes(w, resp.Body, &sieve{secrets: f.secrets.keys}, m.lines)
	if gone := new(writeError); errors.As(err, gone) || r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // no doing of the provider's
	}
	m.end(f.secrets.error(err))
	if err != nil {
		panic(http.ErrAbortHandler) // cut here as it was cut there
	}
}

// whole passes an answer on in one piece: an error, or a message that is no stream.
func (f *forward) whole(w http.ResponseWriter, r *http.Request, resp *http.Response, m *meter) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRequest))
	secrets, state := f.secrets.all, Answered
	switch {
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler)
	case err != nil:
		m.fail(broken(f.secrets.error(err)))
		state = Cut
	case good(resp):
		if m.whole(body); m.failure == nil {
			secrets = f.secrets.keys
		}
	default:
		body = take(secrets, body)
		m.refused(resp.StatusCode, resp.Header, body)
	}
	m.x.end(state)
	f.head(w, resp)
	if _, werr := w.Write(take(secrets, body)); err != nil || werr != nil {
		panic(http.ErrAbortHandler)
	}
}

// send makes the request of the agent one of the gateway.
func (f *forward) send(r *http.Request, body io.Reader) (*http.Response, error) {
	target := *f.base
	target.Path, target.RawPath = f.base.Path+r.URL.Path, f.base.EscapedPath()+r.URL.EscapedPath()
	if target.RawQuery = r.URL.RawQuery; strings.Contains(target.RawQuery, f.gateway.token) { // a key in the query
		values := r.URL.Query()
		values.Del("key")
		target.RawQuery = values.Encode()
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, target.String(), body)
	if err != nil {
		return nil, err
	}
	if _, whole := body.(*bytes.Reader); !whole {
		if out.ContentLength = r.ContentLength; r.ContentLength == 0 {
			out.Body = http.NoBody // else its length is not known
		}
	}
	out.Header = r.Header.Clone()
	dropHops(out.Header)
	for _, name := range []string{"Cookie", "Content-Length", "Forwarded", "X-Forwarded-For"} {
		out.Header.Del(name)
	}
	if out.Header["User-Agent"] == nil {
		out.Header["User-Agent"] = nil // none of our own
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
	f.fail(w, http.StatusBadGateway, fmt.Sprintf("no answer from %s: %v", f.base.Host, f.secrets.error(cause(err))))
}

// cause is err without the URL that net/http puts before it: a company's may hold what is not for everybody.
func cause(err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// head begins the answer as the provider did.
func (f *forward) head(w http.ResponseWriter, resp *http.Response) {
	h := w.Header()
	for name, values := range resp.Header {
		for _, v := range values {
			h.Add(name, string(take(f.secrets.all, []byte(v))))
		}
	}
	dropHops(h)
	for _, name := range []string{"Set-Cookie", "Location", "Content-Length", "Alt-Svc", "Strict-Transport-Security"} {
		h.Del(name)
	}
	w.WriteHeader(resp.StatusCode)
}

// decoded undoes a compression that was not asked for.
func decoded(resp *http.Response) error {
	switch encoding := resp.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return nil
	case "gzip":
	default:
		return fmt.Errorf("%q was not asked for", encoding)
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

func good(resp *http.Response) bool { return resp.StatusCode/100 == 2 }

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

// copyAsItComes copies what passes the sieve, and shows each piece before it is written on.
func copyAsItComes(w http.ResponseWriter, r io.Reader, s *sieve, see func([]byte)) error {
	flush := http.NewResponseController(w).Flush
	on := func(p []byte) error {
		if len(p) == 0 {
			return nil
		}
		see(p)
		if _, err := w.Write(p); err != nil {
			return writeError{err}
		}
		if err := flush(); err != nil {
			return writeError{err}
		}
		return nil
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if werr := on(s.pass(buf[:n])); werr != nil {
			return werr
		}
		if err == nil {
			continue
		}
		if werr := on(s.rest()); werr != nil {
			return werr
		}
		if err == io.EOF { // an end that was not foreseen is another error
			return nil
		}
		return err
	}
}
