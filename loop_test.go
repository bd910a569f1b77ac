package evaltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// gardener is an agent of an author's own with a model: a loop that asks, and does what it is told with its one tool. The gateway
// stands between it and the model, which plays the eval's script here.
var gardener = inprocess.New(agents.Info{Name: "gardener", Wire: agents.OpenAIChat}, func(s *inprocess.Session) (inprocess.Answer, error) {
	var history []any
	return func(t *inprocess.Turn) error {
		history = append(history, map[string]any{"role": "user", "content": t.Prompt})
		for t.Emit(agents.Request()) {
			m, err := complete(t.Context(), s.Setup.Gateway, history)
			if err != nil {
				return err
			}
			if history = append(history, m); len(m.Calls) == 0 {
				t.Emit(agents.Say(m.Content))
				return nil
			}
			for _, c := range m.Calls {
				call := agents.ToolCall{ID: c.ID, Kind: agents.Edit, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)}
				var args struct{ Path, Content string }
				if err := json.Unmarshal(call.Input, &args); err != nil {
					return err
				}
				call.Paths = []string{filepath.Base(args.Path)}
				output, _, _ := t.Call("", call, func(context.Context) (string, error) {
					return "", os.WriteFile(args.Path, []byte(args.Content), 0o666)
				})
				history = append(history, map[string]any{"role": "tool", "tool_call_id": c.ID, "content": output})
			}
		}
		return nil
	}, nil
})

// message is what the model answers, and what is repeated to it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls,omitempty"`
}

// complete asks the model.
func complete(ctx context.Context, model *agents.Endpoint, history []any) (message, error) {
	write := json.RawMessage(`{"type": "function", "function": {"name": "write", "parameters": {"type": "object",
		"properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}}`)
	body, err := json.Marshal(map[string]any{"model": "some-model", "messages": history, "tools": []any{write}})
	if err != nil {
		return message{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	r.Header.Set("Authorization", "Bearer "+model.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return message{}, err
	}
	defer resp.Body.Close()
	var answer struct{ Choices []struct{ Message message } }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Choices) == 0 {
		return message{}, agents.Errorf(agents.Protocol, agents.FromProvider, "the answer with status %s is no completion: %v", resp.Status, err)
	}
	return answer.Choices[0].Message, nil
}

func TestOwnLoop(t *testing.T) {
	e := evaltest.New(t, evaltest.Agent(gardener), evaltest.Only("gardener"), evaltest.Script(
		script.Write("roses.txt", "water\n"), script.Write("weeds.txt", "pull\n"), script.Say("The garden is planned.")))
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.FileEdited("tulips.txt")))
	e.Expect(criteria.FileContains("roses.txt", "water"))
	e.Expect(criteria.ReplyContains("planned"))
	e.Run("Plan the work in the garden, a file for each kind of plant.")
}
