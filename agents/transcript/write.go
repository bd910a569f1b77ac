package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// An Encoder writes a transcript event by event, each by one Write. It is safe for concurrent use. It neither buffers nor
// syncs: a killed process loses at most the line being written; a lost machine may lose more.
type Encoder struct {
	mu  sync.Mutex
	w   io.Writer
	buf bytes.Buffer
	err error

	over bool // Late was called
}

// NewEncoder writes the header.
func NewEncoder(w io.Writer, h Header) (*Encoder, error) {
	l := headerLine{
		Schema: Schema, Version: Version,
		Agent: h.Agent, AgentVersion: h.AgentVersion, Model: h.Model,
		Prompts: slices.Clone(h.Prompts), Started: h.Started.UTC().Round(0),
	}
	mend(&l.Exact, l.texts)
	enc := &Encoder{w: w}
	if err := enc.line(l); err != nil {
		return nil, fmt.Errorf("transcript: write header: %w", err)
	}
	return enc, nil
}

// Encode writes an event. A zero Time is written as the present. After an error of the writer, which may have left half a
// line, all further calls return it; an event that cannot be encoded (a year beyond 9999) is an error of its own, and so is
// one that comes after Late: the trajectory was over.
func (enc *Encoder) Encode(e agents.Event) error {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	enc.mu.Lock()
	defer enc.mu.Unlock()
	if enc.over {
		return errors.New("transcript: write event: the trajectory is over: a late event was written")
	}
	if err := enc.line(lossless(e)); err != nil {
		return fmt.Errorf("transcript: write event: %w", err)
	}
	return nil
}

// Late writes an event that came when the trajectory was over: after a cut, a timeout, an error. It is kept, and is none of
// the trajectory's, so it need not make sense there. From the first call on, Encode is an error.
func (enc *Encoder) Late(e agents.Event) error {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	enc.mu.Lock()
	defer enc.mu.Unlock()
	enc.over = true
	if err := enc.line(lateLine{lossless(e)}); err != nil {
		return fmt.Errorf("transcript: write late event: %w", err)
	}
	return nil
}

func (enc *Encoder) line(v any) error {
	if enc.err != nil {
		return enc.err
	}
	enc.buf.Reset()
	j := json.NewEncoder(&enc.buf)
	j.SetEscapeHTML(false)
	if err := j.Encode(v); err != nil {
		return err
	}
	_, enc.err = enc.w.Write(enc.buf.Bytes())
	return enc.err
}

// Write writes a whole trajectory.
func Write(w io.Writer, tr *agents.Trajectory, h Header) error {
	b := bufio.NewWriter(w)
	enc, err := NewEncoder(b, h)
	if err != nil {
		return err
	}
	for _, e := range tr.Events() {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("transcript: write: %w", err)
	}
	return nil
}
