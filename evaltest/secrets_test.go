package evaltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// hide is a masker of these values, named A, B, …
func hide(values ...string) *masker {
	secrets := map[string]string{}
	for i, v := range values {
		secrets[v] = string(rune('A' + i))
	}
	return newMasker(secrets)
}

func TestSecretsInText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		values     []string
		text, want string
	}{
		{"as it is", []string{"hunter2"}, "a hunter2, a hunter2", "a ‹A›, a ‹A›"},
		{"one byte", []string{"7"}, "17 of 77", "1‹A› of ‹A›‹A›"},
		{"within its own name", []string{"A"}, "A ‹A›", "‹A› ‹A›"},
		{"none", []string{"", "hunter2"}, "plain", "plain"},
		{"one holds the other", []string{"hunter2", "my-hunter2-too"}, "my-hunter2-too hunter2", "‹B› ‹A›"},
		{"one holds the other, which begins before it", []string{"ab-12345678", "xab-1"}, "xab-12345678", "‹B›‹A›"},
		{"two that overlap", []string{"abcd", "cdef"}, "abcdef", "‹A›‹B›"},
		{"several lines, folded", []string{"first\n\tsecond"}, "is first second.", "is ‹A›."},
		{"several lines, indented", []string{"first\nsecond"}, "  first\n      second", "  ‹A›"},
		{"several lines, in a diff", []string{"first\nsecond"}, "- first\n- second\n", "- ‹A›\n"},
		{"lines of another system", []string{"first\nsecond\n"}, "first\r\nsecond", "‹A›"},
		{"cut at its end", []string{"hunter2-hunter2"}, "is hunter2-hu…", "is ‹A›…"},
		{"cut at its beginning", []string{"hunter2-hunter2"}, "...r2-hunter2 is", "...‹A› is"},
		{"control characters as pictures", []string{"a\x1bb-hunter2"}, printable.Text("a\x1bb-hunter2"), "‹A›"},
		{"white space alone", []string{" "}, "a b", "a‹A›b"},
		{"invalid UTF-8", []string{"hunter\xff\xfe2"}, "hunter\xff\xfe2 hunter\ufffd\ufffd2 hunter\ufffd2", "‹A› ‹A› ‹A›"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := hide(tc.values...)
			got := m.text(tc.text)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, got, m.text(got), "masked twice")
		})
	}
	assert.Nil(t, hide())
	assert.Nil(t, hide(""))
}

// A secret is found in whatever escapes it passed through: those of other languages' JSON, quotes of Go, and JSON in JSON.
func TestSecretsInEscapes(t *testing.T) {
	t.Parallel()
	var unicodes = func(s, format string) string {
		var b strings.Builder
		for _, r := range s {
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&b, format+format, 0xd800+r>>10, 0xdc00+r&0x3ff)
			} else if r > 0x7f || strings.ContainsRune("<>&\"\\\n", r) {
				fmt.Fprintf(&b, format, r)
			} else {
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	in := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	for _, secret := range []string{"p<>&/\"'\\\nñ😀\x01q", `back\slash`, "https://u:p@h/x?a=1&b=<2>", "tab\there", `ends in \`, `"quoted"`} {
		html, err := json.Marshal(secret)
		require.NoError(t, err)
		plain := string(quoteJSON(secret))
		for name, form := range map[string]string{
			"of Go": in(string(html)), "without HTML": in(plain), "quotes of Go": in(strconv.Quote(secret)),
			"quotes in ASCII": in(strconv.QuoteToASCII(secret)), "lower case": unicodes(secret, `\u%04x`), "upper case": unicodes(secret, `\u%04X`),
			"slashes": strings.ReplaceAll(in(plain), "/", `\/`), "twice": in(string(quoteJSON(in(plain)))),
			"three times": in(string(quoteJSON(in(string(quoteJSON(in(plain))))))), "folded": printable.Line(secret),
		} {
			assert.Equal(t, "(‹A›)", hide(secret).text("("+form+")"), "%q, %s: %s", secret, name, form)
		}
	}
}

func TestSecretsInJSON(t *testing.T) {
	t.Parallel()
	key := `{"type":"account","key":"k-123456"}`
	for _, tc := range []struct{ name, secret, line, want string }{
		{"no secret: the bytes stay", "hunter2", `{ "b":1.50,"a" : "\u0041\/" }` + "\n", `{ "b":1.50,"a" : "\u0041\/" }` + "\n"},
		{"strings and keys", "hunter2", `{"hunter2":["x hunter2"]}`, `{"‹A›":["x ‹A›"]}`},
		{"a number", "12345678", `{"n":12345678,"m":-1}`, `{"n":"‹A›","m":-1}`},
		{"a number that holds it", "12345678", `{"n":912345678.5}`, `{"n":"9‹A›.5"}`},
		{"a short one in numbers", "1", `{"n":1,"m":11,"s":"11"}`, `{"n":"‹A›","m":11,"s":"‹A›‹A›"}`},
		{"true", "true", `{"ok":true}`, `{"ok":"‹A›"}`},
		{"escaped", "a<\"b\"\n", `{"s":"a\u003C\"b\"\n!"}`, `{"s":"‹A›!"}`},
		{"JSON in a string", "12345678", `{"args":"{\"n\":12345678}"}`, `{"args":"{\"n\":\"‹A›\"}"}`},
		{"a secret that is JSON", key, `{"file":` + key + `,"s":` + string(quoteJSON(key)) + `}`, `{"file":"‹A›","s":"‹A›"}`},
		{"a quote", `"`, `{"s":"\""}`, `{"s":"‹A›"}`},
		{"no JSON", "12345678", `{"n":12345678`, `{"n":‹A›`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := hide(tc.secret)
			assert.Equal(t, tc.want, string(m.line([]byte(tc.line))))
			if json.Valid([]byte(tc.line)) {
				e := m.event(agents.Event{Call: agents.ToolCall{Input: json.RawMessage(tc.line)}})
				assert.True(t, json.Valid(e.Call.Input), "%s", e.Call.Input)
			}
		})
	}
}

// However a stream is cut into writes, what is written is the same, and all of it is.
func TestSecretsInStreams(t *testing.T) {
	t.Parallel()
	m := hide("first\nsecond\n\nlast", "hunter2")
	in := "{\"n\":\"hunter2\"}\nfirst\nother\nkey: first\nsecond\n\nlast.\nfirst\r\nsecond\r\n\r\nlast\nfirst\nsecond\nhunter2"
	want := "{\"n\":\"‹B›\"}\nfirst\nother\nkey: ‹A›.\n‹A›\nfirst\nsecond\n‹B›"
	for size := 1; size <= len(in); size++ {
		var out bytes.Buffer
		w := &maskingWriter{m: m, w: &out}
		for part := range slices.Chunk([]byte(in), size) {
			n, err := w.Write(part)
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		w.flush()
		require.Equal(t, want, out.String(), "writes of %d bytes", size)
	}
}

// A line is written when it is whole, unless a secret may have begun in it.
func TestStreamsAreHeldBackNoLongerThanNeeded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &maskingWriter{m: hide("first\nsecond"), w: &out}
	for _, tc := range []struct{ write, there string }{
		{"one\nfir", "one\n"}, {"st\n", "one\n"}, {"none\n", "one\nfirst\nnone\n"},
	} {
		_, err := w.Write([]byte(tc.write))
		require.NoError(t, err)
		assert.Equal(t, tc.there, out.String())
	}
}

// fill puts text into every string that v holds, and makes what is nil.
func fill(v reflect.Value, text string) {
	switch t := v.Type(); t.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		switch {
		case t == rawJSON:
			v.SetBytes(quoteJSON(text))
		case t.Elem().Kind() == reflect.Uint8:
			v.SetBytes([]byte(text))
		default:
			v.Set(reflect.MakeSlice(t, 2, 2))
			fill(v.Index(0), text)
			fill(v.Index(1), text)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		fill(key, text)
		fill(elem, text)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, elem)
	case reflect.Pointer:
		if t.Elem().Kind() != reflect.Struct || opens(t.Elem()) {
			v.Set(reflect.New(t.Elem()))
			fill(v.Elem(), text)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(errors.New(text)))
	case reflect.Struct:
		for i := range t.NumField() {
			numbers := map[string]bool{"MinScore": true, "Weight": true, "PassAt": true} // numbers as text
			if v.Field(i).CanSet() && !asTheyAre[t] && !numbers[t.Field(i).Name] {
				fill(v.Field(i), text)
			}
		}
	}
}

// No field of a record is forgotten: every string of each holds the secret, and none does when it is masked.
func TestEveryFieldOfARecordIsMasked(t *testing.T) {
	t.Parallel()
	const secret = "hunter2 \"quoted\"\nline"
	m := hide(secret)
	for _, record := range []any{
		new(journal.Intent), new(journal.CriterionResult), new(journal.Verdict), new([]journal.Change),
		new(transcript.Header), new(agents.Event), new([]gateway.Exchange),
		new(map[string][]string), new([2]string), new([]byte),
	} {
		v := reflect.ValueOf(record).Elem()
		t.Run(v.Type().String(), func(t *testing.T) {
			fill(v, "<"+secret+">")
			before, shape := fmt.Sprintf("%#v", v.Interface()), written(t, v)
			holds := strings.Count(shape, "hunter2")
			require.NotZero(t, holds)
			got := written(t, m.copied(v))
			assert.NotContains(t, got, "hunter2")
			assert.NotContains(t, got, "quoted")
			assert.Equal(t, holds, strings.Count(got, "‹A›"), got)
			assert.Equal(t, before, fmt.Sprintf("%#v", v.Interface()), "the record itself was changed")
			assert.Equal(t, shape, written(t, v), "the record itself was changed")
		})
	}
}

// written is v as the record keeps it.
func written(t *testing.T, v reflect.Value) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if x, ok := v.Interface().([]byte); ok {
		return string(x)
	}
	require.NoError(t, e.Encode(v.Interface()))
	return b.String()
}

// What records are found and computed by stays: identities, numbers kept as text, and the words of outcomes.
func TestMaskingLeavesWhatRecordsAreReadBy(t *testing.T) {
	t.Parallel()
	m := hide("1", "passed", "Test")
	in := journal.Intent{
		ID: journal.TrialID{Test: "Test1", Trial: 1}, MinScore: "1/2", Gate: "1", Criteria: []journal.CriterionSpec{{Weight: "1/3", PassAt: "1"}},
	}
	got := masked(m, in)
	assert.Equal(t, "‹A›", got.Gate)
	got.Gate = in.Gate
	assert.Equal(t, in, got)
	assert.Equal(t, OutcomePassed, masked(m, journal.Verdict{Outcome: OutcomePassed}).Outcome)
	assert.Equal(t, agents.Completed, masked(hide("completed"), agents.End("x", agents.Completed, "")).Status)
}

func TestDescribeIsOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []agents.ToolCall{
		{Name: "a\nb", Skill: "c\nd"}, {Name: "a\nb", Commands: []string{"c\nd"}}, {Name: "a\nb", Paths: []string{"c\nd"}},
		{Name: "a\nb", Input: json.RawMessage("\"c\nd\"")}, {Name: "a\nb c d"},
	} {
		assert.Equal(t, "a b c d", strings.ReplaceAll(describe(c), `"`, ""))
	}
	secret := strings.Repeat("s3cret-", 40)
	assert.Equal(t, "Bash echo ‹A›", hide(secret).describe(agents.ToolCall{Name: "Bash", Commands: []string{"echo " + secret}}))
}
