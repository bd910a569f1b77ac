package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// chunk is how many bytes of text or input one event of a stream carries.
const chunk = 2048

// sse writes a stream of server-sent events.
type sse struct {
	w     http.ResponseWriter
	flush func() error
}

func newSSE(w http.ResponseWriter) *sse {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Request-Id", "req_scripted")
	w.WriteHeader(http.StatusOK)
	return &sse{w, http.NewResponseController(w).Flush}
}

// send writes an event; the client may not see it before flush.
func (s *sse) send(kind string, fields map[string]any) error {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["type"] = kind
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, data)
	return err
}

func (s *sse) ping() error {
	if err := s.send("ping", nil); err != nil {
		return err
	}
	return s.flush()
}

// stream gives an answer block by block. A block that is finished is sent before the pause that follows it; in a pause,
// pings keep the connection alive.
func (m *messages) stream(w http.ResponseWriter, r *http.Request, q *query, a reply, x exchange) error {
	ctx := r.Context()
	s := newSSE(w)
	begin := a.usage
	begin.output = 1
	msg := head(q, a)
	msg["usage"] = begin.report()
	x.update(func(e *Exchange) { e.Status, e.Usage = http.StatusOK, begin.total() })
	if err := s.send("message_start", map[string]any{"message": msg}); err != nil {
		return err
	}
	if err := s.send("ping", nil); err != nil {
		return err
	}
	for i, b := range a.blocks {
		if b.pause > 0 {
			if err := s.flush(); err != nil {
				return err
			}
			if err := sleep(ctx, b.pause, s.ping); err != nil {
				return err
			}
		}
		if err := s.block(i, b); err != nil {
			return err
		}
	}
	if err := s.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": a.stop(), "stop_sequence": nil}, "usage": a.usage.report()}); err != nil {
		return err
	}
	if err := s.send("message_stop", nil); err != nil {
		return err
	}
	x.update(func(e *Exchange) { e.Stop, e.Usage = a.stop(), a.usage.total() })
	x.end(Answered) // before the agent knows: it may be over the moment that it does
	return s.flush()
}

func (s *sse) block(i int, b block) error {
	if err := s.send("content_block_start", map[string]any{"index": i, "content_block": b.start(false)}); err != nil {
		return err
	}
	kind, field, rest := "text_delta", "text", b.text
	if b.name != "" {
		kind, field, rest = "input_json_delta", "partial_json", string(b.input)
	}
	for len(rest) > 0 {
		n := min(chunk, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		delta := map[string]any{"type": kind, field: rest[:n]}
		if err := s.send("content_block_delta", map[string]any{"index": i, "delta": delta}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return s.send("content_block_stop", map[string]any{"index": i})
}
