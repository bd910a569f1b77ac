package evaltest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
)

// masker replaces secret values by ‹name›: as they are, as escaped, quoted or folded by whatever text they passed through,
// and encoded (base64, hexadecimal, percent-encoding). The values are looked for one by one, so that of two that overlap neither leaves a rest. A nil masker hides
// nothing.
type masker struct{ values []secretValue }

type secretValue struct {
	value, folded string // folded: on one line
	mark          string // what stands for it
	pattern       *regexp.Regexp
	encodings     []encoded
}

// newMasker takes names by value. It is nil when there is nothing to hide.
func newMasker(secrets map[string]string) *masker {
	m := &masker{}
	for value, name := range secrets {
		if value != "" {
			m.values = append(m.values, secretValue{value, printable.Line(value), "‹" + name + "›", regexp.MustCompile(spelled(value)), encodings(value)})
		}
	}
	if len(m.values) == 0 {
		return nil
	}
	slices.SortFunc(m.values, func(a, b secretValue) int {
		return cmp.Or(len(b.value)-len(a.value), strings.Compare(a.value, b.value))
	})
	return m
}

// spelled is a pattern of the ways in which value can be written: in JSON and in quotes of Go, both also within each other,
// with its white space folded, indented or marked as a diff, and with pictures for control characters.
func spelled(value string) string {
	if trimmed := strings.TrimSpace(value); len(trimmed) >= maskFrom {
		value = trimmed // whatever shows it may well have trimmed it, too
	}
	var b strings.Builder
	// Bytes that are no UTF-8 become U+FFFD, which in a pattern stands for any such byte: shown, they are one of it or many.
	rs := []rune(strings.ToValidUTF8(value, "\ufffd"))
	for i := 0; i < len(rs); {
		n := slices.IndexFunc(rs[i:], func(r rune) bool { return !unicode.IsSpace(r) })
		if n < 0 {
			n = len(rs) - i
		}
		switch run := string(rs[i : i+n]); {
		case n == 0:
			b.WriteString(spelledRune(rs[i]))
			n = 1
		case strings.ContainsAny(run, "\r\n"):
			b.WriteString(`(?:[\s\v\x{85}\p{Z}+|\-\x{2400}-\x{2421}]|\\+(?:[nrtvf]|u00(?:20|0[9a-dA-D])))+`)
		default:
			b.WriteString(`(?:[\s\v\x{85}\p{Z}\x{2400}-\x{2421}]|\\+(?:[tvf]|x20|u00(?:20|0[9bcBC]|[aA]0)|u[23]0[0-9a-fA-F]{2}))+`)
		}
		i += n
	}
	return b.String()
}

// shortEscapes are the escapes of control characters in JSON, Go and shells.
var shortEscapes = map[rune]string{0: "0", '\a': "a", '\b': "b", '\f': "f", '\v': "v", 0x1b: "e"}

// entities are the names that HTML has for characters of its own.
var entities = map[rune]string{'<': "lt", '>': "gt", '&': "amp", '"': "quot", '\'': "apos"}

// spelledRune is a pattern of the ways in which a character that is no white space can be written. Backslashes may be
// doubled any number of times.
func spelledRune(r rune) string {
	switch {
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.:", r):
		return regexp.QuoteMeta(string(r)) // escaped by nobody
	case r == '\\':
		return `\\+(?:u005[cC]|x5[cC])?`
	case r == unicode.ReplacementChar:
		return `(?:\x{fffd}+|(?:\\+(?:x[0-9a-fA-F]{2}|u[fF]{3}[dD]))+)`
	}
	ways := []string{`\\*` + regexp.QuoteMeta(string(r))}
	if r <= 0xffff {
		ways = append(ways, fmt.Sprintf(`\\+u(?i:%04x)`, r))
	} else {
		high, low := utf16.EncodeRune(r)
		ways = append(ways, fmt.Sprintf(`\\+u(?i:%04x)\\+u(?i:%04x)`, high, low), fmt.Sprintf(`\\+U(?i:%08x)`, r))
	}
	if strings.ContainsRune(`<>&"'`, r) {
		ways = append(ways, fmt.Sprintf(`&(?:amp;)*(?:%s|#0*%d|#[xX]0*(?i:%x));`, entities[r], r, r))
	}
	if r <= 0xff {
		ways = append(ways, fmt.Sprintf(`\\+x(?i:%02x)`, r))
	}
	if short, ok := shortEscapes[r]; ok {
		ways = append(ways, `\\+`+short)
	}
	if picture := printable.Text(string(r)); picture != string(r) {
		ways = append(ways, picture)
	}
	return "(?:" + strings.Join(ways, "|") + ")"
}

// span is where a secret stands in a text.
type span struct {
	from, to int
	mark     string
}

// text is s without secrets. Masking again what is masked changes nothing.
func (m *masker) text(s string) string {
	if m == nil || s == "" {
		return s
	}
	var spans []span
	for _, v := range m.values {
		for _, at := range v.pattern.FindAllStringIndex(s, -1) {
			spans = append(spans, span{at[0], at[1], v.mark})
		}
		for _, e := range v.encodings {
			for _, at := range e.in(s) {
				spans = append(spans, span{at[0], at[1], v.mark})
			}
		}
	}
	spans = append(spans, m.cut(s)...)
	if spans = m.outside(s, spans); len(spans) == 0 {
		return s
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var b strings.Builder
	done := 0
	for _, at := range spans {
		if at.to <= done {
			continue // within a longer one
		}
		if at.from > done {
			b.WriteString(s[done:at.from])
		}
		b.WriteString(at.mark)
		done = at.to
	}
	b.WriteString(s[done:])
	return b.String()
}

// outside leaves out the spans that lie in what stands for a secret already: short secrets occur in names.
func (m *masker) outside(s string, spans []span) []span {
	if len(spans) == 0 || !strings.Contains(s, "‹") {
		return spans
	}
	var marks []span
	for _, v := range m.values {
		for at := 0; ; {
			i := strings.Index(s[at:], v.mark)
			if i < 0 {
				break
			}
			marks = append(marks, span{at + i, at + i + len(v.mark), ""})
			at += i + len(v.mark)
		}
	}
	return slices.DeleteFunc(spans, func(at span) bool {
		return slices.ContainsFunc(marks, func(mark span) bool { return mark.from <= at.from && at.to <= mark.to })
	})
}

// cutFrom is how many bytes of a secret have to be left beside an ellipsis to be taken for a part of it.
const cutFrom = 6

// cut finds what is left of secrets in texts that were shortened before they came here: criteria shorten their reasons.
func (m *masker) cut(s string) (spans []span) {
	for _, ellipsis := range []string{"…", "..."} {
		for at := 0; ; {
			i := strings.Index(s[at:], ellipsis)
			if i < 0 {
				break
			}
			i += at
			at = i + len(ellipsis)
			for _, v := range m.values {
				for _, value := range []string{v.value, v.folded} {
					if n := begins(value, s[:i]); n > 0 {
						spans = append(spans, span{i - n, i, v.mark})
					}
					if n := ends(value, s[at:]); n > 0 {
						spans = append(spans, span{at, at + n, v.mark})
					}
				}
			}
		}
	}
	return spans
}

// begins is how much of value's beginning s ends with, 0 for less than cutFrom.
func begins(value, s string) int {
	if len(value) <= cutFrom {
		return 0
	}
	s = s[max(0, len(s)-len(value)+1):]
	for i := strings.Index(s, value[:cutFrom]); i >= 0; i = strings.Index(s, value[:cutFrom]) {
		if s = s[i:]; strings.HasPrefix(value, s) {
			return len(s)
		}
		s = s[1:]
	}
	return 0
}

// ends is how much of value's end s begins with, 0 for less than cutFrom.
func ends(value, s string) int {
	if len(value) <= cutFrom {
		return 0
	}
	s, last := s[:min(len(s), len(value)-1)], value[len(value)-cutFrom:]
	for i := strings.LastIndex(s, last); i >= 0; i = strings.LastIndex(s, last) {
		if s = s[:i+cutFrom]; strings.HasSuffix(value, s) {
			return len(s)
		}
		s = s[:len(s)-1]
	}
	return 0
}

// masker hides the eval's secrets. They are known once its options are.
func (e *T) masker() *masker {
	e.masking.Do(func() { e.masks = newMasker(e.secrets) })
	return e.masks
}

func (e *T) mask(s string) string { return e.masker().text(s) }
