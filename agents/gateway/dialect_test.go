package gateway

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

var seeds = []string{
	`{"model":"m","stream":true,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_m_0_0"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_m_0_0"}]}],"tools":[{"name":"x"}]}`,
	`{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Go."}]},{"type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c"}],"tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"x"}]}]}`,
	`{"messages":[{"role":"system","content":"x"},{"role":"user","content":"Go."},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"x","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"y"}]}`,
	`{"contents":[{"parts":[{"text":"Go."}]},{"role":"model","parts":[{"functionCall":{"name":"x"}}]},{"role":"user","parts":[{"functionResponse":{"name":"x"}}]}],"tools":[{"functionDeclarations":[{"name":"x","parameters":{"type":"OBJECT"}}]}]}`,
	`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c"}}`, `{"error":{"code":1,"details":[{"reason":"API_KEY_INVALID"}]}}`,
	`{"choices":[{"delta":{"tool_calls":[{"id":"c"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1e300}}`, `[DONE]`, `[{},null]`, `{"input":""}`, `{"contents":{}}`,
}

// Whatever an agent sends, each dialect reads it or refuses it.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	r := httptest.NewRequest(http.MethodPost, "/v1beta/models/m:streamGenerateContent", nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		for wire, d := range dialects {
			q, err := d.parse(r, body)
			if err != nil {
				continue
			}
			require.NotEmpty(t, q.Point, wire)
			require.LessOrEqual(t, q.fresh, q.sent)
			q.tools(d)
			newScripted(d, nil, "").answer(q)
		}
	})
}

// Whatever a provider answers, each dialect's books are closed in the end: the answer was whole, or it failed.
func FuzzReaders(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), true)
		f.Add([]byte("data: "+s+"\n\n"), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		for wire, d := range dialects {
			l := new(log)
			m := &meter{x: l.arrive(Request{}), reader: d.reader()}
			m.begin(200)
			if whole {
				m.whole(data)
				m.x.end(Answered)
			} else {
				for len(data) > 0 { // in pieces
					n := min(7, len(data))
					m.lines(data[:n])
					data = data[n:]
				}
				m.end(nil)
			}
			x := l.snapshot()[0]
			require.NotZero(t, x.Ended, wire)
			require.True(t, m.ended || x.Failure != nil, wire)
			require.GreaterOrEqual(t, x.Usage.Tokens(), int64(0), wire)
		}
	})
}

// What is among tools is found, whatever kind of a tool it is.
func TestToolsOfEveryKind(t *testing.T) {
	t.Parallel()
	names := func(wire agents.Wire, body string) (all []string) {
		q, err := dialects[wire].parse(httptest.NewRequest(http.MethodPost, "/v1/models/m:generateContent", nil), []byte(body))
		require.NoError(t, err)
		for _, tool := range q.tools(dialects[wire]) {
			name := tool.space + tool.name
			if tool.free {
				name += " (free)"
			}
			all = append(all, name)
		}
		return all
	}
	require.Equal(t, []string{"shell", "apply_patch (free)", "mcp__db__query"}, names(agents.OpenAIResponses, `{"input":"Go.","tools":[{"type":"function","name":"shell"},
		{"type":"custom","name":"apply_patch"},{"type":"web_search"},{"type":"namespace","name":"mcp__db__","tools":[{"type":"function","name":"query"}]},7]}`))
	require.Equal(t, []string{"bash", "patch (free)"}, names(agents.OpenAIChat, `{"messages":[{"role":"user","content":"Go."}],
		"tools":[{"type":"function","function":{"name":"bash"}},{"type":"custom","custom":{"name":"patch"}}]}`))
	require.Equal(t, []string{"a", "b", "c"}, names(agents.GeminiGenerate, `{"contents":[{"parts":[{"text":"Go."}]}],
		"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"googleSearch":{}},{"function_declarations":[{"name":"c"}]}]}`))
}

// A stream without server-sent events is an array of the same.
func TestArrayOfEvents(t *testing.T) {
	t.Parallel()
	d := dialects[agents.GeminiGenerate]
	w := httptest.NewRecorder()
	s := newSSE(w, true)
	out := d.stream(s, new(query), reply{id: "msg_m_0"})
	require.NoError(t, out.begin())
	require.NoError(t, out.block(0, block{text: "Hi"}))
	require.NoError(t, out.end())
	l := new(log)
	m := &meter{x: l.arrive(Request{}), reader: d.reader()}
	m.whole(w.Body.Bytes())
	require.True(t, m.ended)
	require.Nil(t, m.failure)
	require.Equal(t, "msg_m_0", l.snapshot()[0].ID)
	require.True(t, bytes.HasPrefix(w.Body.Bytes(), []byte("[{")))
}
