// Package cli is what adapters of agents with a command line share: finding the program, talking to it in lines, and giving it skills.
package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// An Input writes lines of JSON to a program without making anyone wait for it: one that does not read must not stall its ending.
type Input struct {
	w      io.WriteCloser
	mu     sync.Mutex
	ready  *sync.Cond
	lines  [][]byte
	closed bool
}

// NewInput writes to w, and closes it after all else.
func NewInput(w io.WriteCloser) *Input {
	in := &Input{w: w}
	in.ready = sync.NewCond(&in.mu)
	go in.run()
	return in
}

// Send writes v as a line, in order. After Close it does nothing. It panics on what is no JSON.
func (in *Input) Send(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // what is sent is made of maps and strings
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.lines = append(in.lines, append(data, '\n'))
		in.ready.Signal()
	}
}

// Close ends the input after what was sent.
func (in *Input) Close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.ready.Signal()
}

func (in *Input) run() {
	defer in.w.Close()
	for {
		in.mu.Lock()
		for len(in.lines) == 0 && !in.closed {
			in.ready.Wait()
		}
		lines := in.lines
		in.lines = nil
		in.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, l := range lines {
			if _, err := in.w.Write(l); err != nil {
				in.Close() // nobody reads any more; the stream says why
				return
			}
		}
	}
}

// Both writes to two writers that never fail.
type Both [2]io.Writer

func (b Both) Write(p []byte) (int, error) {
	_, _ = b[0].Write(p)
	_, _ = b[1].Write(p)
	return len(p), nil
}

// A Tail keeps the end of what is written to it: its last 4 KiB.
type Tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4 << 10

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - tailSize; n > 0 {
		t.buf = append([]byte(nil), t.buf[n:]...)
	}
	return len(p), nil
}

// Text is the last lines, whole ones.
func (t *Tail) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if len(b) == tailSize {
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "�"))
}
