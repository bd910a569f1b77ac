package inprocess_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/agenttest"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/proc"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

// loop is a coding agent of an author's own: it asks its model over the gateway, and does what that says, until it says no more.
type loop struct {
	setup  agents.Setup
	client *http.Client
	n      int // answers so far
	mu     sync.Mutex
}

func newLoop() agents.Agent {
	return inprocess.New(agents.Info{Name: "loop", Version: "1", Wire: agents.OpenAIChat}, func(s *inprocess.Session) (inprocess.Answer, error) {
		transport := &http.Transport{}
		s.OnClose(func() error { transport.CloseIdleConnections(); return nil })
		l := &loop{setup: s.Setup, client: &http.Client{Transport: transport}}
		main := &thread{}
		return func(t *inprocess.Turn) error {
			_, err := l.converse(t, main, t.Prompt)
			return err
		}, nil
	})
}

// thread is the main conversation, or a sub-agent's.
type thread struct {
	parent  string
	history []any
}

type object = map[string]any

// completion is what the model answers.
type completion struct {
	Choices []struct {
		Message message
	}
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	}
	Error *struct{ Code, Message string }
}

type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (l *loop) converse(t *inprocess.Turn, th *thread, prompt string) (reply string, err error) {
	th.history = append(th.history, object{"role": "user", "content": prompt})
	for {
		l.mu.Lock()
		l.n++
		id := fmt.Sprintf("answer-%d", l.n)
		l.mu.Unlock()
		if !t.Emit(agents.Request().In(id).Under(th.parent)) {
			return "", inprocess.ErrCut
		}
		a, err := l.ask(t.Context(), th.history)
		if err != nil {
			return "", err
		}
		m := a.Choices[0].Message
		th.history = append(th.history, m)
		if m.Content != "" && !t.Emit(agents.Say(m.Content).In(id).Under(th.parent)) {
			return "", inprocess.ErrCut
		}
		if err := l.carryOut(t, th, id, m.Calls); err != nil {
			return "", err
		}
		if !t.Emit(agents.Spent(agents.Usage{InputTokens: a.Usage.Prompt, OutputTokens: a.Usage.Completion}).In(id).Under(th.parent)) {
			return "", inprocess.ErrCut
		}
		if len(m.Calls) == 0 {
			return m.Content, nil
		}
	}
}

// carryOut does the calls of an answer at the same time.
func (l *loop) carryOut(t *inprocess.Turn, th *thread, id string, calls []toolCall) error {
	outputs := make([]string, len(calls))
	var all sync.WaitGroup
	defer all.Wait()
	for i, c := range calls {
		call := l.describe(c)
		call.Parent = th.parent
		begun, ok := t.Begin(id, call)
		if !ok {
			return inprocess.ErrCut
		}
		all.Go(func() {
			t.Guard(func() {
				outputs[i], _, _ = begun.Do(func(ctx context.Context) (string, error) { return l.do(ctx, t, call) })
			})
		})
	}
	all.Wait()
	for i, c := range calls {
		th.history = append(th.history, object{"role": "tool", "tool_call_id": c.ID, "content": outputs[i]})
	}
	return t.Context().Err()
}

type args struct{ Command, Path, Content, Name, Prompt string }

func (l *loop) describe(c toolCall) agents.ToolCall {
	var a args
	_ = json.Unmarshal([]byte(c.Function.Arguments), &a) // a tool that is not there may take anything
	call := agents.ToolCall{ID: c.ID, Name: c.Function.Name, Kind: agents.Other, Input: json.RawMessage(c.Function.Arguments)}
	switch c.Function.Name {
	case "bash":
		call.Kind, call.Commands = agents.Execute, []string{a.Command}
	case "read", "write":
		call.Kind = map[string]agents.Kind{"read": agents.Read, "write": agents.Edit}[c.Function.Name]
		call.Paths = []string{a.Path}
		if rel, err := filepath.Rel(l.setup.Dir, a.Path); err == nil && filepath.IsLocal(rel) {
			call.Paths = []string{filepath.ToSlash(rel)}
		}
	case "skill":
		call.Kind, call.Skill = agents.Skill, a.Name
	case "task":
		call.Kind = agents.Sub
	}
	return call
}

func (l *loop) do(ctx context.Context, t *inprocess.Turn, call agents.ToolCall) (string, error) {
	var a args
	if err := json.Unmarshal(call.Input, &a); err != nil {
		return "", err
	}
	switch call.Name {
	case "bash":
		r, err := proc.Run(ctx, proc.Command{Path: "sh", Args: []string{"-c", a.Command}, Dir: l.setup.Dir,
			Env: proc.Environ(l.setup.Home, l.setup.Temp, nil, l.setup.Env...)}, "")
		if err == nil && !r.Status.Success() {
			err = errors.New(r.Status.String())
		}
		return string(r.Stdout) + string(r.Stderr), err
	case "read":
		text, err := os.ReadFile(a.Path)
		return string(text), err
	case "write":
		if err := os.MkdirAll(filepath.Dir(a.Path), 0o777); err != nil {
			return "", err
		}
		return "", os.WriteFile(a.Path, []byte(a.Content), 0o666)
	case "skill":
		for _, skill := range l.setup.Skills {
			if name, err := agents.SkillName(skill); err == nil && name == a.Name {
				text, err := fs.ReadFile(skill, "SKILL.md")
				return string(text), err
			}
		}
		return "", fmt.Errorf("%w: no skill named %s", inprocess.ErrNotRun, a.Name)
	case "task":
		return l.converse(t, &thread{parent: call.ID}, a.Prompt)
	}
	return "", fmt.Errorf("%w: no tool named %s", inprocess.ErrNotRun, call.Name)
}

var tools = func() (all []any) {
	text := object{"type": "string"}
	for name, properties := range map[string]object{"bash": {"command": text}, "read": {"path": text}, "write": {"path": text, "content": text},
		"skill": {"name": text}, "task": {"prompt": text}} {
		all = append(all, object{"type": "function", "function": object{"name": name, "parameters": object{"type": "object", "properties": properties}}})
	}
	return all
}()

func (l *loop) ask(ctx context.Context, history []any) (*completion, error) {
	body, err := json.Marshal(object{"model": "m", "messages": history, "tools": tools})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.setup.Gateway.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+l.setup.Gateway.Token)
	resp, err := l.client.Do(r)
	if err != nil {
		return nil, agents.Errorf(agents.Network, agents.FromProvider, "%w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, agents.Errorf(agents.Network, agents.FromProvider, "%w", err)
	}
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, agents.Errorf(agents.Protocol, agents.FromProvider, "%w", err)
	}
	if c.Error != nil {
		kind := agents.Overloaded
		switch {
		case resp.StatusCode == http.StatusUnauthorized:
			kind = agents.Auth
		case c.Error.Code == "insufficient_quota":
			kind = agents.Quota
		case resp.StatusCode == http.StatusTooManyRequests:
			kind = agents.RateLimit
		}
		return nil, agents.Errorf(kind, agents.FromProvider, "%s", c.Error.Message)
	}
	return &c, nil
}

func harness(agent agents.Agent) agenttest.Harness {
	return agenttest.Harness{
		Info: agent.Info(),
		Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
			g, err := gateway.Open(gateway.Options{Wire: agent.Info().Wire, Script: steps, Dir: setup.Dir})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = g.Close() })
			endpoint := g.Endpoint()
			setup.Gateway = &endpoint
			s, err := agent.Open(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

// A Go program that is an agent is as good a one as any other.
func TestConformance(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, harness(newLoop()))
}

// One set of scripts, carried out by the embedded agent and by a loop over the gateway, gives the same trajectories.
func TestSameAsScripted(t *testing.T) {
	t.Parallel()
	agenttest.Compare(t, agenttest.Harness{
		Info: scripted.New().Info(),
		Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
			s, err := scripted.New(steps...).Open(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}, harness(newLoop()))
}
