package criteria

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A jsonPath names a place in a JSON value: items[0].total, ["key with dots"].x, items[*].id. The whole value is "" or $,
// and a path may begin with "$.".
//
//	a.b         the value of key b in the object a
//	a[0]        the first element of the list a
//	a["b.c"]    the value of a key that a dot would cut; ['b.c'] says the same
//	a[*].b      the list of what .b finds in the elements of the list (or the values of the object) a; elements without
//	            it are passed over
type jsonPath struct {
	text  string
	steps []jsonStep
}

type jsonStep struct {
	kind  stepKind
	key   string
	index int
}

type stepKind int

const (
	stepKey stepKind = iota
	stepIndex
	stepAll
)

// noValue is the error of a path that finds nothing: what is there instead.
type noValue struct{ what string }

func (e *noValue) Error() string { return e.what }

// lookup is the value at path in v, which is made of what package encoding/json makes of JSON: map[string]any, []any,
// string, bool, nil, and json.Number or float64. The error is a *noValue where there is none, else path is no path.
func lookup(v any, path string) (any, error) {
	p, err := parseJSONPath(path)
	if err != nil {
		return nil, err
	}
	return p.find(v)
}

func parseJSONPath(text string) (jsonPath, error) {
	p := jsonPath{text: text}
	rest := text
	fail := func(format string, args ...any) (jsonPath, error) {
		return jsonPath{}, fmt.Errorf("JSON path %q: column %d: %s",
			text, len(text)-len(rest)+1, fmt.Sprintf(format, args...))
	}
	if rest == "$" || strings.HasPrefix(rest, "$.") || strings.HasPrefix(rest, "$[") {
		rest = rest[1:]
	} else if rest != "" && rest[0] != '[' {
		rest = "." + rest // as if the root had been named; columns count from text all the same
	}
	for rest != "" {
		switch rest[0] {
		case '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[]\"'")
			if end < 0 {
				end = len(rest)
			}
			switch {
			case end == 0:
				return fail("a key is missing here")
			case end < len(rest) && rest[end] != '.' && rest[end] != '[':
				rest = rest[end:]
				return fail(`unexpected %q: write such a key as ["key"]`, rest[:1])
			}
			p.steps = append(p.steps, jsonStep{kind: stepKey, key: rest[:end]})
			rest = rest[end:]
		case '[':
			step, n, err := parseBracket(rest)
			if err != nil {
				return fail("%v", err)
			}
			p.steps = append(p.steps, step)
			rest = rest[n:]
		default:
			return fail("unexpected %q: a dot or a bracket goes here", rest[:1])
		}
	}
	return p, nil
}

// parseBracket reads the step in brackets that s begins with, and says how long it is.
func parseBracket(s string) (jsonStep, int, error) {
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		key, n, err := parseQuoted(s[1:])
		switch {
		case err != nil:
			return jsonStep{}, 0, err
		case !strings.HasPrefix(s[1+n:], "]"):
			return jsonStep{}, 0, errors.New("the bracket is not closed after the key")
		}
		return jsonStep{kind: stepKey, key: key}, n + 2, nil
	}
	inside, _, closed := strings.Cut(s[1:], "]")
	if !closed {
		return jsonStep{}, 0, errors.New("the bracket is not closed")
	}
	if inside == "*" {
		return jsonStep{kind: stepAll}, 3, nil
	}
	index, err := strconv.Atoi(inside)
	if err != nil || index < 0 || inside[0] == '+' {
		return jsonStep{}, 0, fmt.Errorf(`[%s] is neither an index, [0], nor every element, [*], nor a key, ["name"]`, inside)
	}
	return jsonStep{kind: stepIndex, index: index}, len(inside) + 2, nil
}

// parseQuoted reads the quoted key that s begins with, and says how long it is with its quotes. Backslashes escape as in
// JSON, and a single quote where such quotes are around.
func parseQuoted(s string) (string, int, error) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			inner := s[1:i]
			if quote == '\'' {
				inner = strings.ReplaceAll(strings.ReplaceAll(inner, `\'`, `'`), `"`, `\"`)
			}
			var key string
			if err := json.Unmarshal([]byte(`"`+inner+`"`), &key); err != nil {
				return "", 0, fmt.Errorf("the key %s is not a JSON string", s[:i+1])
			}
			return key, i + 1, nil
		}
	}
	return "", 0, errors.New("the quote is not closed")
}

func (p jsonPath) find(v any) (any, error) { return findSteps(v, p.steps, "") }

// findSteps follows the steps from v, which is found at the path at.
func findSteps(v any, steps []jsonStep, at string) (any, error) {
	for i, s := range steps {
		if s.kind == stepAll {
			return findAll(v, steps[i+1:], at)
		}
		next, err := s.find(v, at)
		if err != nil {
			return nil, err
		}
		v, at = next, at+s.after(at)
	}
	return v, nil
}

// findAll is the list of what the steps find in the elements of v.
func findAll(v any, steps []jsonStep, at string) (any, error) {
	var elements []any
	switch v := v.(type) {
	case []any:
		elements = v
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			elements = append(elements, v[k])
		}
	default:
		return nil, &noValue{fmt.Sprintf("%s is %s, and has no elements", jsonPlace(at), jsonKind(v))}
	}
	found := []any{}
	for _, e := range elements {
		x, err := findSteps(e, steps, at+"[*]")
		var none *noValue
		switch {
		case errors.As(err, &none):
			continue
		case err != nil:
			return nil, err
		}
		if nested := slices.ContainsFunc(steps, func(s jsonStep) bool { return s.kind == stepAll }); nested {
			found = append(found, x.([]any)...)
		} else {
			found = append(found, x)
		}
	}
	if len(found) == 0 && (len(steps) > 0 || len(elements) == 0) {
		return nil, &noValue{fmt.Sprintf("none of the %d elements of %s has it", len(elements), jsonPlace(at))}
	}
	return found, nil
}

func (s jsonStep) find(v any, at string) (any, error) {
	if s.kind == stepIndex {
		list, ok := v.([]any)
		switch {
		case !ok:
			return nil, &noValue{fmt.Sprintf("%s is %s, not a list", jsonPlace(at), jsonKind(v))}
		case s.index >= len(list):
			return nil, &noValue{fmt.Sprintf("%s has %s, no [%d]", jsonPlace(at), counted(len(list), "element"), s.index)}
		}
		return list[s.index], nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, &noValue{fmt.Sprintf("%s is %s, not an object", jsonPlace(at), jsonKind(v))}
	}
	value, ok := object[s.key]
	if !ok {
		return nil, &noValue{fmt.Sprintf("%s has no key %q%s", jsonPlace(at), s.key, keysOf(object))}
	}
	return value, nil
}

// after is how the step is written behind the path at.
func (s jsonStep) after(at string) string {
	switch {
	case s.kind == stepIndex:
		return "[" + strconv.Itoa(s.index) + "]"
	case s.kind == stepAll:
		return "[*]"
	case s.key == "" || strings.ContainsAny(s.key, ".[]\"'"):
		return "[" + strconv.Quote(s.key) + "]"
	case at == "":
		return s.key
	}
	return "." + s.key
}

func jsonPlace(at string) string {
	if at == "" {
		return "the document"
	}
	return at
}

// keysOf names a few of the object's keys: what the author may have meant.
func keysOf(object map[string]any) string {
	if len(object) == 0 {
		return ": it is empty"
	}
	keys := slices.Sorted(maps.Keys(object))
	more := ""
	if len(keys) > 5 {
		keys, more = keys[:5], fmt.Sprintf(" and %d more", len(keys)-5)
	}
	for i, k := range keys {
		keys[i] = strconv.Quote(clipLine(k, 30))
	}
	return ": it has " + strings.Join(keys, ", ") + more
}

func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// decodeJSON reads the one JSON value that data holds. Numbers stay as they are written (json.Number), so that none loses
// a digit. A *json.SyntaxError has its place in data.
func decodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if rest := data[dec.InputOffset():]; len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
		at := len(data) - len(bytes.TrimLeft(rest, " \t\r\n"))
		return nil, &trailingError{int64(at) + 1}
	}
	return v, nil
}

// trailingError is something behind the JSON value; Offset counts bytes from 1, as json.SyntaxError does.
type trailingError struct{ Offset int64 }

func (e *trailingError) Error() string { return "something follows the JSON value" }

// jsonPosition is where in data the error is: line and column, from 1.
func jsonPosition(data []byte, err error) (line, column int) {
	offset := int64(len(data))
	var syntax *json.SyntaxError
	var trailing *trailingError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset - 1
	case errors.As(err, &trailing):
		offset = trailing.Offset - 1
	}
	before := data[:max(0, min(offset, int64(len(data))))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// cutShort reports whether err says that the JSON text ends too early.
func cutShort(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// plainJSON is v as the value that its JSON text decodes to: for comparisons with what was decoded.
func plainJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decodeJSON(data)
}

// equalJSON reports whether a and b are the same JSON value. Numbers are compared by value, exactly: 1, 1.0 and 10e-1 are
// equal.
func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equalJSON)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalJSON)
	}
	x, isNumber := numberText(a)
	y, isNumber2 := numberText(b)
	if isNumber && isNumber2 {
		return equalNumbers(x, y)
	}
	return isNumber == isNumber2 && !isNumber && jsonKind(a) == jsonKind(b) && a == b
}

func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// equalNumbers compares exactly. Numbers whose exponent is beyond what big.Rat takes are equal when written alike.
func equalNumbers(x, y string) bool {
	if x == y {
		return true
	}
	a, ok := new(big.Rat).SetString(x)
	b, ok2 := new(big.Rat).SetString(y)
	return ok && ok2 && a.Cmp(b) == 0
}

// compactJSON is v as JSON text on one line.
func compactJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
