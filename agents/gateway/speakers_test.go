package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
)

// speaker is an agent's side of a conversation in one of the wire formats: as little of a client as is needed to follow a script.
type speaker struct {
	wire   agents.Wire
	path   func(stream bool) string
	prompt func(text string) any
	body   func(history []any, tools []object, stream bool) object
	// whole is an answer in one piece, stream one in events. Repeat is what the next request repeats of it.
	whole  func(t testing.TB, data []byte) said
	stream func(t testing.TB, events [][]byte) said
	result func(c call, output string) any
}

// said is an answer, whatever its wire format.
type said struct {
	ID, Model, Stop string
	Text            string
	Calls           []call
	Usage           json.RawMessage
	Repeat          []any
}

type call struct{ ID, Name, Input string }

// offer is tools in no wire format: name, properties and what of them is required.
var offer = []struct {
	name       string
	properties object
}{
	{"bash", object{"command": text}}, {"read", object{"path": text}}, {"write", object{"path": text, "content": text}},
	{"task", object{"prompt": text}}, {"skill", object{"name": text}}, {"mcp__db__query", object{"sql": text}},
}

func unmarshal(t testing.TB, data []byte, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(data, v), "%s", data)
}

var speakers = []speaker{
	{
		wire:   agents.AnthropicMessages,
		path:   func(bool) string { return "/v1/messages" },
		prompt: func(text string) any { return object{"role": "user", "content": text} },
		body: func(history []any, tools []object, stream bool) object {
			return object{"model": "a-model", "max_tokens": 1000, "messages": history, "stream": stream, "system": "Be good.", "tools": tools}
		},
		whole: func(t testing.TB, data []byte) said {
			var a struct {
				ID, Model string
				Content   []block
				Stop      string `json:"stop_reason"`
				Usage     json.RawMessage
			}
			unmarshal(t, data, &a)
			s := said{ID: a.ID, Model: a.Model, Stop: a.Stop, Usage: a.Usage, Repeat: []any{object{"role": "assistant", "content": a.Content}}}
			for _, b := range a.Content {
				if b.Type == "text" {
					s.Text += b.Text
				} else {
					s.Calls = append(s.Calls, call{b.ID, b.Name, string(b.Input)})
				}
			}
			return s
		},
		stream: func(t testing.TB, events [][]byte) said {
			var buf bytes.Buffer
			for _, e := range events {
				fmt.Fprintf(&buf, "data: %s\n\n", e)
			}
			var usage json.RawMessage
			model := ""
			a, err := readStream(&buf, func(e event) {
				if e.Usage != nil {
					usage = e.Usage
				}
				if e.Type == "message_start" {
					var start struct{ Message struct{ Model string } }
					unmarshal(t, events[0], &start)
					model = start.Message.Model
				}
			})
			require.NoError(t, err)
			s := said{ID: a.ID, Model: model, Stop: a.Stop, Usage: usage, Repeat: []any{object{"role": "assistant", "content": a.Content}}}
			for _, b := range a.Content {
				if b.Type == "text" {
					s.Text += b.Text
				} else {
					s.Calls = append(s.Calls, call{b.ID, b.Name, string(b.Input)})
				}
			}
			return s
		},
		result: func(c call, output string) any {
			return object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": c.ID, "content": output}}}
		},
	},
	{
		wire: agents.OpenAIResponses,
		path: func(bool) string { return "/v1/responses" },
		prompt: func(text string) any {
			return object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": text}}}
		},
		body: func(history []any, tools []object, stream bool) object {
			in := append([]any{object{"type": "message", "role": "developer", "content": "Be good."}}, history...)
			return object{"model": "a-model", "input": in, "stream": stream, "store": false, "tools": tools}
		},
		whole: responsesSaid,
		stream: func(t testing.TB, events [][]byte) said {
			var texts strings.Builder
			inputs := map[string]string{}
			var items []json.RawMessage
			for i, e := range events {
				var ev struct {
					Type     string
					N        int `json:"sequence_number"`
					Delta    string
					ItemID   string `json:"item_id"`
					Item     json.RawMessage
					Response json.RawMessage
				}
				unmarshal(t, e, &ev)
				require.Equal(t, i, ev.N)
				switch ev.Type {
				case "response.output_text.delta":
					texts.WriteString(ev.Delta)
				case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
					inputs[ev.ItemID] += ev.Delta
				case "response.output_item.done":
					items = append(items, ev.Item)
				case "response.completed":
					s := responsesSaid(t, ev.Response)
					require.Equal(t, s.Text, texts.String())
					require.Len(t, s.Repeat, len(items))
					for _, c := range s.Calls {
						require.Equal(t, c.Input, inputs["item_"+c.ID])
					}
					require.Equal(t, len(events)-1, i)
					return s
				}
			}
			t.Fatal("the stream has no end")
			return said{}
		},
		result: func(c call, output string) any {
			return object{"type": "function_call_output", "call_id": c.ID, "output": output}
		},
	},
	{
		wire:   agents.OpenAIChat,
		path:   func(bool) string { return "/v1/chat/completions" },
		prompt: func(text string) any { return object{"role": "user", "content": text} },
		body: func(history []any, tools []object, stream bool) object {
			in := append([]any{object{"role": "system", "content": "Be good."}}, history...)
			b := object{"model": "a-model", "messages": in, "stream": stream, "tools": tools}
			if stream {
				b["stream_options"] = object{"include_usage": true}
			}
			return b
		},
		whole: func(t testing.TB, data []byte) said {
			var a struct {
				ID, Model string
				Choices   []struct {
					Message chatMessage
					Finish  string `json:"finish_reason"`
				}
				Usage json.RawMessage
			}
			unmarshal(t, data, &a)
			require.Len(t, a.Choices, 1)
			return a.Choices[0].Message.said(said{ID: a.ID, Model: a.Model, Stop: a.Choices[0].Finish, Usage: a.Usage})
		},
		stream: func(t testing.TB, events [][]byte) said {
			var s said
			var m chatMessage
			require.Equal(t, "[DONE]", string(events[len(events)-1]))
			for _, e := range events[:len(events)-1] {
				var c struct {
					ID, Model string
					Choices   []struct {
						Delta  chatMessage
						Finish string `json:"finish_reason"`
					}
					Usage json.RawMessage
				}
				unmarshal(t, e, &c)
				s.ID, s.Model = c.ID, c.Model
				if len(c.Choices) == 0 {
					s.Usage = c.Usage
					continue
				}
				d := c.Choices[0].Delta
				m.Role += d.Role
				m.Content += d.Content
				for _, call := range d.Calls {
					if call.ID != "" {
						m.Calls = append(m.Calls, call)
						continue
					}
					m.Calls[call.Index].Function.Arguments += call.Function.Arguments
				}
				s.Stop += c.Choices[0].Finish
			}
			return m.said(s)
		},
		result: func(c call, output string) any {
			return object{"role": "tool", "tool_call_id": c.ID, "content": output}
		},
	},
	{
		wire: agents.GeminiGenerate,
		path: func(stream bool) string {
			if stream {
				return "/v1beta/models/a-model:streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/a-model:generateContent"
		},
		prompt: func(text string) any { return object{"role": "user", "parts": []any{object{"text": text}}} },
		body: func(history []any, tools []object, _ bool) object {
			b := object{"contents": history, "systemInstruction": object{"parts": []any{object{"text": "Be good."}}}}
			if tools != nil {
				b["tools"] = []any{object{"functionDeclarations": tools}}
			}
			return b
		},
		whole: func(t testing.TB, data []byte) said { return geminiSaid(t, [][]byte{data}) },
		stream: func(t testing.TB, events [][]byte) said {
			require.Greater(t, len(events), 1)
			return geminiSaid(t, events)
		},
		result: func(c call, output string) any {
			return object{"role": "user", "parts": []any{object{"functionResponse": object{"id": c.ID, "name": c.Name, "response": object{"output": output}}}}}
		},
	},
}

func responsesSaid(t testing.TB, data []byte) said {
	var r struct {
		ID, Model, Status string
		Output            []json.RawMessage
		Usage             json.RawMessage
	}
	unmarshal(t, data, &r)
	s := said{ID: r.ID, Model: r.Model, Stop: r.Status, Usage: r.Usage}
	for _, raw := range r.Output {
		var item struct {
			Type, Name, Arguments, Input string
			Call                         string `json:"call_id"`
			Content                      []struct{ Text string }
		}
		unmarshal(t, raw, &item)
		s.Repeat = append(s.Repeat, raw)
		switch item.Type {
		case "message":
			s.Text += item.Content[0].Text
		default:
			s.Calls = append(s.Calls, call{item.Call, item.Name, item.Arguments + item.Input})
		}
	}
	return s
}

type chatMessage struct {
	Role    string         `json:"role"`
	Content string         `json:"content"`
	Calls   []chatToolCall `json:"tool_calls,omitempty"`
}

type chatToolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (m chatMessage) said(s said) said {
	s.Text, s.Repeat = m.Content, []any{m}
	for _, c := range m.Calls {
		s.Calls = append(s.Calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return s
}

func geminiSaid(t testing.TB, events [][]byte) (s said) {
	var all []any
	for _, e := range events {
		var r struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text string `json:"text,omitempty"`
						Call *struct {
							ID   string          `json:"id"`
							Name string          `json:"name"`
							Args json.RawMessage `json:"args"`
						} `json:"functionCall,omitempty"`
					}
				}
				Finish string `json:"finishReason"`
			}
			Usage json.RawMessage `json:"usageMetadata"`
			Model string          `json:"modelVersion"`
			ID    string          `json:"responseId"`
		}
		unmarshal(t, e, &r)
		s.ID, s.Model, s.Usage = r.ID, r.Model, r.Usage
		s.Stop += r.Candidates[0].Finish
		for _, p := range r.Candidates[0].Content.Parts {
			s.Text += p.Text
			if p.Call != nil {
				s.Calls = append(s.Calls, call{p.Call.ID, p.Call.Name, string(p.Call.Args)})
			}
			all = append(all, p)
		}
	}
	s.Repeat = []any{object{"role": "model", "parts": all}}
	return s
}

// tools are all that is offered, in the wire format.
func (s speaker) tools() (out []object) {
	for _, o := range offer {
		schema := object{"type": "object", "properties": o.properties}
		switch s.wire {
		case agents.AnthropicMessages:
			out = append(out, object{"name": o.name, "input_schema": schema})
		case agents.OpenAIResponses:
			out = append(out, object{"type": "function", "name": o.name, "parameters": schema})
		case agents.OpenAIChat:
			out = append(out, object{"type": "function", "function": object{"name": o.name, "parameters": schema}})
		case agents.GeminiGenerate:
			out = append(out, object{"name": o.name, "parameters": schema})
		}
	}
	return out
}

// talk is a conversation of a speaker with a gateway.
type talk struct {
	speaker
	t       testing.TB
	g       *gateway.Gateway
	streams bool
	history []any
}

func (s speaker) begin(t testing.TB, g *gateway.Gateway, streams bool, prompt string) *talk {
	return &talk{speaker: s, t: t, g: g, streams: streams, history: []any{s.prompt(prompt)}}
}

// send makes a request with this history and these tools.
func (c *talk) send(history []any, tools []object) (*http.Response, error) {
	c.t.Helper()
	return do(c.t, request(c.t.Context(), c.t, c.g, c.path(c.streams), c.body(history, tools, c.streams)))
}

// ask asks for the next answer and leaves the conversation as it is.
func (c *talk) ask() said { return c.askWith(c.history, c.tools()) }

func (c *talk) askWith(history []any, tools []object) said {
	c.t.Helper()
	resp, err := c.send(history, tools)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, resp.StatusCode, "%s", data)
	if !c.streams {
		return c.whole(c.t, data)
	}
	require.Contains(c.t, resp.Header.Get("Content-Type"), "text/event-stream")
	return c.stream(c.t, events(data))
}

// events is the data of a stream's events.
func events(stream []byte) (all [][]byte) {
	in := bufio.NewScanner(bytes.NewReader(stream))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if data, ok := bytes.CutPrefix(in.Bytes(), []byte("data: ")); ok {
			all = append(all, bytes.Clone(data))
		}
	}
	return all
}

// next asks, and carries on with the results of the calls, or with a prompt where there are none.
func (c *talk) next() said {
	c.t.Helper()
	a := c.ask()
	c.history = append(c.history, a.Repeat...)
	for _, call := range a.Calls {
		c.history = append(c.history, c.result(call, "ok"))
	}
	if len(a.Calls) == 0 {
		c.history = append(c.history, c.prompt("Go on."))
	}
	return a
}
