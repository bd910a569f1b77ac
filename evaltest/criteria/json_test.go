package criteria_test

import (
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

type bill struct {
	Total int    `json:"total"`
	Date  string `json:"date"`
}

func TestJSON(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.For[bill](nil)
	require.NoError(t, err)
	doc := files{"out.json": `{"total": 3, "date": "2026-01-02", "items": [{"total": 1}, {"total": 2.0}], "n": null, "id": 9007199254740993}`}
	of := criteria.JSON("out.json")
	runEndRows(t, []endRow{
		{name: "well-formed", c: of, files: doc, score: "1", reason: "an object"},
		{name: "a value", c: of.At("items[0].total", 1), files: doc, score: "1"},
		{name: "a value is another", c: of.At("total", 4), files: doc, score: "0", reason: "it is 3"},
		{name: "a value of a struct", c: of.At("items[0]", bill{Total: 1}), files: doc, score: "0", reason: `it is {"total":1}`},
		{name: "a value of a map", c: of.At("items[0]", map[string]int{"total": 1}), files: doc, score: "1"},
		{name: "values of all elements", c: of.At("items[*].total", []int{1, 2}), files: doc, score: "1"},
		{name: "null", c: of.At("n", nil), files: doc, score: "1"},
		{name: "numbers are exact", c: of.At("id", int64(9007199254740992)), files: doc, score: "0", reason: "it is 9007199254740993"},
		{name: "decimals as they are typed", c: criteria.JSON("a").At("", 0.1), files: files{"a": "0.10"}, score: "1"},
		{name: "a value is not there", c: of.At("sum", 4), files: doc, score: "0", reason: `the document has no key "sum": it has "date", "id", "items", "n", "total"`},
		{name: "an expression", c: of.AtMatches("date", `^\d{4}-`), files: doc, score: "1"},
		{name: "an expression on a number", c: of.AtMatches("total", `^3$`), files: doc, score: "1"},
		{name: "an expression that does not match", c: of.AtMatches("date", `^x`), files: doc, score: "0", reason: `it is "2026-01-02"`},
		{name: "something there", c: of.Has("n"), files: doc, score: "1"},
		{name: "nothing there", c: of.Has("x"), files: doc, score: "0", reason: "no key"},
		{name: "absent", c: of.Lacks("x"), files: doc, score: "1"},
		{name: "not absent", c: of.Lacks("n"), files: doc, score: "0", reason: "it is there: null"},
		{name: "length of a list", c: of.Len("items", 2), files: doc, score: "1"},
		{name: "length of an object", c: of.Len("", 5), files: doc, score: "1"},
		{name: "length of a string", c: criteria.JSON("a").Len("", 2), files: files{"a": `"äö"`}, score: "1"},
		{name: "another length", c: of.Len("items", 3), files: doc, score: "0", reason: "its length is 2"},
		{name: "no length", c: of.Len("total", 3), files: doc, score: "0", reason: "it is a number, which has no length"},
		{name: "several hold", c: of.Has("n").Len("items", 2).At("total", 3), files: doc, score: "1", reason: "3 assertions hold"},
		{name: "one of several does not", c: of.Has("n").Len("items", 3).At("total", 3), files: doc, score: "0", reason: "1 of 3 do not hold; items has length 3: its length is 2"},
		{name: "a share", c: of.Has("n").Len("items", 3).At("total", 3).Partial(), files: doc, score: "0.67", reason: "1 of 3"},

		{name: "valid by a schema of a Go type", c: criteria.JSON("a").Schema(schema), files: files{"a": `{"total": 3, "date": ""}`}, score: "1"},
		{name: "not valid by it", c: criteria.JSON("a").Schema(schema), files: files{"a": `{"total": "3", "date": ""}`}, score: "0", reason: `/properties/total: type: 3 has type "string", want "integer"`},
		{name: "a property is missing", c: criteria.JSON("a").Schema(schema), files: files{"a": `{"total": 3}`}, score: "0", reason: "date"},
		{name: "valid by the schema in a file", c: of.SchemaFile("testdata/bill.schema.json"), files: doc, score: "1"},
		{name: "valid by a schema's text", c: of.SchemaText(`{"required": ["total"]}`), files: doc, score: "1"},
		{name: "an integer written with a point", c: criteria.JSON("a").SchemaText(`{"type": "integer"}`), files: files{"a": "3.0"}, score: "1"},
		{name: "rules for strings do not apply to numbers", c: criteria.JSON("a").SchemaText(`{"minLength": 9, "pattern": "x"}`), files: files{"a": "3"}, score: "1"},
		{name: "rules for numbers do", c: criteria.JSON("a").SchemaText(`{"maximum": 2}`), files: files{"a": "3"}, score: "0", reason: "maximum: 3/1 is greater"},

		{name: "no such file", c: criteria.JSON("Out.json"), files: doc, score: "0", reason: "no Out.json; there is out.json, in other case"},
		{name: "brackets in a name are meant", c: criteria.JSON("a[1].json"), files: files{"a[1].json": "{}"}, score: "1"},
		{name: "empty file", c: criteria.JSON("a"), files: files{"a": ""}, score: "0", reason: "a is empty"},
		{name: "only white space", c: criteria.JSON("a"), files: files{"a": "\n\n"}, score: "0", reason: "it ends too early"},
		{name: "malformed", c: criteria.JSON("a"), files: files{"a": "{\n  \"a\": 1,\n}"}, score: "0", reason: "malformed JSON at line 3, column 1: invalid character '}'"},
		{name: "malformed, whatever is asserted", c: criteria.JSON("a").Lacks("b"), files: files{"a": "{'a': 1}"}, score: "0", reason: "malformed JSON at line 1, column 2"},
		{name: "malformed, asked for a share", c: criteria.JSON("a").Lacks("b").Partial(), files: files{"a": "{"}, score: "0", reason: "malformed JSON at line 1, column 2: it ends too early"},
		{name: "two values", c: criteria.JSON("a"), files: files{"a": "{}\n{}\n"}, score: "0", reason: "line 2, column 1: something follows the JSON value"},
		{name: "bytes", c: criteria.JSON("a"), files: files{"a": "\x00\xff\x1b[31m"}, score: "0", reason: "line 1, column 1"},
		{name: "nested without end", c: criteria.JSON("a"), files: files{"a": strings.Repeat("[", 100000)}, score: "0", reason: "malformed JSON"},
		{name: "a folder", c: criteria.JSON("d"), files: files{"d/x": ""}, score: "0", reason: "d is a folder"},
		{name: "too large", c: criteria.JSON("a"), prepare: sparse("a", 65<<20, "x"), kind: agents.Judge, reason: "64.0 MiB"},
	})
}

// says makes the agent's reply.
func says(reply string) func(*testing.T, *evaltest.Trial) {
	return func(_ *testing.T, trial *evaltest.Trial) { trial.Reply = reply }
}

func TestReplyJSON(t *testing.T) {
	t.Parallel()
	has := criteria.ReplyJSON().At("a", 1)
	runEndRows(t, []endRow{
		{name: "bare", c: has, prepare: says(" {\"a\": 1}\n"), score: "1"},
		{name: "fenced as json", c: has, prepare: says("```json\n{\"a\": 1}\n```"), score: "1"},
		{name: "fenced, with words around", c: has, prepare: says("Here it is:\r\n\r\n```JSON\r\n{\"a\": 1}\r\n```\r\nDone."), score: "1"},
		{name: "fenced as nothing", c: has, prepare: says("Here:\n```\n{\"a\": 1}\n```\n"), score: "1"},
		{name: "fenced beside another block", c: has, prepare: says("```sh\nls\n```\n```json\n{\"a\": 1}\n```\n"), score: "1"},
		{name: "two blocks fenced as json", c: has, prepare: says("```json\n1\n```\n```json\n2\n```\n"), score: "0", reason: "2 blocks fenced as json"},
		{name: "a fence within a string", c: criteria.ReplyJSON().Has("a"), prepare: says("{\"a\": \"x\"}"), score: "1"},
		{name: "words before it", c: has, prepare: says("Sure: {\"a\": 1}"), score: "0", reason: "malformed JSON at line 1, column 1"},
		{name: "empty", c: has, prepare: says(" \n"), score: "0", reason: "the reply is empty"},
		{name: "another value", c: has, prepare: says(`{"a": 2}`), score: "0", reason: "it is 2"},
	})
}
