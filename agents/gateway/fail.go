package gateway

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"

	"github.com/evaltest-go/evaltest/agents"
)

// failures are the provider's errors that have a status: by kind, the status and the type that the provider gives.
var failures = map[agents.ErrorKind]struct {
	status int
	kind   string
}{
	agents.Auth:       {http.StatusUnauthorized, "authentication_error"},
	agents.Quota:      {http.StatusPaymentRequired, "billing_error"},
	agents.RateLimit:  {http.StatusTooManyRequests, "rate_limit_error"},
	agents.Overloaded: {529, "overloaded_error"},
}

// refuse answers as a provider that fails. What has no form of its own is an internal error of the provider.
func (m *messages) refuse(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) {
	e := a.fail
	x.update(func(x *Exchange) { x.Failure, x.RetryAfter = e, e.RetryAfter })
	switch e.Kind {
	case agents.Network:
		m.cut(w, r, q, a, x)
	case agents.Protocol:
		m.garble(w, q, x)
	case agents.Timeout:
		x.update(func(e *Exchange) { e.Error = "timeout" })
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	default:
		f, ok := failures[e.Kind]
		if !ok {
			f.status, f.kind = http.StatusInternalServerError, "api_error"
		}
		if e.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
		}
		x.update(func(e *Exchange) { e.Status, e.Error = f.status, f.kind })
		x.end(Answered)
		m.fail(w, f.status, f.kind, e.Err.Error())
	}
}

// cut begins an answer and resets the connection in the middle of it.
func (m *messages) cut(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) {
	x.update(func(e *Exchange) { e.Status, e.Error = http.StatusOK, "reset" })
	if q.Stream {
		s := newSSE(w)
		msg := head(q, a)
		msg["usage"] = usage{input: 4, output: 1}.report()
		_ = s.send("message_start", map[string]any{"message": msg})
		_ = s.send("content_block_start", map[string]any{"index": 0, "content_block": block{}.start(false)})
		_ = s.flush()
	}
	if c, ok := r.Context().Value(connKey{}).(*net.TCPConn); ok {
		_ = c.SetLinger(0) // closing it sends a reset
	}
	panic(http.ErrAbortHandler)
}

// garble gives an answer that breaks the format.
func (m *messages) garble(w http.ResponseWriter, q *query, x exchange) {
	x.update(func(e *Exchange) { e.Status, e.Error = http.StatusOK, "malformed" })
	x.end(Answered)
	if q.Stream {
		s := newSSE(w)
		fmt.Fprint(s.w, "event: message_start\ndata: {\"type\":\"message_start\",\"mess\n\n")
		_ = s.flush()
	} else {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"msg_`)
	}
}

// connKey is the key of a connection in the context of its requests.
type connKey struct{}
