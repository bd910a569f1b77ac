package evaltest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// encodedFrom is the length in bytes from which a secret is looked for in encoded forms, too: of a shorter one they are so
// short that they occur by chance.
const encodedFrom = 6

// encoded is a form in which a secret can stand in a text.
type encoded struct {
	pattern *regexp.Regexp
	// anchors: without one of them in a text the form is not in it, either. Nil: nothing is known.
	anchors []string
}

// in finds the form in s.
func (e encoded) in(s string) [][]int {
	if e.anchors != nil && !slices.ContainsFunc(e.anchors, func(a string) bool { return strings.Contains(s, a) }) {
		return nil
	}
	return e.pattern.FindAllStringIndex(s, -1)
}

// encodings are the encoded forms of a value: base64 of either alphabet, wherever in an encoded text it begins and however
// its lines are wrapped; hexadecimal; and percent-encoding, with escapes that are needed and that are not, encoded again
// any number of times. Base64 may itself be percent-encoded or escaped as in JSON.
func encodings(value string) []encoded {
	if len(value) < encodedFrom {
		return nil
	}
	var out []encoded
	for skip := range 3 {
		if core := base64Core(value, skip); len(core) >= encodedFrom {
			out = append(out, encoded{regexp.MustCompile(base64Pattern(core)), anchorsOf(core)})
		}
	}
	lower := hex.EncodeToString([]byte(value))
	out = append(out,
		encoded{regexp.MustCompile(`(?i)` + lower), []string{lower[:6], strings.ToUpper(lower[:6])}},
		encoded{regexp.MustCompile(percentPattern(value)), []string{"%", "+"}})
	return out
}

// base64Core is what the base64 of a text that holds value, after skip bytes (modulo 3), is sure to hold: of the characters at
// both ends, which depend on what is beside it, nothing.
func base64Core(value string, skip int) string {
	text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", skip) + value))
	first := (8*skip + 5) / 6
	last := 8 * (skip + len(value)) / 6
	return text[first:last]
}

// wrapped is what may stand between two characters of a text whose lines are wrapped.
const wrapped = `(?:[\r\n\t ]|\\+[rnt])*`

func base64Pattern(core string) string {
	var b strings.Builder
	for i, r := range core {
		if i > 0 {
			b.WriteString(wrapped)
		}
		switch r {
		case '+':
			b.WriteString(`(?:\+|-|%(?:25)*2[bB]|\\+u002[bB])`)
		case '/':
			b.WriteString(`(?:\\*/|_|%(?:25)*2[fF]|\\+u002[fF])`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(`(?:[A-Za-z0-9+/_-]?` + wrapped + `(?:=|%(?:25)*3[dD]|\\+u003[dD]){1,2})?`) // the end, when it is one
	return b.String()
}

// anchorsOf are pieces of core, one of which is in every text that core is in, if lines are wrapped after 64 characters or
// more: one piece more than lines can end in it.
func anchorsOf(core string) []string {
	const line, piece = 64, 6
	need := len(core)/line + 2
	var out []string
	for i := 0; i+piece <= len(core) && len(out) < need; {
		part := core[i : i+piece]
		if special := strings.LastIndexAny(part, "+/"); special >= 0 { // written in several ways
			i += special + 1
			continue
		}
		out = append(out, part)
		i += piece
	}
	if len(out) < need {
		return nil
	}
	return out
}

// percentPattern finds value where at least one of its characters may be escaped.
func percentPattern(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		escaped := fmt.Sprintf(`%%(?:25)*(?i:%02x)`, c)
		switch {
		case c == ' ':
			b.WriteString(`(?: |\+|%(?:25)*2[bB]|` + escaped + `)`)
		case c < 0x80:
			b.WriteString(`(?:` + regexp.QuoteMeta(string(rune(c))) + `|` + escaped + `)`)
		default:
			b.WriteString(escaped)
		}
	}
	return b.String()
}
