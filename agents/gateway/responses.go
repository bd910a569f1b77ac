package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// responses is the Responses API of OpenAI: https://platform.openai.com/docs/api-reference/responses.
type responses struct{}

func (responses) route(r *http.Request) route {
	if r.Method == http.MethodPost {
		switch resource(r, "v1") {
		case "/responses":
			return asks
		case "/responses/input_tokens":
			return counts
		}
	}
	return elsewhere
}

func (responses) side(r *http.Request, q *query) (any, bool) {
	if q != nil {
		u := spent(q, 0)
		return map[string]any{"object": "response.input_tokens", "input_tokens": u.input + u.written + u.read}, true
	}
	return openaiModels(r)
}

// openaiModels is what both dialects of OpenAI answer about models.
func openaiModels(r *http.Request) (any, bool) {
	model := func(id string) map[string]any {
		return map[string]any{"id": id, "object": "model", "created": 1767225600, "owned_by": "evaltest"}
	}
	switch path := resource(r, "v1"); {
	case !isRead(r):
	case path == "/models":
		return map[string]any{"object": "list", "data": []any{model(scriptedModel)}}, true
	case strings.HasPrefix(path, "/models/"):
		return model(strings.TrimPrefix(path, "/models/")), true
	}
	return nil, false
}

func (responses) parse(_ *http.Request, body []byte) (*query, error) {
	q := &query{Request: Request{Side: true}, body: body}
	var conversation []message
	err := skim(body, func(name string, value []byte) {
		switch name {
		case "model":
			q.Model = text(value)
		case "stream":
			q.Stream = string(value) == "true"
		case "previous_response_id":
			q.after = text(value)
		case "input":
			if value[0] == '"' {
				conversation = []message{{role: "user", parts: []part{{kind: "text", text: value}}}}
				return
			}
			conversation = conversation[:0]
			_ = skim(value, func(_ string, value []byte) {
				m, tools := responsesItem(value)
				if m != nil {
					conversation = append(conversation, *m)
				}
				q.offer(tools)
			})
		case "tools":
			q.offer(value)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	return q.converse(joined(conversation))
}

// responsesItem is an item of the input as a message of its own; nil: instructions, which are no part of what is said. An item may
// offer tools, beside those of the request.
func responsesItem(data []byte) (said *message, tools []byte) {
	var m message
	var p part
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "type":
			p.kind = text(value)
		case "role":
			m.role = text(value)
		case "call_id":
			p.id = text(value)
		case "content":
			m.parts = content(value, responsesPart)
		case "tools":
			tools = value
		}
	})
	if p.kind != "additional_tools" {
		tools = nil
	}
	switch kind, result := strings.CutSuffix(p.kind, "_output"); {
	case m.role == "system", m.role == "developer", tools != nil:
		return nil, tools
	case kind == "message", kind == "" && m.role != "":
	case result:
		m.role, m.parts = "user", []part{{kind: "tool_result", result: p.id}}
	case kind == "function_call", kind == "custom_tool_call", kind == "local_shell_call":
		m.role, m.parts = "assistant", []part{{kind: "tool_use", id: p.id}}
	default: // reasoning, what the provider's own tools have done
		m.role, m.parts = "assistant", []part{p}
	}
	return &m, nil
}

func responsesPart(data []byte) (p part) {
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "type":
			if p.kind = text(value); strings.HasSuffix(p.kind, "_text") {
				p.kind = "text"
			}
		case "text":
			p.text = value
		}
	})
	return p
}

func (responses) tools(entry []byte) []tool {
	var t struct {
		Type   string            `json:"type"`
		Name   string            `json:"name"`
		Schema schema            `json:"parameters"`
		Tools  []json.RawMessage `json:"tools"` // of a namespace
	}
	if decode(entry, &t) != nil {
		return nil
	}
	switch t.Type {
	case "function", "custom":
		return []tool{{name: t.Name, schema: t.Schema, free: t.Type == "custom"}}
	case "namespace":
		var all []tool
		for _, inner := range t.Tools {
			for _, in := range (responses{}).tools(inner) {
				in.space = t.Name
				all = append(all, in)
			}
		}
		return all
	}
	return nil
}

func (responses) spent(u usage) usage { return withoutWrites(u) }

// withoutWrites is the cost in a dialect that does not tell what is written to a cache.
func withoutWrites(u usage) usage {
	u.input, u.written = u.input+u.written, 0
	return u
}

func (d responses) whole(q *query, a reply) any {
	items := make([]any, len(a.blocks))
	for i, b := range a.blocks {
		items[i] = d.item(a, i, b, true)
	}
	return d.response(q, a, "completed", items)
}

// response is an answer with what there is of it so far.
func (d responses) response(q *query, a reply, status string, items []any) map[string]any {
	out := map[string]any{"id": a.id, "object": "response", "created_at": 1767225600, "status": status, "model": q.Model, "output": items,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": map[string]any{}, "parallel_tool_calls": true,
		"previous_response_id": nil, "temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1, "usage": nil}
	if status == "completed" {
		u := a.usage
		out["usage"] = map[string]any{"input_tokens": u.input + u.read, "input_tokens_details": map[string]any{"cached_tokens": u.read},
			"output_tokens": u.output, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u.input + u.read + u.output}
	}
	return out
}

// item is a block with all that is in it, or empty, as a stream begins it.
func (responses) item(a reply, i int, b block, full bool) map[string]any {
	status := "in_progress"
	if full {
		status = "completed"
	}
	if b.name == "" {
		parts := []any{}
		if full {
			parts = append(parts, map[string]any{"type": "output_text", "text": b.text, "annotations": []any{}})
		}
		return map[string]any{"type": "message", "id": fmt.Sprintf("%s_%d", a.id, i), "role": "assistant", "status": status, "content": parts}
	}
	kind, field := "function_call", "arguments"
	if b.free {
		kind, field = "custom_tool_call", "input"
	}
	input := ""
	if full {
		input = string(b.input)
	}
	out := map[string]any{"type": kind, "id": "item_" + b.id, "call_id": b.id, "name": b.name, field: input, "status": status}
	if b.space != "" {
		out["namespace"] = b.space
	}
	return out
}

func (responses) stop(reply) string { return "completed" }

func (d responses) stream(s *sse, q *query, a reply) pieces {
	return &responsesStream{responses: d, s: s, q: q, a: a}
}

type responsesStream struct {
	responses
	s     *sse
	q     *query
	a     reply
	n     int   // of the next event
	items []any // so far
}

func (t *responsesStream) send(kind string, fields map[string]any) error {
	fields["type"], fields["sequence_number"] = kind, t.n
	t.n++
	return t.s.send(kind, fields)
}

func (t *responsesStream) begin() error {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		if err := t.send(kind, map[string]any{"response": t.response(t.q, t.a, "in_progress", []any{})}); err != nil {
			return err
		}
	}
	return nil
}

func (t *responsesStream) ping() error { return t.s.comment() }

func (t *responsesStream) block(i int, b block) error {
	begun, done := t.item(t.a, i, b, false), t.item(t.a, i, b, true)
	t.items = append(t.items, done)
	steps := []func() error{
		func() error {
			return t.send("response.output_item.added", map[string]any{"output_index": i, "item": begun})
		},
		func() error { return t.filling(i, b, begun["id"]) },
		func() error {
			return t.send("response.output_item.done", map[string]any{"output_index": i, "item": done})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// filling is what comes between an item's beginning and its end.
func (t *responsesStream) filling(i int, b block, id any) error {
	at := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"] = id, i
		return more
	}
	kind, field, all := "response.output_text", "text", b.text
	switch {
	case b.name == "":
		part := map[string]any{"type": "output_text", "text": "", "annotations": []any{}}
		if err := t.send("response.content_part.added", at(map[string]any{"content_index": 0, "part": part})); err != nil {
			return err
		}
	case b.free:
		kind, field, all = "response.custom_tool_call_input", "input", string(b.input)
	default:
		kind, field, all = "response.function_call_arguments", "arguments", string(b.input)
	}
	place := func(more map[string]any) map[string]any {
		if b.name == "" {
			more["content_index"] = 0
		}
		return at(more)
	}
	err := chunks(all, func(piece string) error { return t.send(kind+".delta", place(map[string]any{"delta": piece})) })
	if err != nil {
		return err
	}
	if err := t.send(kind+".done", place(map[string]any{field: all})); err != nil || b.name != "" {
		return err
	}
	part := map[string]any{"type": "output_text", "text": all, "annotations": []any{}}
	return t.send("response.content_part.done", at(map[string]any{"content_index": 0, "part": part}))
}

func (t *responsesStream) end() error {
	return t.send("response.completed", map[string]any{"response": t.response(t.q, t.a, "completed", t.items)})
}

func (responses) garbled() string {
	return "event: response.created\ndata: {\"type\":\"response.created\",\"respo\n\n"
}

func (responses) word(status int) string { return openaiWord(status) }

func openaiWord(status int) string {
	words := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error", http.StatusTooManyRequests: "rate_limit_exceeded",
	}
	if status < 500 {
		return cmp.Or(words[status], "invalid_request_error")
	}
	return "server_error"
}

func (responses) failure(kind agents.ErrorKind) (int, string) { return openaiFailure(kind) }

func openaiFailure(kind agents.ErrorKind) (int, string) {
	switch kind {
	case agents.Auth:
		return http.StatusUnauthorized, "authentication_error"
	case agents.Quota:
		return http.StatusTooManyRequests, "insufficient_quota"
	case agents.RateLimit:
		return http.StatusTooManyRequests, "rate_limit_exceeded"
	case agents.Overloaded:
		return http.StatusServiceUnavailable, "server_error"
	}
	return 0, ""
}

func (responses) refusal(_ int, word, text string) any { return openaiRefusal(word, text) }

func openaiRefusal(word, text string) any {
	return map[string]any{"error": map[string]any{"message": text, "type": word, "param": nil, "code": word}}
}

func (responses) reader() reader { return new(responsesReader) }

// responsesReader reads along a response.
type responsesReader struct {
	id    string
	calls []string
}

type responsesBody struct {
	Object     string          `json:"object"`
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Usage      responsesUsage  `json:"usage"`
	Output     []responsesCall `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	providerError
}

type responsesCall struct {
	Type    string `json:"type"`
	Call    string `json:"call_id"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"` // of a message
}

func (r *responsesReader) event(m *meter, data []byte) {
	var e struct {
		Type     string        `json:"type"`
		Response responsesBody `json:"response"`
		Item     responsesCall `json:"item"`
		Delta    string        `json:"delta"`
		// Of an error that is no part of a response.
		Code    any    `json:"code"`
		Message string `json:"message"`
		providerError
	}
	if !m.decode(data, &e) {
		return
	}
	switch e.Type {
	case "":
		m.fail(senseless("an event has no type"))
		return
	case "response.created":
		r.id = e.Response.ID
		m.began(r.id, e.Response.Model)
	case "response.queued", "response.in_progress":
		return // no progress
	case "response.output_item.added", "response.output_item.done":
		r.makes(m, e.Item)
	case "response.output_text.delta", "response.refusal.delta":
		m.says(e.Delta)
	case "response.completed", "response.incomplete":
		r.take(m, &e.Response)
		m.finish()
		return
	case "response.failed":
		m.spent(e.Response.Usage.total())
		m.broke(e.Response.providerError)
		return
	case "error":
		if e.Error.Message == "" {
			e.Error.Code, e.Error.Message = e.Code, e.Message
		}
		m.broke(e.providerError)
		return
	}
	m.advance()
}

// makes notes a call, once.
func (r *responsesReader) makes(m *meter, c responsesCall) {
	if c.Call == "" || strings.HasSuffix(c.Type, "_output") {
		return
	}
	for _, known := range r.calls {
		if known == c.Call {
			return
		}
	}
	r.calls = append(r.calls, c.Call)
	m.x.makes(r.id, r.calls)
}

// take notes what a response that is over says of itself.
func (r *responsesReader) take(m *meter, b *responsesBody) {
	r.id = cmp.Or(b.ID, r.id)
	m.began(b.ID, b.Model)
	for _, c := range b.Output {
		r.makes(m, c)
	}
	m.stopped(cmp.Or(b.Incomplete.Reason, b.Status))
	m.spent(b.Usage.total())
}

func (r *responsesReader) whole(m *meter, body []byte) {
	var b responsesBody
	switch {
	case !m.decode(body, &b):
	case b.given() || b.Status == "failed":
		m.broke(b.providerError)
	case b.Object != "response":
		m.fail(senseless("it is of type %q, and no response", b.Object))
	default:
		for _, item := range b.Output {
			for _, part := range item.Content {
				m.says(part.Text)
			}
		}
		r.take(m, &b)
		m.finish()
	}
}

func (r *responsesReader) complete() bool { return false }
