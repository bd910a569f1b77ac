package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

func TestDecodeTurn(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/turn.jsonl")
	require.NoError(t, err)
	d := newDecoder("/ws")
	var events []agents.Event
	var hooks []string
	var ends []*agents.Error
	for l := range bytes.Lines(data) {
		out := d.decode(l)
		for _, e := range out.events {
			require.WithinDuration(t, time.Now(), e.Time, time.Minute)
			require.NotEmpty(t, e.Raw)
			e.Time, e.Raw = time.Time{}, nil
			events = append(events, e)
		}
		if out.hook != nil {
			hooks = append(hooks, fmt.Sprintf("%s: %s %s in %q", out.hook.request, out.hook.call.Kind, out.hook.call.ID, out.hook.call.Parent))
		}
		if out.end != nil {
			ends = append(ends, out.end.err)
		}
	}
	bash := agents.ToolCall{ID: "a", Kind: agents.Execute, Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Commands: []string{"ls"}}
	sub := agents.ToolCall{ID: "b", Kind: agents.Sub, Name: "Agent", Input: json.RawMessage(`{"prompt":"Go.","description":"d"}`)}
	read := agents.ToolCall{ID: "c", Parent: "b", Kind: agents.Read, Name: "Read", Input: json.RawMessage(`{"file_path":"/ws/x.txt"}`), Paths: []string{"x.txt"}}
	want := []agents.Event{
		agents.Request(),
		agents.Say("Looking.").In("msg_1"),
		agents.Begin(bash).In("msg_1"),
		agents.End("a", agents.Completed, "x.txt"),
		agents.Begin(sub).In("msg_1"),
		agents.Spent(agents.Usage{InputTokens: 10, CacheWriteTokens: 5, OutputTokens: 30, CachedTokens: 100}).In("msg_1"),
		agents.Begin(read).In("msg_2"),
		agents.Spent(agents.Usage{InputTokens: 7, OutputTokens: 1}).In("msg_2").Under("b"),
		agents.End("c", agents.Completed, "1\n2").Under("b"),
		agents.End("b", agents.Completed, "done"),
		agents.Spent(agents.Usage{InputTokens: 1, OutputTokens: 10, Cost: 0.5}),
	}
	require.Empty(t, cmp.Diff(want, events))
	require.Equal(t, []string{`r1: execute a in ""`, `r2: agent b in ""`, `r3: read c in "b"`}, hooks)
	require.Equal(t, []*agents.Error{nil}, ends)
	require.Equal(t, agents.Usage{InputTokens: 18, CacheWriteTokens: 5, OutputTokens: 41, CachedTokens: 100, Cost: 0.5}, d.sum)
	require.Equal(t, "9.9.9", d.version)
	require.NoError(t, new(agents.Trajectory).Append(events[0]))
	agents.NewTrajectory(events...) // panics where they contradict each other
}

// How a call ended is read from typed fields, and from whether the hook was asked before.
func TestDecodeStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		asked bool
		error bool
		meta  string
		want  agents.Status
	}{
		{"ran well", true, false, `[{"id":"a"}]`, agents.Completed},
		{"ran badly", true, true, `[{"id":"a","permission_decision":{"decision":"accept"}}]`, agents.Failed},
		{"ran badly, of an older version", true, true, `null`, agents.Failed},
		{"unknown tool or bad input", false, true, `null`, agents.Denied},
		{"refused by the hook", true, true, `[{"id":"a","non_execution_kind":"permission-rule","permission_decision":{"decision":"reject"}}]`, agents.Denied},
		{"refused by a classifier", true, true, `[{"id":"a","non_execution_kind":"automode-blocked"}]`, agents.Denied},
		{"refused after it ran", true, true, `[{"id":"a","permission_decision":{"decision":"reject"}}]`, agents.Failed},
		{"stopped while it ran", true, true, `[{"id":"a","non_execution_kind":"user-rejected"}]`, agents.Unresolved},
		{"interrupted", true, true, `[{"id":"a","non_execution_kind":"interrupted"}]`, agents.Unresolved},
		{"cancelled", true, true, `[{"id":"a","non_execution_kind":"cancelled"}]`, agents.Unresolved},
		{"a kind of a later version", true, true, `[{"id":"a","non_execution_kind":"new"}]`, agents.Unresolved},
		{"another call's kind", true, true, `[{"id":"b","non_execution_kind":"permission-rule"}]`, agents.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDecoder("/ws")
			d.decode([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}}`))
			if test.asked {
				require.NotNil(t, d.decode([]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"a"}}}`)).hook)
			}
			out := d.decode(fmt.Appendf(nil, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x","is_error":%v}]},"tool_result_meta":%s}`, test.error, test.meta))
			require.Len(t, out.events, 1)
			require.Equal(t, test.want, out.events[0].Status)
			require.Equal(t, "x", out.events[0].Output)
		})
	}
}

func TestDecodeFailureAfterAnInterruption(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		d := newDecoder("/ws")
		d.decode([]byte(dispatch))
		d.decode([]byte(question))
		d.stopped = stopped
		e := d.decode([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x","is_error":true}]}}`)).events[0]
		require.Equal(t, map[bool]agents.Status{false: agents.Failed, true: agents.Unresolved}[stopped], e.Status)
	}
}

// What went wrong is read from typed fields: the text is only passed on.
func TestDecodeResult(t *testing.T) {
	t.Parallel()
	const told = `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},"error":%q}`
	for _, test := range []struct {
		name      string
		synthetic string // kind of error that a made-up answer tells of
		result    string
		want      agents.ErrorKind
		retry     bool
	}{
		{"done", "", `"subtype":"success","is_error":false`, "", false},
		{"text that looks like an error", "", `"subtype":"success","is_error":false,"result":"API Error: 401"`, "", false},
		{"its own limit on turns", "", `"subtype":"error_max_turns","is_error":true`, "", false},
		{"its own limit on money", "", `"subtype":"error_max_budget_usd","is_error":true`, "", false},
		{"401", "authentication_failed", `"subtype":"success","is_error":true,"api_error_status":401,"terminal_reason":"api_error"`, agents.Auth, false},
		{"403", "", `"is_error":true,"api_error_status":403`, agents.Auth, false},
		{"402", "unknown", `"is_error":true,"api_error_status":402,"api_error_type":"billing_error"`, agents.Quota, false},
		{"credit used up, as 400", "billing_error", `"is_error":true,"api_error_status":400`, agents.Quota, false},
		{"400", "invalid_request", `"is_error":true,"api_error_status":400`, agents.Protocol, false},
		{"429", "rate_limit", `"is_error":true,"api_error_status":429`, agents.RateLimit, true},
		{"529", "server_error", `"is_error":true,"api_error_status":529`, agents.Overloaded, true},
		{"500", "server_error", `"is_error":true,"api_error_status":500`, agents.Overloaded, true},
		{"529 of an older version", "", `"is_error":true,"api_error_status":529,"terminal_reason":"completed"`, agents.Overloaded, true},
		{"cut", "server_error", `"is_error":true,"api_error_status":null,"terminal_reason":"api_error"`, agents.Network, true},
		{"malformed", "unknown", `"is_error":true,"api_error_status":null`, agents.Protocol, true},
		{"malformed, nothing named", "", `"is_error":true,"terminal_reason":"api_error"`, agents.Protocol, true},
		{"not logged in", "authentication_failed", `"is_error":true`, agents.Auth, false},
		{"an answer too long", "max_output_tokens", `"subtype":"success","is_error":true`, "", false},
		{"its own limit on tries", "", `"subtype":"error_max_structured_output_retries","is_error":true`, "", false},
		{"an end of a later version", "", `"subtype":"error_brand_new"`, agents.Protocol, true},
		{"an error of a later version", "", `"subtype":"error_brand_new","is_error":true`, agents.Protocol, true},
		{"an error that nothing explains", "", `"subtype":"success","is_error":true,"result":"no status"`, agents.Protocol, true},
		{"a fault of the CLI, not called an error", "", `"subtype":"error_during_execution","is_error":false`, agents.Crash, true},
		{"a fault of the CLI", "", `"subtype":"error_during_execution","is_error":true,"errors":["oops"]`, agents.Crash, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDecoder("/ws")
			d.decode([]byte(answer))
			if test.synthetic != "" {
				require.Empty(t, d.decode(fmt.Appendf(nil, told, test.synthetic)).events, "not the model's words")
			}
			out := d.decode([]byte(`{` + test.result + `,"type":"result"}`))
			require.NotNil(t, out.end)
			if test.want == "" {
				require.Nil(t, out.end.err)
				return
			}
			require.NotNil(t, out.end.err)
			require.Equal(t, test.want, out.end.err.Kind)
			require.Equal(t, test.retry, out.end.err.Retryable)
			source := agents.FromProvider
			if test.want == agents.Crash || strings.Contains(test.result, "brand_new") || strings.Contains(test.result, "no status") {
				source = agents.FromAgent
			}
			require.Equal(t, source, out.end.err.Source)
		})
	}
}

// An error that the agent got over does not end the session.
func TestDecodeErrorThatPassed(t *testing.T) {
	t.Parallel()
	d := newDecoder("/ws")
	d.decode([]byte(`{"type":"assistant","message":{"model":"<synthetic>","content":[]},"error":"server_error"}`))
	d.decode([]byte(`{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"on"}]}}`))
	require.Nil(t, d.decode([]byte(`{"type":"result","subtype":"error_max_turns","is_error":true}`)).end.err)
}

// A sub-agent whose provider failed spoils the turn, whatever the agent makes of it.
func TestDecodeLostSubagent(t *testing.T) {
	t.Parallel()
	d := newDecoder("/ws")
	lose := func(kind, name string) *agents.Error {
		require.Empty(t, d.decode(fmt.Appendf(nil, `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"oh"}]},"error":%q,"api_error_type":%q,"parent_tool_use_id":"b"}`, name, kind)).events)
		d.decode([]byte(`{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"on"}]}}`))
		return d.decode([]byte(`{"type":"result","subtype":"success","is_error":false}`)).end.err
	}
	require.Equal(t, agents.Overloaded, lose("overloaded_error", "server_error").Kind)
	require.Equal(t, agents.Network, lose("", "server_error").Kind)
	require.Equal(t, agents.Protocol, lose("", "").Kind)
	require.Nil(t, lose("", "max_output_tokens"), "the model's own doing")
	d.decode([]byte(answer))
	require.Nil(t, d.decode([]byte(`{"type":"result","subtype":"success","is_error":false}`)).end.err, "it counts once")
}

// The agent has not handed back while sub-agents work in the background, or while a turn follows by itself.
func TestDecodeBackground(t *testing.T) {
	t.Parallel()
	d := newDecoder("/ws")
	more := func(queued int) bool {
		return d.decode(fmt.Appendf(nil, `{"type":"result","subtype":"success","queued_turn_count":%d}`, queued)).end.more
	}
	tasks := func(types ...string) {
		list := []any{}
		for _, x := range types {
			list = append(list, map[string]any{"task_type": x})
		}
		data, err := json.Marshal(map[string]any{"type": "system", "subtype": "background_tasks_changed", "tasks": list})
		require.NoError(t, err)
		d.decode(data)
	}
	require.False(t, more(0))
	require.True(t, more(1))
	tasks("local_bash", "local_agent")
	require.True(t, more(0))
	require.NotNil(t, d.decode([]byte(`{"type":"result","is_error":true,"api_error_status":529}`)).end.err, "an error is the end")
	tasks("local_bash")
	require.False(t, more(0), "a shell may run for ever")
}

func TestDecodeCumulativeUsage(t *testing.T) {
	t.Parallel()
	d := newDecoder("/ws")
	turn := func(input, output int, cost float64) agents.Usage {
		out := d.decode(fmt.Appendf(nil, `{"type":"result","total_cost_usd":%v,"modelUsage":{"m":{"inputTokens":%d,"outputTokens":%d}}}`, cost, input, output))
		var u agents.Usage
		for _, e := range out.events {
			u = u.Add(e.Usage)
		}
		return u
	}
	require.Equal(t, agents.Usage{InputTokens: 10, OutputTokens: 2, Cost: 0.25}, turn(10, 2, 0.25))
	require.Equal(t, agents.Usage{InputTokens: 5, OutputTokens: 1, Cost: 0.5}, turn(15, 3, 0.75))
	require.Equal(t, agents.Usage{}, turn(15, 3, 0.75))
	require.Equal(t, agents.Usage{InputTokens: 15, OutputTokens: 3, Cost: 0.75}, d.sum)
}

func TestDecodeBoundsOutput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ in, want string }{
		"all":              {"ä", "ä"},
		"as much as fits":  {strings.Repeat("x", maxOutput), strings.Repeat("x", maxOutput)},
		"whole characters": {"x" + strings.Repeat("ä", maxOutput), "x" + strings.Repeat("ä", maxOutput/2-1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.True(t, bounded(test.in) == test.want)
		})
	}
}

func TestToolCall(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	quote := func(s string) string {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		return string(data)
	}
	for _, test := range []struct {
		name, tool, input string
		want              agents.ToolCall
	}{
		{"command", "Bash", `{"command":"a && b","timeout":3}`, agents.ToolCall{Kind: agents.Execute, Commands: []string{"a && b"}}},
		{"path in the workspace", "Write", `{"file_path":` + quote(filepath.Join(ws, "a", "b.txt")) + `}`, agents.ToolCall{Kind: agents.Edit, Paths: []string{"a/b.txt"}}},
		{"relative path", "Edit", `{"file_path":"a/../b.txt"}`, agents.ToolCall{Kind: agents.Edit, Paths: []string{"b.txt"}}},
		{"path beside the workspace", "Read", `{"file_path":` + quote(ws+"-other") + `}`, agents.ToolCall{Kind: agents.Read, Paths: []string{filepath.ToSlash(ws + "-other")}}},
		{"the workspace", "Grep", `{"path":` + quote(ws) + `}`, agents.ToolCall{Kind: agents.Search, Paths: []string{"."}}},
		{"notebook", "NotebookEdit", `{"notebook_path":"n.ipynb"}`, agents.ToolCall{Kind: agents.Edit, Paths: []string{"n.ipynb"}}},
		{"skill", "Skill", `{"skill":"pdf","args":"x"}`, agents.ToolCall{Kind: agents.Skill, Skill: "pdf"}},
		{"slash command", "SlashCommand", `{"command":"/pdf all of it"}`, agents.ToolCall{Kind: agents.Skill, Skill: "pdf"}},
		{"sub-agent", "Task", `{"prompt":"x"}`, agents.ToolCall{Kind: agents.Sub}},
		{"web", "WebSearch", `{"query":"x"}`, agents.ToolCall{Kind: agents.Fetch}},
		{"to-do list", "TodoWrite", `{}`, agents.ToolCall{Kind: agents.Think}},
		{"MCP", "mcp__db__query", `{"command":"x","path":"y"}`, agents.ToolCall{Kind: agents.Other}},
		{"wrong types", "Bash", `{"command":["ls"]}`, agents.ToolCall{Kind: agents.Execute}},
		{"one wrong, one right", "Read", `{"file_path":"a","path":7}`, agents.ToolCall{Kind: agents.Read, Paths: []string{"a"}}},
		{"no object", "Read", `"a"`, agents.ToolCall{Kind: agents.Read}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.want.ID, test.want.Parent, test.want.Name, test.want.Input = "id", "up", test.tool, json.RawMessage(test.input)
			require.Equal(t, test.want, toolCall("id", "up", test.tool, json.RawMessage(test.input), []string{ws}))
		})
	}
}

func FuzzDecode(f *testing.F) {
	data, err := os.ReadFile("testdata/turn.jsonl")
	require.NoError(f, err)
	for l := range bytes.Lines(data) {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, l []byte) {
		d := newDecoder("/ws")
		d.decode(l)
		d.decode(l)
	})
}
