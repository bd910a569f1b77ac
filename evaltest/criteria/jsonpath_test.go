package criteria

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	doc, err := decodeJSON([]byte(`{"a": {"b": [10, 20, {"c": "x"}]}, "key with.dots": {"x": true}, "it's": 1, "": 2, "n": null,
		"items": [{"id": 1, "tags": ["p", "q"]}, {"id": 2}, {"tags": ["r"]}], "none": [], "$": 3, "q\"": 4}`))
	require.NoError(t, err)
	for _, r := range []struct{ path, want, errs string }{
		{path: "a.b[0]", want: "10"},
		{path: "a.b[2].c", want: `"x"`},
		{path: "$.a.b[1]", want: "20"},
		{path: `["a"]["b"][1]`, want: "20"},
		{path: `["key with.dots"].x`, want: "true"},
		{path: `['key with.dots'].x`, want: "true"},
		{path: `["it's"]`, want: "1"},
		{path: `['it\'s']`, want: "1"},
		{path: `['q"']`, want: "4"},
		{path: `["q\""]`, want: "4"},
		{path: `[""]`, want: "2"},
		{path: `["$"]`, want: "3"},
		{path: "n", want: "null"},
		{path: "none", want: "[]"},
		{path: "items[*].id", want: "[1,2]"},
		{path: "items[*].tags", want: `[["p","q"],["r"]]`},
		{path: "items[*].tags[*]", want: `["p","q","r"]`},
		{path: "a[*][0]", want: "[10]"},
		{path: "items[*].none", errs: "none of the 3 elements of items has it"},
		{path: "none[*]", errs: "none of the 0 elements"},
		{path: "a.x", errs: `a has no key "x": it has "b"`},
		{path: "a.b[3]", errs: "a.b has 3 elements, no [3]"},
		{path: "a[0]", errs: "a is an object, not a list"},
		{path: "a.b.c", errs: "a.b is a list, not an object"},
		{path: "n.x", errs: "n is null"},
		{path: "n[*]", errs: "n is null, and has no elements"},
		{path: `["key with.dots"].y`, errs: `["key with.dots"] has no key "y"`},
	} {
		got, err := lookup(doc, r.path)
		if r.errs != "" {
			require.Error(t, err, r.path)
			var none *noValue
			assert.ErrorAs(t, err, &none, r.path)
			assert.Contains(t, err.Error(), r.errs, r.path)
			continue
		}
		require.NoError(t, err, r.path)
		assert.Equal(t, r.want, compactJSON(got), r.path)
	}
	whole, err := lookup(doc, "")
	require.NoError(t, err)
	assert.Equal(t, doc, whole)
	whole, err = lookup(doc, "$")
	require.NoError(t, err)
	assert.Equal(t, doc, whole)
}

func TestLookupSyntax(t *testing.T) {
	t.Parallel()
	for path, says := range map[string]string{
		".a":                      "column 1: a key is missing",
		"a..b":                    "column 3: a key is missing",
		"a.":                      "column 3: a key is missing",
		"a[":                      "column 2: the bracket is not closed",
		"a[]":                     "neither an index",
		"a[-1]":                   "neither an index",
		"a[+1]":                   "neither an index",
		"a[x]":                    "neither an index",
		`a["x]`:                   "the quote is not closed",
		`a["x"`:                   "not closed after the key",
		`a["\q"]`:                 "not a JSON string",
		"a[0]b":                   `column 5: unexpected "b"`,
		"a]":                      `column 2: unexpected "]"`,
		`a"b"`:                    `column 2: unexpected "\""`,
		"$$.":                     "a key is missing",
		"a[99999999999999999999]": "neither an index",
	} {
		_, err := lookup(nil, path)
		require.Error(t, err, path)
		var none *noValue
		assert.NotErrorAs(t, err, &none, "%s reads as absent", path)
		assert.Contains(t, err.Error(), says, path)
	}
}

func TestEqualJSON(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		a, b  string
		equal bool
	}{
		{"1", "1.0", true},
		{"10e-1", "1", true},
		{"0.1", "1e-1", true},
		{"-0", "0", true},
		{"9007199254740993", "9007199254740992", false}, // one and the same as float64
		{"0.1", "0.10000000000000001", false},
		{"1e999999999999", "1e999999999999", true},
		{"1e999999999999", "1e999999999998", false},
		{"1", `"1"`, false},
		{"0", "false", false},
		{"null", "false", false},
		{"null", "null", true},
		{"true", "true", true},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":null}`, `{"b":null}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[]`, `{}`, false},
		{`[]`, `null`, false},
	} {
		a, err := decodeJSON([]byte(r.a))
		require.NoError(t, err)
		b, err := decodeJSON([]byte(r.b))
		require.NoError(t, err)
		assert.Equal(t, r.equal, equalJSON(a, b), "%s and %s", r.a, r.b)
		assert.Equal(t, r.equal, equalJSON(b, a), "%s and %s", r.b, r.a)
	}
	assert.True(t, equalJSON(0.1, json.Number("0.1")), "what was decoded without UseNumber")
}

func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{"a.b[0]", `["x"].y`, "[*]", "$", "a['b\\'']", "..", "[\"\\"} {
		f.Add(s)
	}
	doc, _ := decodeJSON([]byte(`{"a": [1, {"b": 2}]}`))
	f.Fuzz(func(t *testing.T, path string) {
		p, err := parseJSONPath(path)
		if err != nil {
			return
		}
		_, _ = p.find(doc)
		// What is shown of a path is a path that leads to the same place.
		at := ""
		for _, s := range p.steps {
			at += s.after(at)
		}
		again, err := parseJSONPath(at)
		if strings.ToValidUTF8(path, "") == path {
			require.NoError(t, err, at)
			require.Equal(t, p.steps, again.steps, at)
		}
	})
}
