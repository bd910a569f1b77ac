package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxRequest bounds what one request may be long: the provider's own bound is 32 MB.
const maxRequest = 64 << 20

// messages serves Anthropic's Messages API.
type messages struct {
	gateway  *Gateway
	upstream upstream
}

func (m *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/v1/messages" && r.Method == http.MethodPost:
		m.create(w, r)
	case path == "/v1/messages/count_tokens" && r.Method == http.MethodPost:
		m.count(w, r)
	case path == "/v1/models" && isRead(r):
		_ = m.json(w, http.StatusOK, map[string]any{"data": []any{model("scripted-model")}, "has_more": false,
			"first_id": "scripted-model", "last_id": "scripted-model"})
	case strings.HasPrefix(path, "/v1/models/") && isRead(r):
		_ = m.json(w, http.StatusOK, model(strings.TrimPrefix(path, "/v1/models/")))
	default:
		m.fail(w, http.StatusNotFound, "not_found_error", "no such resource: "+r.Method+" "+r.URL.Path)
	}
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func model(id string) map[string]any {
	return map[string]any{"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"}
}

// create answers a model request.
func (m *messages) create(w http.ResponseWriter, r *http.Request) {
	q, err := readQuery(r)
	if err != nil {
		m.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	ctx := r.Context()
	x := m.gateway.arrive(ctx, &q.Request)
	defer x.end(Cut) // unless it ended otherwise before
	a := m.upstream.answer(q)
	x.update(func(e *Exchange) {
		e.State, e.Note, e.Admitted = Answering, a.note, time.Now()
	})
	if err := sleep(ctx, a.wait, func() error { return nil }); err != nil {
		panic(http.ErrAbortHandler)
	}
	if a.fail != nil {
		m.refuse(w, r, q, a, x)
		return
	}
	x.makes(a.id, a.calls())
	if q.Stream {
		err = m.stream(w, r, q, a, x)
	} else {
		err = m.whole(w, r, q, a, x)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// arrive logs a model request and returns when it may be answered. If it may not it does not return.
func (g *Gateway) arrive(ctx context.Context, r *Request) exchange {
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

// count answers how many tokens a request has.
func (m *messages) count(w http.ResponseWriter, r *http.Request) {
	q, err := readQuery(r)
	if err != nil {
		m.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	u := spent(q, 0)
	_ = m.json(w, http.StatusOK, map[string]any{"input_tokens": u.input + u.written + u.read})
}

// readQuery reads what the gateway has to know of a request that it answers itself.
func readQuery(r *http.Request) (*query, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if !json.Valid(body) {
		return nil, fmt.Errorf("decode body: %w", errNoJSON)
	}
	return parseQuery(body)
}

func readBody(r *http.Request) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, 0, max(0, min(r.ContentLength, maxRequest))+bytes.MinRead))
	if _, err := body.ReadFrom(http.MaxBytesReader(nil, r.Body, maxRequest)); err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body.Bytes(), nil
}

// parseQuery finds what the gateway has to know of a request. What is of another form than is known is left out: it is for
// the provider to say whether it is wrong.
func parseQuery(body []byte) (*query, error) {
	q := &query{Request: Request{Side: true}}
	var messages []byte
	err := skim(body, func(name string, value []byte) {
		switch name {
		case "model":
			q.Model = text(value)
		case "stream":
			q.Stream = string(value) == "true"
		case "messages":
			messages = value
		case "tools":
			_ = skim(value, func(_ string, tool []byte) { q.offered, q.Side = append(q.offered, tool), false })
		}
	})
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	point := sha256.New()
	_ = skim(messages, func(_ string, value []byte) { q.take(readMessage(value), point) })
	if q.sent == 0 {
		return nil, fmt.Errorf("messages: at least one message is required")
	}
	q.Point = hex.EncodeToString(point.Sum(nil)[:8])
	return q, nil
}

// take adds the next message to the conversation that q ends.
func (q *query) take(m message, point io.Writer) {
	q.sent++
	fmt.Fprintf(point, "%q %d\n", m.role, len(m.parts))
	for _, p := range m.parts {
		if fmt.Fprintf(point, "%q %q %q\n", p.kind, p.id, p.result); m.role != "assistant" {
			fmt.Fprintf(point, "%d %s\n", len(p.text), p.text)
		}
	}
	if m.role == "assistant" {
		var t turn
		for _, p := range m.parts {
			if p.kind == "tool_use" {
				t.calls = append(t.calls, p.id)
			}
		}
		q.turns = append(q.turns, t)
		q.Results, q.fresh = nil, 0
		return
	}
	q.fresh++
	for _, p := range m.parts {
		switch p.kind {
		case "tool_result":
			q.Results = append(q.Results, p.result)
		case "text":
			if len(q.turns) == 0 {
				q.opening = append(q.opening, p.text)
			}
		}
	}
}

// message is a message of a conversation.
type message struct {
	role  string
	parts []part // a content that is a string is one part
}

type part struct {
	kind       string
	id, result string // of a call: its own, and that of the call whose result it is
	text       []byte // as it stands in the JSON
}

func readMessage(data []byte) (m message) {
	_ = skim(data, func(name string, value []byte) {
		switch {
		case name == "role":
			m.role = text(value)
		case name == "content" && value[0] == '"':
			m.parts = []part{{kind: "text", text: value}}
		case name == "content":
			m.parts = nil
			_ = skim(value, func(_ string, value []byte) { m.parts = append(m.parts, readPart(value)) })
		}
	})
	return m
}

func readPart(data []byte) (p part) {
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "type":
			p.kind = text(value)
		case "id":
			p.id = text(value)
		case "tool_use_id":
			p.result = text(value)
		case "text":
			p.text = value
		}
	})
	return p
}

// tools are those that the agent offers.
func (q *query) tools() []tool {
	out := make([]tool, len(q.offered))
	for i, data := range q.offered {
		var t struct {
			Name   string `json:"name"`
			Schema schema `json:"input_schema"`
		}
		if decode(data, &t) == nil {
			out[i] = tool{t.Name, t.Schema}
		}
	}
	return out
}

// first is the text of the user before the first answer.
func (q *query) first() string {
	var all strings.Builder
	for _, t := range q.opening {
		all.WriteString(text(t) + "\n")
	}
	return all.String()
}

// whole gives an answer in one piece.
func (m *messages) whole(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) error {
	var parts []any
	for _, b := range a.blocks {
		if err := sleep(r.Context(), b.pause, func() error { return nil }); err != nil {
			return err
		}
		parts = append(parts, b.start(true))
	}
	out := head(q, a)
	out["content"], out["stop_reason"], out["usage"] = parts, a.stop(), a.usage.report()
	x.update(func(e *Exchange) { e.Status, e.Stop, e.Usage = http.StatusOK, a.stop(), a.usage.total() })
	x.end(Answered) // before the agent knows: it may be over the moment that it does
	return m.json(w, http.StatusOK, out)
}

// head is a message without its content.
func head(q *query, a reply) map[string]any {
	return map[string]any{"id": a.id, "type": "message", "role": "assistant", "model": q.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil}
}

// stop is the reason why the model stopped, in the provider's words.
func (r reply) stop() string {
	if len(r.calls()) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// report is u in the provider's words.
func (u usage) report() map[string]any {
	return map[string]any{"input_tokens": u.input, "cache_creation_input_tokens": u.written,
		"cache_read_input_tokens": u.read, "output_tokens": u.output}
}

// start is a block in the provider's words: with all that is in it, or empty, as a stream begins it.
func (b block) start(full bool) map[string]any {
	if b.name == "" {
		text := ""
		if full {
			text = b.text
		}
		return map[string]any{"type": "text", "text": text}
	}
	input := json.RawMessage("{}")
	if full {
		input = b.input
	}
	return map[string]any{"type": "tool_use", "id": b.id, "name": b.name, "input": input}
}

// json answers with value. An error is that the agent is gone.
func (m *messages) json(w http.ResponseWriter, status int, value any) error {
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
func (m *messages) fail(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Request-Id", "req_scripted")
	_ = m.json(w, status, map[string]any{"type": "error", "request_id": "req_scripted",
		"error": map[string]any{"type": kind, "message": text}})
}
