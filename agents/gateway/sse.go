package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// sse writes a stream of server-sent events; or, as one dialect has it beside them, a JSON array of the same.
type sse struct {
	w     http.ResponseWriter
	flush func() error
	array bool
	begun bool
}

func newSSE(w http.ResponseWriter, array bool) *sse {
	kind := "text/event-stream; charset=utf-8"
	if array {
		kind = "application/json; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Request-Id", "req_scripted")
	w.WriteHeader(http.StatusOK)
	return &sse{w: w, flush: http.NewResponseController(w).Flush, array: array}
}

// send writes an event, with a name where it has one: its JSON, or what stands in its place. The client may not see it before flush.
func (s *sse) send(name string, event any) error {
	data, ready := event.(json.RawMessage)
	var err error
	if !ready {
		if data, err = json.Marshal(event); err != nil {
			return err
		}
	}
	switch {
	case s.array && s.begun:
		_, err = fmt.Fprintf(s.w, ",\n%s", data)
	case s.array:
		_, err = fmt.Fprintf(s.w, "[%s", data)
	case name != "":
		_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	default:
		_, err = fmt.Fprintf(s.w, "data: %s\n\n", data)
	}
	s.begun = true
	return err
}

// close ends an array.
func (s *sse) close() error {
	if !s.array {
		return nil
	}
	_, err := fmt.Fprint(s.w, "\n]")
	return err
}

// comment keeps the connection alive, in dialects that have no event for that.
func (s *sse) comment() error {
	_, err := fmt.Fprint(s.w, ": keep-alive\n\n")
	return err
}

// chunk is how many bytes of text or input one event of a stream carries.
const chunk = 2048

// chunks calls f with a text in pieces of whole runes.
func chunks(text string, f func(piece string) error) error {
	for len(text) > 0 {
		n := min(chunk, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		if err := f(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
