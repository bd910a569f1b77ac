package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func open(t testing.TB, o gateway.Options) *gateway.Gateway {
	t.Helper()
	o.Wire = agents.AnthropicMessages
	g, err := gateway.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

func scripted(t testing.TB, steps ...script.Step) *gateway.Gateway {
	return open(t, gateway.Options{Script: steps, Dir: "/ws"})
}

// client is an agent's side of a conversation.
type client struct {
	t        testing.TB
	gateway  *gateway.Gateway
	stream   bool
	tools    []any
	messages []any
}

type object = map[string]any

func tool(name string, required []string, properties object) any {
	return object{"name": name, "input_schema": object{"type": "object", "properties": properties, "required": required}}
}

var (
	text  = object{"type": "string"}
	tools = []any{
		tool("Agent", []string{"description", "prompt"}, object{"description": text, "prompt": text,
			"subagent_type": text, "run_in_background": object{"type": "boolean"}}),
		tool("Bash", []string{"command", "timeout", "mode", "tags", "where", "maybe"}, object{"command": text, "timeout": object{"type": "number"},
			"mode": object{"enum": []any{"fast", "slow"}}, "tags": object{"type": "array"},
			"where": object{"type": "object", "properties": object{"host": text}, "required": []string{"host"}},
			"maybe": object{"anyOf": []any{object{"type": "integer"}, object{"type": "null"}}}}),
		tool("Read", []string{"file_path"}, object{"file_path": text}),
		tool("Write", []string{"file_path", "content"}, object{"file_path": text, "content": text}),
		tool("Skill", []string{"skill"}, object{"skill": text}),
		tool("mcp__db__query", nil, object{"sql": text}),
	}
)

func begin(t testing.TB, g *gateway.Gateway, prompt string) *client {
	return &client{t: t, gateway: g, stream: true, tools: tools, messages: []any{object{"role": "user", "content": prompt}}}
}

// answer is what a client got.
type answer struct {
	ID      string
	Content []block
	Stop    string `json:"stop_reason"`
	Usage   struct {
		Input   int64 `json:"input_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Output  int64 `json:"output_tokens"`
	}
}

type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

func (b block) arg(t testing.TB, name string) any {
	var all object
	require.NoError(t, json.Unmarshal(b.Input, &all))
	return all[name]
}

func request(ctx context.Context, t testing.TB, g *gateway.Gateway, path string, body any) *http.Request {
	t.Helper()
	data, err := json.Marshal(body)
	require.NoError(t, err)
	e := g.Endpoint()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL+path, bytes.NewReader(data))
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", e.Token)
	return r
}

// transport has connections of its own, so that tests do not disturb each other's.
func do(t testing.TB, r *http.Request) (*http.Response, error) {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return (&http.Client{Transport: tr}).Do(r)
}

func (c *client) body() object {
	return object{"model": "a-model", "stream": c.stream, "max_tokens": 1000, "tools": c.tools, "messages": c.messages}
}

func (c *client) send(ctx context.Context) (*http.Response, error) {
	c.t.Helper()
	return do(c.t, request(ctx, c.t, c.gateway, "/v1/messages?beta=true", c.body()))
}

// ask asks for the next answer and leaves the conversation as it is.
func (c *client) ask() answer {
	c.t.Helper()
	resp, err := c.send(c.t.Context())
	require.NoError(c.t, err)
	defer resp.Body.Close()
	require.Equal(c.t, http.StatusOK, resp.StatusCode)
	if c.stream {
		a, err := readStream(resp.Body, nil)
		require.NoError(c.t, err)
		return a
	}
	var a answer
	require.NoError(c.t, json.NewDecoder(resp.Body).Decode(&a))
	return a
}

// next asks, and carries on with the results of the calls, or with a prompt where there are none.
func (c *client) next() answer {
	c.t.Helper()
	a := c.ask()
	var results []any
	for _, b := range a.Content {
		if b.Type == "tool_use" {
			results = append(results, object{"type": "tool_result", "tool_use_id": b.ID, "content": "ok"})
		}
	}
	if results == nil {
		results = []any{object{"type": "text", "text": "Go on."}}
	}
	c.messages = append(c.messages, object{"role": "assistant", "content": a.Content}, object{"role": "user", "content": results})
	return a
}

// event is one of a stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message answer `json:"message"`
	Block   block  `json:"content_block"`
	Delta   struct {
		Text string `json:"text"`
		JSON string `json:"partial_json"`
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
}

// readStream puts a stream together. seen, when not nil, is told of each event as it comes.
func readStream(r io.Reader, seen func(event)) (a answer, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	var parts []strings.Builder
	done := false
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return a, err
		}
		switch e.Type {
		case "message_start":
			a = e.Message
		case "content_block_start":
			a.Content = append(a.Content, e.Block)
			parts = append(parts, strings.Builder{})
		case "content_block_delta":
			parts[e.Index].WriteString(e.Delta.Text + e.Delta.JSON)
		case "content_block_stop":
			if b := &a.Content[e.Index]; b.Type == "text" {
				b.Text = parts[e.Index].String()
			} else {
				b.Input = json.RawMessage(parts[e.Index].String())
			}
		case "message_delta":
			a.Stop = e.Delta.Stop
			if err := json.Unmarshal(e.Usage, &a.Usage); err != nil {
				return a, err
			}
		case "message_stop":
			done = true
		}
		if seen != nil {
			seen(e)
		}
	}
	if err := in.Err(); err != nil {
		return a, err
	}
	if !done {
		return a, io.ErrUnexpectedEOF
	}
	return a, nil
}

// eventually waits for what another goroutine is about to do.
func eventually(t testing.TB, f func() bool, what string) {
	t.Helper()
	require.Eventually(t, f, 10*time.Second, 5*time.Millisecond, what)
}
