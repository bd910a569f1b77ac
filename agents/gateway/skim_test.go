package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzSkim: what skim finds in JSON is what encoding/json finds, and no text makes it fall.
func FuzzSkim(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , {"b":"]}"} ] , "c\"\\" : "\\" } `, `["\\\\",-1.5e3,true,null,[[]],{"":{}}]`, `{"a":"\u0022","\u0061b":"ü"}`,
		`"text"`, `7`, `null`, `{`, `[}`, `{"a"}`, `{"a":}`, `{"a":1 2}`, `["`, `["\`, `["\"`, `[]]`, `{]`, `[,]`, `{:}`, ``, ` `, `["a""b"]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		type member struct{ name, value string }
		var got []member
		err := skim([]byte(data), func(name string, value []byte) { got = append(got, member{name, string(value)}) })
		var object map[string]json.RawMessage
		var array []json.RawMessage
		switch {
		case !json.Valid([]byte(data)):
			return // it may notice, and need not
		case json.Unmarshal([]byte(data), &array) == nil && array != nil:
			require.NoError(t, err)
			require.Len(t, got, len(array))
			for i, v := range array {
				require.Equal(t, string(v), got[i].value)
				var want string
				_ = json.Unmarshal(v, &want)
				require.Equal(t, want, text([]byte(got[i].value)))
			}
		case json.Unmarshal([]byte(data), &object) == nil && object != nil:
			require.NoError(t, err)
			last := map[string]string{}
			for _, m := range got {
				last[m.name] = m.value
			}
			require.Len(t, last, len(object))
			for name, v := range object {
				require.Equal(t, string(v), last[name])
			}
		default:
			require.Error(t, err)
		}
	})
}

// A request that is tried again is known by its point; what an agent changes between tries is no part of it, what it asks
// for is.
func TestPoint(t *testing.T) {
	t.Parallel()
	const first = `{"model":"a","max_tokens":9,"stream":true,"tools":[{"name":"x"}],"messages":[{"role":"user","content":"Go."},` +
		`{"role":"assistant","content":[{"type":"text","text":"Yes."},{"type":"tool_use","id":"t1","input":{"a":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}]}`
	point := func(body string) string {
		q, err := anthropic{}.parse(nil, []byte(body))
		require.NoError(t, err)
		require.NotEmpty(t, q.Point)
		return q.Point
	}
	with := func(oldNew ...string) string {
		changed := strings.NewReplacer(oldNew...).Replace(first)
		require.NotEqual(t, first, changed)
		return changed
	}
	for name, body := range map[string]string{
		"another model":   with(`"model":"a"`, `"model":"b"`),
		"whole":           with(`"stream":true`, `"stream":false`),
		"fewer tokens":    with(`"max_tokens":9`, `"max_tokens":8`),
		"a cache mark":    with(`"content":"out"`, `"content":"out","cache_control":{"type":"ephemeral"}`),
		"a block":         with(`"content":"Go."`, `"content":[{"type":"text","text":"Go.","cache_control":{"type":"ephemeral"}}]`),
		"other tools":     with(`{"name":"x"}`, `{"name":"y"}`),
		"other blanks":    with(`,`, ` , `, `:`, ": "),
		"the model's own": with("Yes.", "No."), // an agent may trim what it repeats
	} {
		assert.Equal(t, point(first), point(body), name)
	}
	for name, body := range map[string]string{
		"another prompt":  with("Go.", "Stop."),
		"another call":    with("t1", "t2"),
		"another role":    with(`{"role":"user","content":[`, `{"role":"system","content":[`),
		"another message": with(`]}]}`, `]},{"role":"user","content":""}]}`),
		"another block":   with(`"content":"out"}`, `"content":"out"},{"type":"text","text":"more"}`),
	} {
		assert.NotEqual(t, point(first), point(body), name)
	}
	side, err := anthropic{}.parse(nil, []byte(with(`[{"name":"x"}]`, `[]`)))
	require.NoError(t, err)
	assert.True(t, side.Side)
}

func BenchmarkParseQuery(b *testing.B) {
	body, err := json.Marshal(map[string]any{"model": "a", "messages": []any{map[string]any{"role": "user", "content": strings.Repeat("a line of a \"file\"\n", 50_000)}}})
	require.NoError(b, err)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := (anthropic{}).parse(nil, body); err != nil {
			b.Fatal(err)
		}
	}
}
