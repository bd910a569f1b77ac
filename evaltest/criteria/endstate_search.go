package criteria

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// scan searches a regular file for text, a piece at a time, and says in which line it begins; 0: it is not there.
func (w *workspace) scan(ctx context.Context, e entry, text string) (line int, why string, err error) {
	f, why, err := w.open(e)
	if err != nil || why != "" {
		return 0, why, err
	}
	defer f.Close()
	want := []byte(text)
	piece := make([]byte, max(256<<10, 4*len(want)))
	kept, before, total := 0, 0, int64(0) // kept bytes of the last piece; lines that ended before piece; bytes read
	for {
		if err := ctxEnded(ctx, "search "+e.path); err != nil {
			return 0, "", err
		}
		n, err := io.ReadFull(f, piece[kept:])
		have := piece[:kept+n]
		if i := bytes.Index(have, want); i >= 0 {
			return before + lineOf(have, i), "", nil
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return 0, "", nil
		case err != nil:
			return 0, "", fault(e.path, err)
		}
		if total += int64(n); total > maxScan {
			return 0, "", tooMuch("search %s: not in its first %s, and more follows", e.path, byteSize(maxScan))
		}
		// What may be the beginning of the text is searched again together with the next piece.
		rest := have[len(have)-(len(want)-1):]
		before += bytes.Count(have[:len(have)-len(rest)], []byte("\n"))
		kept = copy(piece, rest)
	}
}

// lineOf is the line of data, from 1, that holds the byte at offset.
func lineOf(data []byte, offset int) int { return bytes.Count(data[:offset], []byte("\n")) + 1 }

// lineCount counts the lines of data; a last one need not end.
func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// foldIndex is where text is in data in whatever case, -1 if it is not.
func foldIndex(data []byte, text string) int {
	lower := bytes.ToLower(data)
	if text == "" || len(lower) != len(data) { // offsets would not agree
		return -1
	}
	return bytes.Index(lower, []byte(strings.ToLower(text)))
}

// containsCollapsed reports whether text is in data when runs of white space are taken as one space.
func containsCollapsed(data []byte, text string) bool {
	want := bytes.Join(bytes.Fields([]byte(text)), []byte(" "))
	return len(want) > 0 && bytes.Contains(bytes.Join(bytes.Fields(data), []byte(" ")), want)
}

// isText reports whether data can be shown: UTF-8 without NUL.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// headOf is the beginning of a text, for a reader who wonders what is there; "" for what is no text.
func headOf(data []byte) string {
	const most, long = 10, 120
	data = data[:min(len(data), most*long*2)]
	for range utf8.UTFMax - 1 { // the last rune may have been cut in two
		if r, n := utf8.DecodeLastRune(data); r == utf8.RuneError && n == 1 {
			data = data[:len(data)-1]
		}
	}
	if !isText(data) {
		return ""
	}
	var b strings.Builder
	for i, l := range strings.SplitN(string(data), "\n", most+1) {
		if i == most {
			b.WriteString("  | …\n")
			break
		}
		if l = strings.TrimRight(l, "\r"); len(l) > long {
			l = strings.ToValidUTF8(l[:long], "") + "…"
		}
		b.WriteString("  | " + l + "\n")
	}
	return strings.TrimSuffix(b.String(), "  | \n")
}
