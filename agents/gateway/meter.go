package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// meter reads a provider's answer on its way to the agent. It changes nothing of it, and writes down what it learns before
// the agent can know it.
type meter struct {
	x        exchange
	progress func()

	rest    []byte // of a line that is not whole yet
	after   bool   // the line before ended in a carriage return
	data    []byte // of the event that is not whole yet
	calls   []string
	id      string
	usage   apiUsage
	ended   bool          // the answer came to its end
	failure *agents.Error // how it failed
	events  int
}

// apiUsage is a usage report. A report tells totals of one answer; what it leaves out stays.
type apiUsage struct {
	Input   *int64 `json:"input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
	Output  *int64 `json:"output_tokens"`
}

func (u *apiUsage) take(v apiUsage) {
	for _, f := range []struct{ to, from **int64 }{{&u.Input, &v.Input}, {&u.Written, &v.Written}, {&u.Read, &v.Read}, {&u.Output, &v.Output}} {
		if *f.from != nil && (*f.to == nil || **f.from > **f.to) {
			*f.to = *f.from
		}
	}
}

func (u apiUsage) total() agents.Usage {
	n := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return max(0, *p)
	}
	return agents.Usage{InputTokens: n(u.Input), CacheWriteTokens: n(u.Written), CachedTokens: n(u.Read), OutputTokens: n(u.Output)}
}

// apiMessage is a whole answer, or the beginning of one.
type apiMessage struct {
	Type    string   `json:"type"`
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Stop    string   `json:"stop_reason"`
	Usage   apiUsage `json:"usage"`
	Content []struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"content"`
}

// apiEvent is an event of a stream.
type apiEvent struct {
	Type    string     `json:"type"`
	Message apiMessage `json:"message"`
	Block   struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"content_block"`
	Delta struct {
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	Usage apiUsage `json:"usage"`
	providerError
}

// begin notes that the answer has begun.
func (m *meter) begin(status int) {
	now := time.Now()
	m.x.update(func(x *Exchange) { x.Status, x.FirstByte, x.Progressed = status, now, now })
	if m.progress != nil {
		m.progress()
	}
}

// maxEvent bounds how long a line of a stream, and an event, may be.
const maxEvent = maxRequest

// lines takes a piece of a stream of server-sent events: lines, of which "data:" carries the event, and an empty one ends it.
func (m *meter) lines(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexAny(p, "\r\n")
		switch {
		case m.after && p[0] == '\n': // the second half of the end of a line
			m.after, p = false, p[1:]
			continue
		case i < 0:
			m.after = false
			if m.rest = append(m.rest, p...); len(m.rest)+len(m.data) > maxEvent {
				m.fail(senseless("an event has more than %d bytes", maxEvent))
				m.rest, m.data = nil, nil
			}
			return
		}
		line := p[:i]
		if len(m.rest) > 0 {
			line = append(m.rest, line...)
		}
		m.line(line)
		m.rest, m.after, p = m.rest[:0], p[i] == '\r', p[i+1:]
	}
}

func (m *meter) line(line []byte) {
	switch value, ok := bytes.CutPrefix(line, []byte("data:")); {
	case ok:
		m.data = append(append(m.data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
	case len(line) == 0 && len(m.data) > 0:
		m.event(m.data)
		m.data = m.data[:0]
	}
}

func (m *meter) event(data []byte) {
	var e apiEvent
	if err := decode(data, &e); err != nil {
		m.fail(senseless("an event is no JSON: %v", err))
		return
	}
	m.events++
	switch e.Type {
	case "":
		m.fail(senseless("an event has no type"))
		return
	case "ping":
		return
	}
	now := time.Now()
	switch e.Type {
	case "message_start":
		m.id = e.Message.ID
		m.usage.take(e.Message.Usage)
		m.x.update(func(x *Exchange) { x.ID, x.Answered = m.id, e.Message.Model })
	case "content_block_start":
		if e.Block.ID != "" && e.Block.Type == "tool_use" {
			m.calls = append(m.calls, e.Block.ID)
			m.x.makes(m.id, m.calls)
		}
	case "message_delta":
		m.usage.take(e.Usage)
		m.x.update(func(x *Exchange) { x.Stop = cmp.Or(e.Delta.Stop, x.Stop) })
	case "error":
		m.x.update(func(x *Exchange) { x.Error = e.kind() })
		m.fail(said(e.providerError))
	}
	m.x.update(func(x *Exchange) { x.Usage, x.Progressed = m.usage.total(), now })
	switch e.Type { // an agent that has read so far may be done with it, and close the connection
	case "message_stop":
		m.ended = true
		m.x.end(Answered)
	case "error":
		m.x.end(Answered)
	}
	if m.progress != nil {
		m.progress()
	}
}

// decode is json.Unmarshal that takes what is of another type than is known for not told.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
		return nil
	}
	return err
}

// whole takes an answer in one piece.
func (m *meter) whole(body []byte) {
	var msg struct {
		apiMessage
		providerError
	}
	switch err := decode(body, &msg); {
	case len(bytes.TrimSpace(body)) == 0:
		m.fail(senseless("it is empty"))
	case err != nil:
		m.fail(senseless("it is no JSON: %v", err))
	case msg.Type == "error":
		m.x.update(func(x *Exchange) { x.Error = msg.kind() })
		m.fail(said(msg.providerError))
	case msg.Type != "message":
		m.fail(senseless("it is of type %q, and no message", msg.Type))
	default:
		for _, c := range msg.Content {
			if c.Type == "tool_use" && c.ID != "" {
				m.calls = append(m.calls, c.ID)
			}
		}
		m.usage.take(msg.Usage)
		m.ended = true
		m.x.makes(msg.ID, m.calls)
		m.x.update(func(x *Exchange) {
			x.Answered, x.Stop, x.Usage, x.Progressed = msg.Model, msg.Stop, m.usage.total(), time.Now()
		})
		if m.progress != nil {
			m.progress()
		}
	}
}

// fail keeps the first failure, at once: the agent may react to what failed before it is over. What comes after the end of
// an answer is none.
func (m *meter) fail(e *agents.Error) {
	if m.failure == nil && !m.ended {
		m.failure = e
		m.x.update(func(x *Exchange) { x.Failure = e })
	}
}

// end closes the books on a stream that was read to its end, or to err.
func (m *meter) end(err error) {
	state := Answered
	switch {
	case m.failure != nil || m.ended:
	case m.events == 0 && err == nil:
		m.fail(senseless("it has no event"))
	default:
		m.fail(broken(err))
		state = Cut
	}
	m.x.end(state)
}
