package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// anthropic is the Messages API of Anthropic: https://docs.anthropic.com/en/api/messages.
type anthropic struct{}

func (anthropic) route(r *http.Request) route {
	if r.Method == http.MethodPost {
		switch strings.TrimSuffix(r.URL.Path, "/") {
		case "/v1/messages":
			return asks
		case "/v1/messages/count_tokens":
			return counts
		}
	}
	return elsewhere
}

func (anthropic) side(r *http.Request, q *query) (any, bool) {
	model := func(id string) map[string]any {
		return map[string]any{"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"}
	}
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case q != nil:
		u := spent(q, 0)
		return map[string]any{"input_tokens": u.input + u.written + u.read}, true
	case path == "/v1/models" && isRead(r):
		return map[string]any{"data": []any{model(scriptedModel)}, "has_more": false, "first_id": scriptedModel, "last_id": scriptedModel}, true
	case strings.HasPrefix(path, "/v1/models/") && isRead(r):
		return model(strings.TrimPrefix(path, "/v1/models/")), true
	}
	return nil, false
}

func (anthropic) parse(_ *http.Request, body []byte) (*query, error) {
	q := &query{Request: Request{Side: true}, body: body}
	var conversation []message
	err := skim(body, func(name string, value []byte) {
		switch name {
		case "model":
			q.Model = text(value)
		case "stream":
			q.Stream = string(value) == "true"
		case "messages":
			conversation = conversation[:0]
			_ = skim(value, func(_ string, value []byte) { conversation = append(conversation, anthropicMessage(value)) })
		case "tools":
			q.offer(value)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	return q.converse(conversation)
}

func anthropicMessage(data []byte) (m message) {
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "role":
			m.role = text(value)
		case "content":
			m.parts = content(value, anthropicPart)
		}
	})
	return m
}

func anthropicPart(data []byte) (p part) {
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

func (anthropic) tools(entry []byte) []tool {
	var t struct {
		Name   string `json:"name"`
		Schema schema `json:"input_schema"`
	}
	if decode(entry, &t) != nil {
		return []tool{{}}
	}
	return []tool{{name: t.Name, schema: t.Schema}}
}

func (anthropic) spent(u usage) usage { return u }

func (d anthropic) whole(q *query, a reply) any {
	var parts []any
	for _, b := range a.blocks {
		parts = append(parts, d.block(b, true))
	}
	out := d.head(q, a)
	out["content"], out["stop_reason"], out["usage"] = parts, d.stop(a), d.report(a.usage)
	return out
}

// head is a message without its content.
func (anthropic) head(q *query, a reply) map[string]any {
	return map[string]any{"id": a.id, "type": "message", "role": "assistant", "model": q.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil}
}

func (anthropic) stop(a reply) string {
	if len(a.calls()) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (anthropic) report(u usage) map[string]any {
	return map[string]any{"input_tokens": u.input, "cache_creation_input_tokens": u.written,
		"cache_read_input_tokens": u.read, "output_tokens": u.output}
}

// block is a block with all that is in it, or empty, as a stream begins it.
func (anthropic) block(b block, full bool) map[string]any {
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

func (d anthropic) stream(s *sse, q *query, a reply) pieces { return &anthropicStream{d, s, q, a} }

type anthropicStream struct {
	anthropic
	s *sse
	q *query
	a reply
}

func (t *anthropicStream) send(kind string, fields map[string]any) error {
	fields["type"] = kind
	return t.s.send(kind, fields)
}

func (t *anthropicStream) begin() error {
	begun := t.a.usage
	begun.output = 1
	msg := t.head(t.q, t.a)
	msg["usage"] = t.report(begun)
	if err := t.send("message_start", map[string]any{"message": msg}); err != nil {
		return err
	}
	return t.ping()
}

func (t *anthropicStream) ping() error { return t.send("ping", map[string]any{}) }

func (t *anthropicStream) block(i int, b block) error {
	if err := t.send("content_block_start", map[string]any{"index": i, "content_block": t.anthropic.block(b, false)}); err != nil {
		return err
	}
	kind, field, all := "text_delta", "text", b.text
	if b.name != "" {
		kind, field, all = "input_json_delta", "partial_json", string(b.input)
	}
	err := chunks(all, func(piece string) error {
		return t.send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: piece}})
	})
	if err != nil {
		return err
	}
	return t.send("content_block_stop", map[string]any{"index": i})
}

func (t *anthropicStream) end() error {
	if err := t.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": t.anthropic.stop(t.a), "stop_sequence": nil}, "usage": t.report(t.a.usage)}); err != nil {
		return err
	}
	return t.send("message_stop", map[string]any{})
}

func (anthropic) garbled() string {
	return "event: message_start\ndata: {\"type\":\"message_start\",\"mess\n\n"
}

func (anthropic) word(status int) string {
	words := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
		http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	}
	return cmp.Or(words[status], "api_error")
}

func (anthropic) failure(kind agents.ErrorKind) (int, string) {
	switch kind {
	case agents.Auth:
		return http.StatusUnauthorized, "authentication_error"
	case agents.Quota:
		return http.StatusPaymentRequired, "billing_error"
	case agents.RateLimit:
		return http.StatusTooManyRequests, "rate_limit_error"
	case agents.Overloaded:
		return 529, "overloaded_error"
	}
	return 0, ""
}

func (anthropic) refusal(_ int, word, text string) any {
	return map[string]any{"type": "error", "request_id": "req_scripted", "error": map[string]any{"type": word, "message": text}}
}

func (anthropic) reader() reader { return new(anthropicReader) }

// anthropicReader reads along a message.
type anthropicReader struct {
	id    string
	calls []string
	usage anthropicUsage
}

// anthropicHead is a whole message, or the beginning of one.
type anthropicHead struct {
	Type    string         `json:"type"`
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Stop    string         `json:"stop_reason"`
	Usage   anthropicUsage `json:"usage"`
	Content []struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"content"`
}

func (a *anthropicReader) event(m *meter, data []byte) {
	var e struct {
		Type    string        `json:"type"`
		Message anthropicHead `json:"message"`
		Block   struct {
			Type string `json:"type"`
			ID   string `json:"id"`
		} `json:"content_block"`
		Delta struct {
			Text string `json:"text"`
			Stop string `json:"stop_reason"`
		} `json:"delta"`
		Usage anthropicUsage `json:"usage"`
		providerError
	}
	if !m.decode(data, &e) {
		return
	}
	switch e.Type {
	case "":
		m.fail(senseless("an event has no type"))
		return
	case "ping":
		return
	case "message_start":
		a.id = e.Message.ID
		a.usage.take(e.Message.Usage)
		m.began(a.id, e.Message.Model)
	case "content_block_start":
		if e.Block.ID != "" && e.Block.Type == "tool_use" {
			a.calls = append(a.calls, e.Block.ID)
			m.x.makes(a.id, a.calls)
		}
	case "content_block_delta":
		m.says(e.Delta.Text)
	case "message_delta":
		a.usage.take(e.Usage)
		m.stopped(e.Delta.Stop)
	}
	m.spent(a.usage.total())
	switch e.Type { // an agent that has read so far may be done with it, and close the connection
	case "message_stop":
		m.finish()
	case "error":
		m.broke(e.providerError)
	}
}

func (a *anthropicReader) whole(m *meter, body []byte) {
	var msg struct {
		anthropicHead
		providerError
	}
	switch {
	case !m.decode(body, &msg):
	case msg.Type == "error":
		m.broke(msg.providerError)
	case msg.Type != "message":
		m.fail(senseless("it is of type %q, and no message", msg.Type))
	default:
		for _, c := range msg.Content {
			if c.Type == "tool_use" && c.ID != "" {
				a.calls = append(a.calls, c.ID)
			}
			m.says(c.Text)
		}
		a.usage.take(msg.Usage)
		m.x.makes(msg.ID, a.calls)
		m.began(msg.ID, msg.Model)
		m.stopped(msg.Stop)
		m.spent(a.usage.total())
		m.finish()
	}
}

func (a *anthropicReader) complete() bool { return false }

// anthropicUsage is a usage report. A report tells totals of one answer; what it leaves out stays.
type anthropicUsage struct {
	Input   *count `json:"input_tokens"`
	Written *count `json:"cache_creation_input_tokens"`
	Read    *count `json:"cache_read_input_tokens"`
	Output  *count `json:"output_tokens"`
}

func (u *anthropicUsage) take(v anthropicUsage) {
	for _, f := range []struct{ to, from **count }{{&u.Input, &v.Input}, {&u.Written, &v.Written}, {&u.Read, &v.Read}, {&u.Output, &v.Output}} {
		if *f.from != nil && (*f.to == nil || **f.from > **f.to) {
			*f.to = *f.from
		}
	}
}

func (u anthropicUsage) total() agents.Usage {
	n := func(p *count) int64 {
		if p == nil {
			return 0
		}
		return max(0, int64(*p))
	}
	return agents.Usage{InputTokens: n(u.Input), CacheWriteTokens: n(u.Written), CachedTokens: n(u.Read), OutputTokens: n(u.Output)}
}
