package claude

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

const (
	answer  = `{"type":"assistant","message":{"id":"m0","model":"m","content":[{"type":"text","text":"Well."}]}}`
	outcome = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}}`
	success = `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`
	started = `{"type":"system","subtype":"init"}`
)

// decodeAll is the events of lines, and how the last of them that ends a turn ends it.
func decodeAll(d *decoder, lines ...string) (events []agents.Event, last *end) {
	for _, l := range lines {
		out := d.decode([]byte(l))
		events = append(events, out.events...)
		if out.end != nil {
			last = out.end
		}
	}
	return events, last
}

func TestDecodeAnIDThatStandsForTwoCalls(t *testing.T) {
	t.Parallel()
	block := func(message, id, name, input string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, message, id, name, input)
	}
	for _, test := range []struct {
		name, line string
		wrong      bool
	}{
		{"told again", dispatch, false},
		{"told again, written differently", block("m", "a", "Bash", `{ "command" : "\u006cs" }`), false},
		{"another input", block("m", "a", "Bash", `{"command":"rm -rf x"}`), true},
		{"another input, in a later answer", block("m2", "a", "Bash", `{"command":"rm -rf x"}`), true},
		{"another number", block("m", "a", "Bash", `{"command":"ls","timeout":1}`), true},
		{"another tool", block("m", "a", "Read", `{"command":"ls"}`), true},
		{"once more, in a later answer", block("m2", "a", "Bash", `{"command":"ls"}`), true},
		{"no id", block("m", "", "Bash", `{"command":"ls"}`), true},
	} {
		for _, settled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, settled: %v", test.name, settled), func(t *testing.T) {
				t.Parallel()
				d := newDecoder("/ws")
				decodeAll(d, dispatch)
				if settled {
					decodeAll(d, outcome)
				}
				events, ended := decodeAll(d, test.line)
				require.Empty(t, events)
				if !test.wrong {
					require.Nil(t, ended)
					_, ended = decodeAll(d, success)
					require.Nil(t, ended.err)
					return
				}
				require.NotNil(t, ended)
				require.True(t, ended.abrupt)
				require.Equal(t, agents.Protocol, ended.err.Kind)
				require.Equal(t, agents.FromAgent, ended.err.Source)
				events, ended = decodeAll(d, answer, success)
				require.Len(t, events, 1)
				require.NotNil(t, ended.err, "nor is the session good for anything after it")
			})
		}
	}
}

// What is about to run must be what was told.
func TestGateRefusesAnIDThatStandsForTwoCalls(t *testing.T) {
	t.Parallel()
	ask := func(id, tool, input string) string {
		return fmt.Sprintf(`{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","input":{"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":%q}}}`, tool, input, id)
	}
	read := strings.NewReplacer("Bash", "Read", `"command":"ls"`, `"file_path":"./x.txt"`).Replace(dispatch)
	for _, test := range []struct {
		name   string
		lines  []string
		refuse bool
	}{
		{"as it was told", []string{dispatch, question}, false},
		{"before it was told", []string{question}, false},
		{"a default filled in", []string{dispatch, ask("a", "Bash", `{"timeout":5,"command":"ls"}`)}, false},
		{"a path made absolute", []string{read, ask("a", "Read", `{"file_path":"/elsewhere/x.txt"}`)}, false},
		{"another path", []string{read, ask("a", "Read", `{"file_path":"/ws/y.txt"}`)}, true},
		{"another command", []string{dispatch, ask("a", "Bash", `{"command":"rm -rf x"}`)}, true},
		{"another tool", []string{dispatch, ask("a", "Write", `{}`)}, true},
		{"over already", []string{dispatch, outcome, question}, true},
		{"asked about as another", []string{question, ask("a", "Bash", `{"command":"rm -rf x"}`)}, true},
		{"no id", []string{ask("", "Bash", `{"command":"ls"}`)}, true},
	} {
		for name, permit := range map[string]func(context.Context, agents.ToolCall) agents.Decision{
			"without a gate": nil,
			"gated":          func(context.Context, agents.ToolCall) agents.Decision { return agents.Decision{Allow: true} },
		} {
			t.Run(test.name+" "+name, func(t *testing.T) {
				t.Parallel()
				s, replies, over := gated(permit)
				defer over()
				s.gate.tell("a")
				for _, l := range test.lines {
					s.take([]byte(l))
				}
				allowed := []bool{(<-replies).Allow}
				if test.name == "asked about as another" { // the first question is answered as ever
					allowed = append(allowed, (<-replies).Allow)
				}
				if test.refuse {
					require.Contains(t, allowed, false)
				} else {
					require.NotContains(t, allowed, false)
				}
				var ended *end
				for i, ok := s.queue.pop(); ok; i, ok = s.queue.pop() {
					if i.end != nil {
						ended = i.end
					}
				}
				require.Equal(t, test.refuse, ended != nil && ended.abrupt && ended.err.Kind == agents.Protocol)
			})
		}
	}
	t.Run("told differently after it was asked about", func(t *testing.T) {
		t.Parallel()
		_, ended := decodeAll(newDecoder("/ws"), ask("a", "Bash", `{"command":"rm -rf x"}`), dispatch)
		require.NotNil(t, ended)
		require.True(t, ended.abrupt)
	})
}

// What cannot be read may have held a call; what is about a call that was not told of shows that one is missing.
func TestDecodeWhatIsLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		lines []string
		wrong bool
	}{
		{"nothing", nil, false},
		{"an empty line", []string{"\n", "  \r\n"}, false},
		{"a later version's", []string{`{"type":"new","message":7}`, `{}`}, false},
		{"garbage", []string{"npm warn: old\n"}, true},
		{"a torn line", []string{dispatch[:60]}, true},
		{"the rest of one", []string{dispatch[60:]}, true},
		{"a value", []string{"17"}, true},
		{"an answer of another form", []string{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":7}]}}`}, true},
		{"a result of no call", []string{outcome}, true},
		{"a result without an id", []string{strings.Replace(outcome, `"a"`, `""`, 1)}, true},
		{"a result, twice", []string{dispatch, outcome, outcome}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDecoder("/ws")
			events, ended := decodeAll(d, append(append([]string{started}, test.lines...), answer, success)...)
			require.Equal(t, "Well.", events[len(events)-1].Text, "the turn goes on to its end")
			require.NotNil(t, ended)
			if !test.wrong {
				require.Nil(t, ended.err)
				return
			}
			require.NotNil(t, ended.err)
			require.Equal(t, agents.Protocol, ended.err.Kind)
			require.Equal(t, agents.FromAgent, ended.err.Source)
		})
	}
}

func TestDecodeWhatIsNotOfATurn(t *testing.T) {
	t.Parallel()
	d := newDecoder("/ws")
	control := `{"type":"control_response","response":{"subtype":"success"}}`
	for _, when := range []string{"before the first turn", "between two"} {
		_, ended := decodeAll(d, "npm warn: old", control, "hello", started, answer, success)
		require.Nil(t, ended.err, when)
	}
	_, ended := decodeAll(d, dispatch[:60], started, answer, success)
	require.NotNil(t, ended.err, "a piece of a message")
}

// After an interruption lines are torn and calls are refused that were never told of.
func TestDecodeWhatIsLostByAnInterruption(t *testing.T) {
	t.Parallel()
	d := newDecoder("/ws")
	decodeAll(d, started, answer, question)
	d.stopped = true
	events, ended := decodeAll(d, outcome, strings.Replace(outcome, `"a"`, `"b"`, 1), dispatch[:60], success)
	require.Empty(t, events)
	require.Nil(t, ended.err)
}

// A call that ran is told, though the hook alone has seen it.
func TestDecodeACallThatTheHookAloneHasSeen(t *testing.T) {
	t.Parallel()
	events, ended := decodeAll(newDecoder("/ws"), started, question, outcome, dispatch, answer, success)
	require.Nil(t, ended.err)
	require.Len(t, events, 3)
	require.Equal(t, []string{"ls"}, events[0].Call.Commands)
	require.Equal(t, agents.Completed, events[1].Status)
}

// A turn in which the model did not answer is no verdict on it.
func TestDecodeATurnWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	const (
		opens  = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`
		closes = `{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"}}}`
	)
	for _, test := range []struct {
		name  string
		lines []string
		wrong bool
	}{
		{"success", []string{success}, true},
		{"no subtype", []string{`{"type":"result"}`}, true},
		{"an end of a later version", []string{`{"type":"result","subtype":"error_brand_new"}`}, true},
		{"an error", []string{`{"type":"result","subtype":"error_brand_new","is_error":true}`}, true},
		{"half an answer", []string{opens, success}, true},
		{"a sub-agent's answer", []string{strings.Replace(answer, "{", `{"parent_tool_use_id":"b",`, 1), success}, true},
		{"a limit", []string{`{"type":"result","subtype":"error_max_turns","is_error":true}`}, false},
		{"a limit, not called an error", []string{`{"type":"result","subtype":"error_max_turns","is_error":false}`}, false},
		{"an empty answer", []string{opens, closes, success}, false},
		{"an answer too long", []string{`{"type":"assistant","message":{"model":"<synthetic>"},"error":"max_output_tokens"}`, success}, false},
		{"a text", []string{answer, success}, false},
		{"a call", []string{dispatch, outcome, success}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDecoder("/ws")
			for range 2 { // what one turn saw says nothing of the next
				_, ended := decodeAll(d, started, `{"type":"result","subtype":"success","queued_turn_count":1}`)
				require.True(t, ended.more, "it is not over yet")
				if _, ended = decodeAll(d, test.lines...); !test.wrong {
					require.Nil(t, ended.err)
					if strings.Contains(test.name, "call") {
						return // its id is taken
					}
					continue
				}
				require.NotNil(t, ended.err)
				require.Equal(t, agents.Protocol, ended.err.Kind)
				require.Equal(t, agents.FromAgent, ended.err.Source)
				if strings.Contains(test.lines[0], "brand_new") {
					require.Contains(t, ended.err.Error(), "error_brand_new")
				}
			}
		})
	}
	d := newDecoder("/ws")
	decodeAll(d, answer, success)
	_, ended := decodeAll(d, success)
	require.NotNil(t, ended.err, "each turn needs an answer")
}
