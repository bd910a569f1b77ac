package gateway

import (
	"fmt"
	"io"
	"net/http"

	"github.com/evaltest-go/evaltest/agents"
)

// ReadAnswer reads a provider's answer to its end, a stream or in one piece, as a gateway does that passes it on: what it was, what
// it cost, and how the provider failed where it did (Exchange.Failure). text, when not nil, is called with what the model says, as it
// comes. It does not close the body, and panics on a wire format that is not known.
func ReadAnswer(wire agents.Wire, resp *http.Response, text func(string)) Exchange {
	d, err := dialectOf(wire)
	if err != nil {
		panic(fmt.Errorf("gateway: read answer: %w", err))
	}
	l := new(log)
	m := &meter{x: l.arrive(Request{}), reader: d.reader(), text: text}
	m.begin(resp.StatusCode)
	if good(resp) && isStream(resp.Header) {
		m.end(m.follow(resp.Body))
		return l.snapshot()[0]
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRequest))
	state := Answered
	switch {
	case err != nil:
		m.fail(broken(err))
		state = Cut
	case good(resp):
		m.whole(body)
	default:
		m.refused(resp.StatusCode, resp.Header, body)
	}
	m.x.end(state)
	return l.snapshot()[0]
}

// follow reads a stream to its end; nil: it was foreseen.
func (m *meter) follow(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		m.lines(buf[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
