package evaltest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// json masks data inside the strings of JSON, so that it stays JSON. A number, true, false or null that is a secret, or a
// number that holds a long one, becomes a string. Where nothing is masked, and between what is, the bytes stay as they
// are. What is no JSON is masked as text.
func (m *masker) json(data []byte) []byte {
	if m == nil || len(data) == 0 {
		return data
	}
	if !json.Valid(data) {
		return []byte(m.text(string(data)))
	}
	var out bytes.Buffer
	for i := 0; i < len(data); {
		n := 1
		switch c := data[i]; {
		case c == '"':
			for n++; data[i+n-1] != '"'; n++ {
				if data[i+n-1] == '\\' {
					n++
				}
			}
			out.Write(m.jsonString(data[i : i+n]))
		case c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			for i+n < len(data) && !bytes.ContainsRune([]byte(" \t\r\n,:]}"), rune(data[i+n])) {
				n++
			}
			out.Write(m.jsonWord(data[i : i+n]))
		default:
			out.WriteByte(c)
		}
		i += n
	}
	// A secret may itself be JSON: the key file of an account.
	text := out.String()
	for _, v := range m.values {
		value := strings.TrimSpace(v.value)
		if len(value) >= maskFrom && strings.ContainsRune(`{["`, rune(value[0])) && json.Valid([]byte(value)) {
			text = strings.ReplaceAll(text, value, string(quoteJSON(v.mark)))
		}
	}
	return []byte(text)
}

// jsonString masks a string with its quotes. What it holds may be JSON again.
func (m *masker) jsonString(quoted []byte) []byte {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return []byte(m.text(string(quoted)))
	}
	for _, v := range m.values {
		if strings.TrimSpace(s) == strings.TrimSpace(v.value) {
			return quoteJSON(v.mark)
		}
	}
	if masked := string(m.line([]byte(s))); masked != s {
		return quoteJSON(masked)
	}
	return quoted
}

// jsonWord masks a number, true, false or null. Short secrets are digits of many numbers: they have to be all of it.
func (m *masker) jsonWord(word []byte) []byte {
	for _, v := range m.values {
		if v.value == string(word) || len(v.value) >= maskFrom && bytes.Contains(word, []byte(v.value)) {
			return quoteJSON(m.text(string(word)))
		}
	}
	return word
}

// quoteJSON is s as a JSON string.
func quoteJSON(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can be
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// isJSON reports whether a line of a stream is a JSON object or array.
func isJSON(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line)
}

// line masks a line of a stream, which is JSON or text.
func (m *masker) line(line []byte) []byte {
	if isJSON(line) {
		return m.json(line)
	}
	return []byte(m.text(string(line)))
}

// lines masks whole lines of a stream. Lines of text that follow each other are masked in one: a secret may have several.
func (m *masker) lines(data []byte) []byte {
	var out, text bytes.Buffer
	flush := func() {
		out.WriteString(m.text(text.String()))
		text.Reset()
	}
	for line := range bytes.Lines(data) {
		if !isJSON(line) {
			text.Write(line)
			continue
		}
		flush()
		out.Write(m.json(line))
	}
	flush()
	return out.Bytes()
}

// begun is the length of the end of data that may be the beginning of a secret of several lines; data ends with a line.
func (m *masker) begun(data []byte) int {
	longest := 0
	for _, v := range m.values {
		if !strings.Contains(v.value, "\n") {
			continue
		}
		for _, value := range []string{v.value, strings.ReplaceAll(v.value, "\n", "\r\n")} {
			for n := len(value) - 1; n > longest; n-- {
				if value[n-1] == '\n' && bytes.HasSuffix(data, []byte(value[:n])) {
					longest = n
				}
			}
		}
	}
	return longest
}

// maskingWriter masks what is written through it, line by line.
type maskingWriter struct {
	mu   sync.Mutex
	m    *masker
	w    io.Writer
	rest []byte
}

// masking is w behind the eval's masker.
func (a *attempt) masking(w io.Writer) io.Writer {
	m := a.e.masker()
	if m == nil {
		return w
	}
	masking := &maskingWriter{m: m, w: w}
	a.streams = append(a.streams, masking)
	return masking
}

// Write holds back an unfinished line until it is finished, and lines that a secret may begin with until it is known
// whether it does: flush writes what is left.
func (w *maskingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := len(w.rest)
	w.rest = append(w.rest, p...)
	if !bytes.Contains(w.rest[news:], []byte("\n")) {
		return len(p), nil
	}
	whole := bytes.LastIndexByte(w.rest, '\n') + 1
	if n := w.m.begun(w.rest[:whole]); n > 0 {
		whole = bytes.LastIndexByte(w.rest[:whole-n], '\n') + 1
	}
	if whole == 0 {
		return len(p), nil
	}
	_, err := w.w.Write(w.m.lines(w.rest[:whole]))
	w.rest = w.rest[whole:]
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *maskingWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		_, _ = w.w.Write(w.m.lines(w.rest))
		w.rest = nil
	}
}
