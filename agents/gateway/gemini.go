package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// gemini is generateContent of Google's Gemini API: https://ai.google.dev/api/generate-content. Its path names the model.
type gemini struct{}

// method is the model and the method that a path names: /v1beta/models/MODEL:METHOD, whatever stands before it.
func (gemini) method(r *http.Request) (model, method string) {
	_, rest, _ := strings.Cut(r.URL.Path, "/models/")
	i := strings.LastIndexByte(rest, ':')
	if i < 0 {
		return rest, ""
	}
	return rest[:i], rest[i+1:]
}

func (d gemini) route(r *http.Request) route {
	if _, method := d.method(r); r.Method == http.MethodPost {
		switch method {
		case "generateContent", "streamGenerateContent":
			return asks
		case "countTokens":
			return counts
		}
	}
	return elsewhere
}

func (d gemini) side(r *http.Request, q *query) (any, bool) {
	model := func(id string) map[string]any {
		return map[string]any{"name": "models/" + id, "version": "1", "displayName": id, "inputTokenLimit": 1 << 20, "outputTokenLimit": 1 << 16,
			"supportedGenerationMethods": []string{"generateContent", "countTokens"}}
	}
	switch path := resource(r, "v1beta", "v1"); {
	case q != nil:
		u := spent(q, 0)
		return map[string]any{"totalTokens": u.input + u.written + u.read}, true
	case path == "/models" && isRead(r):
		return map[string]any{"models": []any{model(scriptedModel)}}, true
	case strings.HasPrefix(path, "/models/") && isRead(r):
		return model(strings.TrimPrefix(path, "/models/")), true
	}
	return nil, false
}

func (d gemini) parse(r *http.Request, body []byte) (*query, error) {
	q := &query{Request: Request{Side: true}, body: body}
	model, method := d.method(r)
	q.Model = model
	q.Stream = method == "streamGenerateContent"
	q.array = q.Stream && r.URL.Query().Get("alt") != "sse"
	var conversation []message
	see := func(name string, value []byte) {
		switch name {
		case "contents":
			conversation = conversation[:0]
			if value[0] == '{' {
				conversation = append(conversation, geminiContent(value))
				return
			}
			_ = skim(value, func(_ string, value []byte) { conversation = append(conversation, geminiContent(value)) })
		case "tools":
			_ = skim(value, func(_ string, entry []byte) {
				q.offered = append(q.offered, entry)
				_ = skim(entry, func(name string, _ []byte) { q.Side = q.Side && !declarations[name] })
			})
		}
	}
	err := skim(body, func(name string, value []byte) {
		if name == "generateContentRequest" { // a count may be asked for a whole request
			_ = skim(value, see)
			return
		}
		see(name, value)
	})
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	return q.converse(joined(conversation))
}

// declarations are the names under which functions are declared.
var declarations = map[string]bool{"functionDeclarations": true, "function_declarations": true}

func geminiContent(data []byte) (m message) {
	m.role = "user"
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "role":
			if m.role = text(value); m.role == "model" {
				m.role = "assistant"
			}
		case "parts":
			_ = skim(value, func(_ string, value []byte) { m.parts = append(m.parts, geminiPart(value)) })
		}
	})
	return m
}

// geminiPart is a part, of which the member that it has says what it is. A call has an id only where the agent gives it one.
func geminiPart(data []byte) (p part) {
	id := func(value []byte) (id string) {
		_ = skim(value, func(name string, value []byte) {
			if name == "id" {
				id = text(value)
			}
		})
		return id
	}
	_ = skim(data, func(name string, value []byte) {
		switch name {
		case "text":
			p.kind, p.text = "text", value
		case "functionCall", "function_call":
			p.kind, p.id = "tool_use", id(value)
		case "functionResponse", "function_response":
			p.kind, p.result = "tool_result", id(value)
		default:
			p.kind = cmp.Or(p.kind, name)
		}
	})
	return p
}

func (gemini) tools(entry []byte) (all []tool) {
	_ = skim(entry, func(name string, value []byte) {
		if !declarations[name] {
			return
		}
		_ = skim(value, func(_ string, value []byte) {
			var t struct {
				Name   string  `json:"name"`
				Schema *schema `json:"parametersJsonSchema"`
				Plain  schema  `json:"parameters"`
			}
			if decode(value, &t) != nil {
				return
			}
			if t.Schema == nil {
				t.Schema = &t.Plain
			}
			all = append(all, tool{name: t.Name, schema: *t.Schema})
		})
	})
	return all
}

func (gemini) spent(u usage) usage { return withoutWrites(u) }

func (d gemini) whole(q *query, a reply) any {
	parts := make([]any, len(a.blocks))
	for i, b := range a.blocks {
		parts[i] = d.part(b, b.text)
	}
	return d.response(q, a, parts, d.stop(a))
}

func (gemini) part(b block, text string) any {
	if b.name == "" {
		return map[string]any{"text": text}
	}
	return map[string]any{"functionCall": map[string]any{"id": b.id, "name": b.name, "args": json.RawMessage(b.input)}}
}

// response is an answer, or an event of one; it is the last one where it says why the model stopped.
func (gemini) response(q *query, a reply, parts []any, finish string) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	out := map[string]any{"candidates": []any{candidate}, "modelVersion": q.Model, "responseId": a.id}
	if finish != "" {
		u := a.usage
		candidate["finishReason"] = finish
		out["usageMetadata"] = map[string]any{"promptTokenCount": u.input + u.read, "cachedContentTokenCount": u.read,
			"candidatesTokenCount": u.output, "totalTokenCount": u.input + u.read + u.output}
	}
	return out
}

func (gemini) stop(reply) string { return "STOP" }

func (d gemini) stream(s *sse, q *query, a reply) pieces { return &geminiStream{d, s, q, a} }

type geminiStream struct {
	gemini
	s *sse
	q *query
	a reply
}

func (t *geminiStream) begin() error { return nil }

// Google's own client takes a comment for a broken event: nothing can be sent in a pause.
func (t *geminiStream) ping() error { return nil }

func (t *geminiStream) block(_ int, b block) error {
	if b.name != "" {
		return t.s.send("", t.response(t.q, t.a, []any{t.part(b, "")}, ""))
	}
	return chunks(b.text, func(piece string) error { return t.s.send("", t.response(t.q, t.a, []any{t.part(b, piece)}, "")) })
}

func (t *geminiStream) end() error {
	if err := t.s.send("", t.response(t.q, t.a, []any{map[string]any{"text": ""}}, t.gemini.stop(t.a))); err != nil {
		return err
	}
	return t.s.close()
}

func (gemini) garbled() string { return "data: {\"candidates\": [{\"content\": {\"par\n\n" }

func (gemini) word(status int) string {
	words := map[int]string{
		http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
		http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
	}
	if status < 500 {
		return cmp.Or(words[status], "INVALID_ARGUMENT")
	}
	return cmp.Or(words[status], "INTERNAL")
}

func (d gemini) failure(kind agents.ErrorKind) (int, string) {
	status := map[agents.ErrorKind]int{
		agents.Auth: http.StatusUnauthorized, agents.Quota: http.StatusTooManyRequests, agents.RateLimit: http.StatusTooManyRequests,
		agents.Overloaded: http.StatusServiceUnavailable,
	}[kind]
	if status == 0 {
		return 0, ""
	}
	return status, d.word(status)
}

func (gemini) refusal(status int, word, text string) any {
	return map[string]any{"error": map[string]any{"code": status, "message": text, "status": word}}
}

func (gemini) reader() reader { return new(geminiReader) }

// geminiReader reads along an answer. Its last event says why the model stopped, or why the prompt was blocked.
type geminiReader struct {
	id    string
	calls []string
	usage agents.Usage
}

func (r *geminiReader) event(m *meter, data []byte) {
	var e struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text    string `json:"text"`
					Thought bool   `json:"thought"`
					Call    *struct {
						ID string `json:"id"`
					} `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
			Finish string `json:"finishReason"`
		} `json:"candidates"`
		Feedback struct {
			Block string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage *geminiUsage `json:"usageMetadata"`
		Model string       `json:"modelVersion"`
		ID    string       `json:"responseId"`
		providerError
	}
	if !m.decode(data, &e) {
		return
	}
	if e.given() {
		m.broke(e.providerError)
		return
	}
	r.id = cmp.Or(r.id, e.ID)
	m.began(e.ID, e.Model)
	finish, made := e.Feedback.Block, len(r.calls)
	for _, c := range e.Candidates {
		for _, p := range c.Content.Parts {
			if p.Call != nil && p.Call.ID != "" {
				r.calls = append(r.calls, p.Call.ID)
			}
			if !p.Thought {
				m.says(p.Text)
			}
		}
		finish = cmp.Or(finish, c.Finish)
	}
	if len(r.calls) > made {
		m.x.makes(r.id, r.calls)
	}
	if e.Usage != nil {
		r.usage = e.Usage.total()
	}
	m.stopped(finish)
	m.spent(r.usage)
	if finish != "" {
		m.finish()
	}
}

func (r *geminiReader) whole(m *meter, body []byte) {
	if body = bytes.TrimSpace(body); body[0] != '[' {
		r.event(m, body)
	} else if err := skim(body, func(_ string, value []byte) { r.event(m, value) }); err != nil {
		m.fail(senseless("it is no JSON: %v", err))
	}
	if !m.ended {
		m.fail(senseless("it does not say why the model stopped"))
	}
}

func (r *geminiReader) complete() bool { return false }
