package gateway

import (
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
	_, q, err := readQuery(r)
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
	x.end(Answered)
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
	_, q, err := readQuery(r)
	if err != nil {
		m.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	u := spent(q, 0)
	_ = m.json(w, http.StatusOK, map[string]any{"input_tokens": u.input + u.written + u.read})
}

// readQuery reads a request's body.
func readQuery(r *http.Request) (body []byte, q *query, err error) {
	body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if err != nil {
		return nil, nil, fmt.Errorf("read body: %w", err)
	}
	q, err = parseQuery(body)
	return body, q, err
}

// parseQuery reads what the gateway has to know of a request.
func parseQuery(body []byte) (*query, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string `json:"name"`
			Schema schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	if len(in.Messages) == 0 {
		return nil, fmt.Errorf("messages: at least one message is required")
	}
	q := &query{Request: Request{Model: in.Model, Stream: in.Stream, Side: len(in.Tools) == 0}, sent: len(in.Messages)}
	point := sha256.New()
	defer func() { q.Point = hex.EncodeToString(point.Sum(nil)[:8]) }()
	for _, t := range in.Tools {
		q.tools = append(q.tools, tool{t.Name, t.Schema})
	}
	for _, msg := range in.Messages {
		fmt.Fprintf(point, "%q %d\n", msg.Role, len(msg.Content))
		for _, c := range msg.Content {
			if fmt.Fprintf(point, "%q %q %q\n", c.Type, c.ID, c.ToolUseID); msg.Role != "assistant" {
				fmt.Fprintf(point, "%q\n", c.Text)
			}
		}
		if msg.Role == "assistant" {
			var t turn
			for _, c := range msg.Content {
				if c.Type == "tool_use" {
					t.calls = append(t.calls, c.ID)
				}
			}
			q.turns = append(q.turns, t)
			q.Results, q.fresh = nil, 0
			continue
		}
		q.fresh++
		for _, c := range msg.Content {
			switch c.Type {
			case "tool_result":
				q.Results = append(q.Results, c.ToolUseID)
			case "text":
				if len(q.turns) == 0 {
					q.first += c.Text + "\n"
				}
			}
		}
	}
	return q, nil
}

// content is a message's content: a string stands for one text block.
type content []part

type part struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
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
