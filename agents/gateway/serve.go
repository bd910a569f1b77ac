package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// api is what the handlers of a gateway share: the dialect that they speak.
type api struct {
	gateway *Gateway
	dialect dialect
}

// json answers with value. An error is that the agent is gone.
func (a *api) json(w http.ResponseWriter, status int, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(data)
	return err
}

// fail answers with an error in the provider's format.
func (a *api) fail(w http.ResponseWriter, status int, text string) {
	a.failWith(w, status, a.dialect.word(status), text)
}

func (a *api) failWith(w http.ResponseWriter, status int, word, text string) {
	w.Header().Set("Request-Id", "req_scripted")
	_ = a.json(w, status, a.dialect.refusal(status, word, text))
}

// player serves the API of a provider, with a script in the model's place.
type player struct {
	api
	script *scripted
}

func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := p.dialect.route(r)
	if to == asks {
		p.create(w, r)
		return
	}
	var q *query
	if to == counts {
		var err error
		if q, err = readQuery(p.dialect, r); err != nil {
			p.fail(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	if answer, ok := p.dialect.side(r, q); ok {
		_ = p.json(w, http.StatusOK, answer)
		return
	}
	p.fail(w, http.StatusNotFound, "no such resource: "+r.Method+" "+r.URL.Path)
}

// create answers a model request.
func (p *player) create(w http.ResponseWriter, r *http.Request) {
	q, err := readQuery(p.dialect, r)
	if err != nil {
		p.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	ctx := r.Context()
	x := p.gateway.arrive(ctx, &q.Request)
	defer x.end(Cut) // unless it ended otherwise before
	a := p.script.answer(q)
	x.update(func(e *Exchange) {
		e.State, e.Note, e.Unplayed, e.Admitted = Answering, a.note, a.short, time.Now()
	})
	if err := sleep(ctx, a.wait, func() error { return nil }); err != nil {
		panic(http.ErrAbortHandler)
	}
	if a.fail != nil {
		p.refuse(w, r, q, a, x)
		return
	}
	x.makes(a.id, a.calls())
	if q.Stream {
		err = p.stream(w, r, q, a, x)
	} else {
		err = p.whole(w, r, q, a, x)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// arrive logs a model request and returns when it may be answered. If it may not it does not return.
func (g *Gateway) arrive(ctx context.Context, r *Request) exchange {
	r.Side = r.Side && !g.opts.Bare
	x := g.log.arrive(*r)
	x.update(func(e *Exchange) { *r = e.Request })
	if g.opts.Admit == nil {
		return x
	}
	err := g.opts.Admit(ctx, *r)
	switch {
	case ctx.Err() != nil:
		x.end(Cut)
		panic(http.ErrAbortHandler)
	case err != nil:
		x.end(Refused)
		panic(http.ErrAbortHandler)
	}
	return x
}

// whole gives an answer in one piece.
func (p *player) whole(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) error {
	for _, b := range a.blocks {
		if err := sleep(r.Context(), b.pause, func() error { return nil }); err != nil {
			return err
		}
	}
	stop := p.dialect.stop(a)
	x.update(func(e *Exchange) { e.Status, e.Stop, e.Usage = http.StatusOK, stop, a.usage.total() })
	x.end(Answered) // before the agent knows: it may be over the moment that it does
	return p.json(w, http.StatusOK, p.dialect.whole(q, a))
}

// stream gives an answer block by block. A block that is finished is sent before the pause that follows it; in a pause,
// pings keep the connection alive.
func (p *player) stream(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) error {
	ctx := r.Context()
	s := newSSE(w, q.array)
	out := p.dialect.stream(s, q, a)
	begun := a.usage
	begun.output = 1
	x.update(func(e *Exchange) { e.Status, e.Usage = http.StatusOK, begun.total() })
	if err := out.begin(); err != nil {
		return err
	}
	for i, b := range a.blocks {
		if b.pause > 0 {
			if err := s.flush(); err != nil {
				return err
			}
			ping := func() error {
				if err := out.ping(); err != nil {
					return err
				}
				return s.flush()
			}
			if err := sleep(ctx, b.pause, ping); err != nil {
				return err
			}
		}
		if err := out.block(i, b); err != nil {
			return err
		}
	}
	if err := out.end(); err != nil {
		return err
	}
	stop := p.dialect.stop(a)
	x.update(func(e *Exchange) { e.Stop, e.Usage = stop, a.usage.total() })
	x.end(Answered) // before the agent knows: it may be over the moment that it does
	return s.flush()
}

// refuse answers as a provider that fails. What has no form of its own is an internal error of the provider.
func (p *player) refuse(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) {
	e := a.fail
	x.update(func(x *Exchange) { x.Failure, x.RetryAfter = e, e.RetryAfter })
	switch e.Kind {
	case agents.Network:
		p.cut(w, r, q, a, x)
	case agents.Protocol:
		p.garble(w, q, x)
	case agents.Timeout:
		x.update(func(e *Exchange) { e.Error = "timeout" })
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	default:
		status, word := p.dialect.failure(e.Kind)
		if status == 0 {
			status = http.StatusInternalServerError
			word = p.dialect.word(status)
		}
		if e.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
		}
		x.update(func(e *Exchange) { e.Status, e.Error = status, word })
		x.end(Answered)
		p.failWith(w, status, word, e.Err.Error())
	}
}

// cut begins an answer and resets the connection in the middle of it.
func (p *player) cut(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) {
	x.update(func(e *Exchange) { e.Status, e.Error = http.StatusOK, "reset" })
	if q.Stream {
		s := newSSE(w, q.array)
		a.usage = usage{input: 4, output: 1}
		_ = p.dialect.stream(s, q, a).begin()
		_ = s.flush()
	}
	if c, ok := r.Context().Value(connKey{}).(*net.TCPConn); ok {
		_ = c.SetLinger(0) // closing it sends a reset
	}
	panic(http.ErrAbortHandler)
}

// garble gives an answer that breaks the format.
func (p *player) garble(w http.ResponseWriter, q *query, x exchange) {
	x.update(func(e *Exchange) { e.Status, e.Error = http.StatusOK, "malformed" })
	x.end(Answered)
	if q.Stream {
		s := newSSE(w, q.array)
		fmt.Fprint(s.w, p.dialect.garbled())
		_ = s.flush()
	} else {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"msg_`)
	}
}

// connKey is the key of a connection in the context of its requests.
type connKey struct{}
