package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/inprocess"
)

// conversation is a session with the model.
type conversation struct {
	agent         *agent
	client        *http.Client
	base          string
	header        http.Header
	model, system string
	said          []line
}

// line is what the user, or the model, has said.
type line struct {
	model bool
	text  string
}

// answer asks the model for an answer to the turn's prompt.
func (c *conversation) answer(s *inprocess.Session, t *inprocess.Turn) error {
	c.said = append(c.said, line{false, t.Prompt})
	id := fmt.Sprintf("answer-%d", len(c.said)/2+1)
	if !t.Emit(agents.Request().In(id)) {
		return inprocess.ErrCut
	}
	var text strings.Builder
	x, err := c.ask(t.Context(), &text)
	if err != nil {
		return err
	}
	s.Answered("", x.Answered)
	t.Emit(agents.Spent(x.Usage).In(id))
	if x.Failure != nil {
		return x.Failure
	}
	c.said = append(c.said, line{true, text.String()})
	if text.Len() > 0 { // a refusal may have no words
		t.Emit(agents.Say(text.String()).In(id))
	}
	return nil
}

// ask makes a request and reads what is said to its end.
func (c *conversation) ask(ctx context.Context, text *strings.Builder) (gateway.Exchange, error) {
	body, err := json.Marshal(c.agent.dialect.body(c))
	if err != nil {
		return gateway.Exchange{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.base, "/")+c.agent.dialect.path(c.model), bytes.NewReader(body))
	if err != nil {
		return gateway.Exchange{}, agents.Errorf(agents.SetupError, agents.FromAuthor, "%s: %w", c.agent.Info().Name, err)
	}
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	for name, value := range c.agent.dialect.header {
		r.Header.Set(name, value)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return gateway.Exchange{}, agents.Errorf(agents.Network, agents.FromProvider, "%s: %w", c.agent.Info().Name, err)
	}
	defer resp.Body.Close()
	x := gateway.ReadAnswer(c.agent.Info().Wire, resp, func(s string) { text.WriteString(s) })
	return x, ctx.Err()
}
