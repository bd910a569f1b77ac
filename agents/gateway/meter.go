package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// meter reads a provider's answer on its way to the agent. It changes nothing of it, and writes down what it learns before
// the agent can know it.
type meter struct {
	x        exchange
	reader   reader
	progress func()
	text     func(string) // what the model says, as it comes; nil: nobody asks

	rest    []byte        // of a line that is not whole yet
	after   bool          // the line before ended in a carriage return
	data    []byte        // of the event that is not whole yet
	ended   bool          // the answer came to its end
	failure *agents.Error // how it failed
	events  int
}

// begin notes that the answer has begun.
func (m *meter) begin(status int) {
	now := time.Now()
	m.x.update(func(x *Exchange) { x.Status, x.FirstByte, x.Progressed = status, now, now })
	m.beat()
}

func (m *meter) beat() {
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
		m.events++
		m.reader.event(m, m.data)
		m.data = m.data[:0]
	}
}

// whole takes an answer in one piece.
func (m *meter) whole(body []byte) {
	if len(bytes.TrimSpace(body)) == 0 {
		m.fail(senseless("it is empty"))
		return
	}
	m.reader.whole(m, body)
}

// decode reads an event, or an answer. What is no JSON fails the answer.
func (m *meter) decode(data []byte, v any) bool {
	err := decode(data, v)
	if err != nil {
		m.fail(senseless("it is no JSON: %v", err))
	}
	return err == nil
}

// decode is json.Unmarshal that takes what is of another type than is known for not told.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
		return nil
	}
	return err
}

// began notes what the answer says of itself: its id, and the model that gives it.
func (m *meter) began(id, model string) {
	m.x.update(func(x *Exchange) { x.ID, x.Answered = cmp.Or(id, x.ID), cmp.Or(model, x.Answered) })
}

// stopped notes why the model stopped.
func (m *meter) stopped(why string) {
	m.x.update(func(x *Exchange) { x.Stop = cmp.Or(why, x.Stop) })
}

// spent notes that the answer has made progress, and what it has cost so far.
func (m *meter) spent(u agents.Usage) {
	m.x.update(func(x *Exchange) { x.Usage = u })
	m.advance()
}

// says passes on what the model says.
func (m *meter) says(text string) {
	if m.text != nil && text != "" {
		m.text(text)
	}
}

// refused takes an answer in one piece that is an error.
func (m *meter) refused(status int, h http.Header, body []byte) {
	failure := refusal(status, h, body)
	m.x.update(func(x *Exchange) { x.Error, x.RetryAfter = readError(body).kind(), failure.RetryAfter })
	m.fail(failure)
}

// advance notes that the answer has made progress.
func (m *meter) advance() {
	now := time.Now()
	m.x.update(func(x *Exchange) { x.Progressed = now })
	m.beat()
}

// finish notes that the answer is whole.
func (m *meter) finish() {
	m.ended = true
	m.x.end(Answered)
}

// broke notes that the provider ended its answer with an error.
func (m *meter) broke(e providerError) {
	m.x.update(func(x *Exchange) { x.Error = e.kind() })
	m.fail(said(e))
	m.x.end(Answered)
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
	case err == nil && m.reader.complete():
		m.ended = true
	default:
		m.fail(broken(err))
		state = Cut
	}
	m.x.end(state)
}
