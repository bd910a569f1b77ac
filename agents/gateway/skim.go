package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Requests are long, since each repeats the conversation so far, and little of one has to be known before it can go on. What
// is here finds that without a look at the rest; encoding/json would take as long for a request as the model does for some
// tokens.

var errNoJSON = errors.New("it is no JSON, or of another form than is known")

// skim calls see with each member of an object, or with each element of an array, which has no name. It does not look into
// the values, and does not find all that is wrong with a text.
func skim(data []byte, see func(name string, value []byte)) error {
	data = bytes.TrimSpace(data)
	if len(data) < 2 {
		return errNoJSON
	}
	object := data[0] == '{' && data[len(data)-1] == '}'
	if !object && (data[0] != '[' || data[len(data)-1] != ']') {
		return errNoJSON
	}
	for rest := space(data[1 : len(data)-1]); len(rest) > 0; {
		name := ""
		if object {
			n := extent(rest)
			if n <= 0 || rest[0] != '"' {
				return errNoJSON
			}
			name, rest = text(rest[:n]), space(rest[n:])
			if len(rest) == 0 || rest[0] != ':' {
				return errNoJSON
			}
			rest = space(rest[1:])
		}
		n := extent(rest)
		if n <= 0 {
			return errNoJSON
		}
		see(name, rest[:n])
		switch rest = space(rest[n:]); {
		case len(rest) == 0:
		case rest[0] == ',':
			rest = space(rest[1:])
		default:
			return errNoJSON
		}
	}
	return nil
}

// extent is the length of the value that data begins with; not positive where there is none.
func extent(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			n := quoted(data[i:])
			if n < 0 {
				return -1
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return -1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return -1
	}
	return len(data)
}

// quoted is the length of the string that data begins with, quotes included; negative where it has no end.
func quoted(data []byte) int {
	for i := 1; i < len(data); i++ {
		j := bytes.IndexByte(data[i:], '"')
		if j < 0 {
			return -1
		}
		i += j
		k := i
		for k > 1 && data[k-1] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			return i + 1
		}
	}
	return -1
}

func space(data []byte) []byte { return bytes.TrimLeft(data, " \t\r\n") }

// text is the string that a value is, "" where it is none.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : len(value)-1])
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
