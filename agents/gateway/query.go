package gateway

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxRequest bounds what one request may be long: the providers' own bounds are 20 to 32 MB.
const maxRequest = 64 << 20

// query is a model request, whatever its wire format.
type query struct {
	Request
	offered [][]byte // the tools, as they stand in the JSON
	opening [][]byte // texts of the user before the first answer, as they stand in the JSON
	after   string   // the id of the answer that the conversation goes on from, where the provider keeps what came before; "": none
	turns   []turn   // the answers in it, in order
	sent    int      // messages in all
	fresh   int      // messages after the last answer
	body    []byte   // where a skill may be found that the agent has no tool for
	metered bool     // a stream is to tell what it cost, in a dialect where that is to be asked for
	array   bool     // a stream is a JSON array of its events
}

// turn is an answer that the agent repeats to the model as part of the conversation.
type turn struct {
	calls []string // ids; "" where the agent repeats none
	texts [][]byte // as they stand in the JSON
}

// tool is a tool that the agent offers.
type tool struct {
	entry  []byte // of the list of tools, as it stands in the JSON
	name   string
	schema schema
	space  string // the name of those that it is among; "": of none
	free   bool   // its input is a text of its own form, and no JSON
}

// message is a message of a conversation.
type message struct {
	role  string // "assistant": the model's
	parts []part
}

// part is a part of a message: a text, a call, the result of one, or something else.
type part struct {
	kind       string // "text", "tool_use", "tool_result", or the dialect's own word
	id, result string // of a call: its own, and that of the call whose result it is
	text       []byte // as it stands in the JSON
}

// model reports whether the message is the model's.
func (m message) model() bool { return m.role == "assistant" }

// offer takes in a list of tools, as it stands in the JSON.
func (q *query) offer(list []byte) {
	_ = skim(list, func(_ string, tool []byte) { q.offered, q.Side = append(q.offered, tool), false })
}

// converse is q with the conversation that a request carries. An error is that there is none.
func (q *query) converse(messages []message) (*query, error) {
	point := sha256.New()
	for _, m := range messages {
		q.take(m, point)
	}
	if q.sent == 0 {
		return nil, errors.New("messages: at least one message is required")
	}
	q.Point = hex.EncodeToString(point.Sum(nil)[:8])
	return q, nil
}

// take adds the next message to the conversation that q ends.
func (q *query) take(m message, point io.Writer) {
	q.sent++
	fmt.Fprintf(point, "%q %d\n", m.role, len(m.parts))
	for _, p := range m.parts {
		if fmt.Fprintf(point, "%q %q %q\n", p.kind, p.id, p.result); !m.model() {
			fmt.Fprintf(point, "%d %s\n", len(p.text), p.text)
		}
	}
	if m.model() {
		var t turn
		for _, p := range m.parts {
			switch p.kind {
			case "tool_use":
				t.calls = append(t.calls, p.id)
			case "text":
				t.texts = append(t.texts, p.text)
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
			if p.result != "" {
				q.Results = append(q.Results, p.result)
			}
		case "text":
			if len(q.turns) == 0 {
				q.opening = append(q.opening, p.text)
			}
		}
	}
}

// letters is the texts of an answer without blanks: agents trim them, and take them apart.
func (t turn) letters() string {
	var all strings.Builder
	for _, raw := range t.texts {
		all.WriteString(letters(text(raw)))
	}
	return all.String()
}

func letters(text string) string { return strings.Join(strings.Fields(text), "") }

// joined is messages of which neighbours have different speakers: some dialects, and some agents, give each part of an answer, and
// each result, as a message of its own.
func joined(messages []message) (out []message) {
	for _, m := range messages {
		if n := len(out); n > 0 && out[n-1].model() == m.model() {
			out[n-1].parts = append(out[n-1].parts, m.parts...)
			continue
		}
		out = append(out, m)
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

// content is the parts of a content that is a string, or a list of parts that part reads.
func content(value []byte, read func([]byte) part) (parts []part) {
	if len(value) > 0 && value[0] == '"' {
		return []part{{kind: "text", text: value}}
	}
	_ = skim(value, func(_ string, value []byte) { parts = append(parts, read(value)) })
	return parts
}

// readBody reads the body of a request, as it came.
func readBody(r *http.Request) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, 0, max(0, min(r.ContentLength, maxRequest))+bytes.MinRead))
	if _, err := body.ReadFrom(http.MaxBytesReader(nil, r.Body, maxRequest)); err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body.Bytes(), nil
}

// unpacked is a body without its compression, or as it is where that is not known.
func unpacked(r *http.Request, body []byte) []byte {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return body
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxRequest))
	if err != nil {
		return body
	}
	return plain
}

// readQuery reads what the gateway has to know of a request that it answers itself.
func readQuery(d dialect, r *http.Request) (*query, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	body = unpacked(r, body)
	if !json.Valid(body) {
		if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
			return nil, fmt.Errorf("decode body: it is compressed with %q, which is not known here", encoding)
		}
		return nil, fmt.Errorf("decode body: %w", errNoJSON)
	}
	return d.parse(r, body)
}

// tools are those that the agent offers.
func (q *query) tools(d dialect) (all []tool) {
	for _, entry := range q.offered {
		for _, t := range d.tools(entry) {
			t.entry = entry
			all = append(all, t)
		}
	}
	return all
}
