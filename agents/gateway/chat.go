package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/evaltest-go/evaltest/agents"
)

// chat is the Chat Completions API of OpenAI, which many others serve, too:
// https://platform.openai.com/docs/api-reference/chat.
type chat struct{}

func (chat) route(r *http.Request) route {
	if r.Method == http.MethodPost && resource(r, "v1") == "/chat/completions" {
		return asks
	}
	return elsewhere
}

func (chat) side(r *http.Request, _ *query) (any, bool) { return openaiModels(r) }

func (chat) parse(_ *http.Request, body []byte) (*query, error) {
	q := &query{Request: Request{Side: true}, body: body}
	var conversation []message
	err := skim(body, func(name string, value []byte) {
		switch name {
		case "model":
			q.Model = text(value)
		case "stream":
			q.Stream = string(value) == "true"
		case "stream_options":
			_ = skim(value, func(name string, value []byte) {
				q.metered = q.metered || name == "include_usage" && string(value) == "true"
			})
		case "messages":
			conversation = conversation[:0]
			_ = skim(value, func(_ string, value []byte) {
				if m := chatMessage(value); m.role != "system" && m.role != "developer" {
					conversation = append(conversation, m)
				}
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

func chatMessage(data []byte) (m message) {
	var calls []part
	result := ""
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "role":
			m.role = text(value)
		case "content":
			m.parts = content(value, anthropicPart)
		case "tool_call_id":
			result = text(value)
		case "tool_calls":
			_ = skim(value, func(_ string, call []byte) {
				p := anthropicPart(call)
				p.kind = "tool_use"
				calls = append(calls, p)
			})
		}
	})
	if m.role == "tool" {
		return message{role: "user", parts: []part{{kind: "tool_result", result: result}}}
	}
	m.parts = append(m.parts, calls...)
	return m
}

func (chat) tools(entry []byte) []tool {
	var t struct {
		Type     string `json:"type"`
		Function struct {
			Name   string `json:"name"`
			Schema schema `json:"parameters"`
		} `json:"function"`
		Custom struct {
			Name string `json:"name"`
		} `json:"custom"`
	}
	switch {
	case decode(entry, &t) != nil:
		return nil
	case t.Type == "custom":
		return []tool{{name: t.Custom.Name, free: true}}
	}
	return []tool{{name: t.Function.Name, schema: t.Function.Schema}}
}

func (chat) spent(u usage) usage { return withoutWrites(u) }

func (d chat) whole(q *query, a reply) any {
	said := ""
	var calls []any
	for _, b := range a.blocks {
		if b.name == "" {
			said += b.text
		} else {
			calls = append(calls, d.call(b, string(b.input)))
		}
	}
	msg := map[string]any{"role": "assistant", "content": said, "refusal": nil}
	if said == "" {
		msg["content"] = nil
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	return map[string]any{"id": a.id, "object": "chat.completion", "created": 1767225600, "model": q.Model, "usage": d.report(a.usage),
		"choices": []any{map[string]any{"index": 0, "message": msg, "logprobs": nil, "finish_reason": d.stop(a)}}}
}

func (chat) call(b block, input string) map[string]any {
	if b.free {
		return map[string]any{"id": b.id, "type": "custom", "custom": map[string]any{"name": b.name, "input": input}}
	}
	return map[string]any{"id": b.id, "type": "function", "function": map[string]any{"name": b.name, "arguments": input}}
}

func (chat) report(u usage) map[string]any {
	return map[string]any{"prompt_tokens": u.input + u.read, "prompt_tokens_details": map[string]any{"cached_tokens": u.read},
		"completion_tokens": u.output, "total_tokens": u.input + u.read + u.output}
}

func (chat) stop(a reply) string {
	if len(a.calls()) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (d chat) stream(s *sse, q *query, a reply) pieces { return &chatStream{chat: d, s: s, q: q, a: a} }

type chatStream struct {
	chat
	s     *sse
	q     *query
	a     reply
	calls int // so far
}

// send sends a chunk: what it adds to the message, and why the model stopped.
func (t *chatStream) send(delta map[string]any, finish any) error {
	return t.chunk([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, nil)
}

func (t *chatStream) chunk(choices []any, usage any) error {
	out := map[string]any{"id": t.a.id, "object": "chat.completion.chunk", "created": 1767225600, "model": t.q.Model, "choices": choices}
	if t.q.metered {
		out["usage"] = usage
	}
	return t.s.send("", out)
}

func (t *chatStream) begin() error {
	return t.send(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)
}

func (t *chatStream) ping() error { return t.s.comment() }

func (t *chatStream) block(_ int, b block) error {
	if b.name == "" {
		return chunks(b.text, func(piece string) error { return t.send(map[string]any{"content": piece}, nil) })
	}
	i := t.calls
	t.calls++
	begun := t.chat.call(b, "")
	begun["index"] = i
	if err := t.send(map[string]any{"tool_calls": []any{begun}}, nil); err != nil {
		return err
	}
	return chunks(string(b.input), func(piece string) error {
		more := map[string]any{"index": i, "function": map[string]any{"arguments": piece}}
		if b.free {
			more = map[string]any{"index": i, "custom": map[string]any{"input": piece}}
		}
		return t.send(map[string]any{"tool_calls": []any{more}}, nil)
	})
}

func (t *chatStream) end() error {
	if err := t.send(map[string]any{}, t.chat.stop(t.a)); err != nil {
		return err
	}
	if t.q.metered {
		if err := t.chunk([]any{}, t.report(t.a.usage)); err != nil {
			return err
		}
	}
	return t.s.send("", json.RawMessage("[DONE]"))
}

func (chat) garbled() string { return "data: {\"id\":\"msg_\",\"object\":\"chat.comp\n\n" }

func (chat) word(status int) string { return openaiWord(status) }

func (chat) failure(kind agents.ErrorKind) (int, string) { return openaiFailure(kind) }

func (chat) refusal(_ int, word, text string) any { return openaiRefusal(word, text) }

func (chat) reader() reader { return new(chatReader) }

// chatReader reads along a completion. A stream ends with [DONE], or, as some servers have it, after a reason to stop.
type chatReader struct {
	id      string
	calls   []string
	stopped bool
}

type chatBody struct {
	ID      string     `json:"id"`
	Model   string     `json:"model"`
	Usage   *chatUsage `json:"usage"`
	Choices []struct {
		Message chatSays `json:"message"`
		Delta   chatSays `json:"delta"`
		Finish  string   `json:"finish_reason"`
		providerError
	} `json:"choices"`
	providerError
}

type chatSays struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
	Calls   []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func (r *chatReader) event(m *meter, data []byte) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		m.finish()
		return
	}
	var b chatBody
	if m.decode(data, &b) {
		r.take(m, &b)
	}
}

func (r *chatReader) whole(m *meter, body []byte) {
	var b chatBody
	switch {
	case !m.decode(body, &b):
	case !b.given() && len(b.Choices) == 0:
		m.fail(senseless("it has no choices, and is no completion"))
	default:
		if r.take(m, &b); m.failure == nil {
			m.finish()
		}
	}
}

func (r *chatReader) take(m *meter, b *chatBody) {
	if b.given() {
		m.broke(b.providerError)
		return
	}
	if r.id == "" {
		r.id = b.ID
	}
	m.began(b.ID, b.Model)
	made := len(r.calls)
	for _, c := range b.Choices {
		if c.given() {
			m.broke(c.providerError)
			return
		}
		for _, call := range append(c.Delta.Calls, c.Message.Calls...) {
			if call.ID != "" { // what follows the beginning of a call has none
				r.calls = append(r.calls, call.ID)
			}
		}
		m.says(c.Delta.Content + c.Delta.Refusal + c.Message.Content + c.Message.Refusal)
		m.stopped(c.Finish)
		r.stopped = r.stopped || c.Finish != ""
	}
	if len(r.calls) > made {
		m.x.makes(r.id, r.calls)
	}
	if b.Usage != nil {
		m.spent(b.Usage.total())
	} else {
		m.advance()
	}
}

func (r *chatReader) complete() bool { return r.stopped }
