package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/evaltest-go/evaltest/agents"
)

// Read reads a transcript to its end. With an error it returns what it read before: a header without events where the
// header was all that made sense, and a nil trajectory where there was no header. The error wraps ErrTorn when nothing but the
// last line is amiss, and that is incomplete.
func Read(r io.Reader) (*agents.Trajectory, Header, error) {
	tr, _, h, err := ReadAll(r)
	return tr, h, err
}

// ReadAll is Read, with the events that came when the trajectory was over, in order; nil when there were none.
func ReadAll(r io.Reader) (tr *agents.Trajectory, late []agents.Event, h Header, err error) {
	lines := bufio.NewReader(r)
	first, err := lines.ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, nil, Header{}, fmt.Errorf("transcript: read header: %w", err)
	}
	h, headerErr := header(first)
	if headerErr != nil {
		if err == io.EOF && len(first) > 0 && !json.Valid(first) {
			return nil, nil, Header{}, fmt.Errorf("transcript: read header: %w", ErrTorn)
		}
		return nil, nil, Header{}, headerErr
	}
	tr = new(agents.Trajectory)
	for n := 2; err == nil; n++ {
		var line []byte
		line, err = lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return tr, late, h, fmt.Errorf("transcript: read line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var l struct {
			eventLine
			Late *eventLine `json:"late"`
		}
		if jsonErr := json.Unmarshal(line, &l); jsonErr != nil {
			if err == io.EOF && !json.Valid(line) {
				return tr, late, h, fmt.Errorf("transcript: read line %d: %w", n, ErrTorn)
			}
			return tr, late, h, fmt.Errorf("transcript: read line %d: %w", n, jsonErr)
		}
		in := &l.eventLine
		if l.Late != nil {
			in = l.Late
		}
		e, eventErr := in.event()
		if eventErr == nil && e.Time.IsZero() {
			eventErr = errors.New("the event has no time")
		}
		switch {
		case eventErr != nil:
		case l.Late != nil:
			late = append(late, e)
		case late != nil:
			eventErr = errors.New("an event of the trajectory comes after its end")
		default:
			eventErr = tr.Append(e)
		}
		if eventErr != nil {
			return tr, late, h, fmt.Errorf("transcript: read line %d: %w", n, eventErr)
		}
	}
	return tr, late, h, nil
}

func header(line []byte) (Header, error) {
	var l headerLine
	// The version before the rest: what another version means by a field is not known.
	var about struct{ Schema, Version string }
	if err := json.Unmarshal(line, &about); err != nil {
		return Header{}, fmt.Errorf("transcript: read header: %w", err)
	}
	if about.Schema != Schema {
		return Header{}, fmt.Errorf("transcript: read header: the file is not a transcript: its schema is %q, not %q", about.Schema, Schema)
	}
	if err := readable(about.Version); err != nil {
		return Header{}, err
	}
	err := json.Unmarshal(line, &l)
	if err == nil {
		_, err = restore(l.Exact, l.texts)
	}
	if err != nil {
		return Header{}, fmt.Errorf("transcript: read header: %w", err)
	}
	return Header{l.Version, l.Agent, l.AgentVersion, l.Model, l.Prompts, l.Started}, nil
}
