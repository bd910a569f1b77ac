package evaltest

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
)

// masker replaces secret values by ‹name›.
type masker struct{ r *strings.Replacer }

// newMasker is nil when there is nothing to hide.
func newMasker(secrets map[string]string) *masker {
	if len(secrets) == 0 {
		return nil
	}
	names := make([]string, 0, len(secrets))
	for name := range secrets {
		names = append(names, name)
	}
	// Longest value first: one may hold another.
	slices.SortFunc(names, func(a, b string) int {
		if d := len(secrets[b]) - len(secrets[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, name := range names {
		value := secrets[name]
		pairs = append(pairs, value, "‹"+name+"›")
		// As it stands inside a JSON string.
		if quoted, err := json.Marshal(value); err == nil {
			if in := string(quoted[1 : len(quoted)-1]); in != value {
				pairs = append(pairs, in, "‹"+name+"›")
			}
		}
	}
	return &masker{strings.NewReplacer(pairs...)}
}

func (m *masker) text(s string) string {
	if m == nil {
		return s
	}
	return m.r.Replace(s)
}

func (m *masker) event(e agents.Event) agents.Event {
	if m == nil {
		return e
	}
	e.Text, e.Output = m.text(e.Text), m.text(e.Output)
	if e.Call.Input != nil {
		e.Call.Input = json.RawMessage(m.text(string(e.Call.Input)))
	}
	e.Call.Commands, e.Call.Paths = m.texts(e.Call.Commands), m.texts(e.Call.Paths)
	return e
}

func (m *masker) texts(in []string) []string {
	if m == nil {
		return in
	}
	out := slices.Clone(in)
	for i := range out {
		out[i] = m.text(out[i])
	}
	return out
}

// err masks the text of an error.
func (m *masker) err(e *agents.Error) *agents.Error {
	if m == nil || e == nil {
		return e
	}
	masked := *e
	masked.Err = maskedError{m.text(e.Message()), e.Err}
	return &masked
}

type maskedError struct {
	text string
	err  error
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.err }

// writer masks what is written, line by line: a value that holds a line break is found in its JSON form.
func (m *masker) writer(w io.Writer) io.Writer {
	if m == nil {
		return w
	}
	return &maskingWriter{m: m, w: w}
}

type maskingWriter struct {
	mu   sync.Mutex
	m    *masker
	w    io.Writer
	rest []byte
}

// Write holds back an unfinished line until it is finished: flush writes the last one.
func (w *maskingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for i := slices.Index(w.rest, '\n'); i >= 0; i = slices.Index(w.rest, '\n') {
		if _, err := io.WriteString(w.w, w.m.text(string(w.rest[:i+1]))); err != nil {
			return 0, err
		}
		w.rest = w.rest[i+1:]
	}
	return len(p), nil
}

func (w *maskingWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		_, _ = io.WriteString(w.w, w.m.text(string(w.rest)))
		w.rest = nil
	}
}

func (e *T) mask(s string) string {
	if len(e.secrets) == 0 {
		return s
	}
	return newMasker(e.secrets).text(s)
}
