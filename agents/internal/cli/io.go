package claude

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// input writes lines to the CLI without making anyone wait for it: a CLI that does not read must not stall its ending.
type input struct {
	w      io.WriteCloser
	mu     sync.Mutex
	ready  *sync.Cond
	lines  [][]byte
	closed bool
}

func newInput(w io.WriteCloser) *input {
	in := &input{w: w}
	in.ready = sync.NewCond(&in.mu)
	go in.run()
	return in
}

// send writes v as a line, in order. After close it does nothing.
func (in *input) send(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is sent is made of maps and strings
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.lines = append(in.lines, append(data, '\n'))
		in.ready.Signal()
	}
}

// close ends the input after what was sent.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.ready.Signal()
}

func (in *input) run() {
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
				in.close() // nobody reads any more; the stream says why
				return
			}
		}
	}
}

// both writes to two writers; neither fails.
type both [2]io.Writer

func (b both) Write(p []byte) (int, error) {
	_, _ = b[0].Write(p)
	_, _ = b[1].Write(p)
	return len(p), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - tailSize; n > 0 {
		t.buf = append([]byte(nil), t.buf[n:]...)
	}
	return len(p), nil
}

// text is the last lines, whole ones.
func (t *tail) text() string {
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
