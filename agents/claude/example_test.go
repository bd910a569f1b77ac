package claude_test

import (
	"context"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Claude Code carries out a script, without a key: the gateway is its model.
func ExampleNew() {
	work := func(ctx context.Context, dir, home, temp string) error {
		g, err := gateway.Open(gateway.Options{
			Wire:   agents.AnthropicMessages,
			Script: []script.Step{script.Run("go test ./..."), script.Say("All pass.")},
			Dir:    dir,
		})
		if err != nil {
			return err
		}
		defer g.Close()
		endpoint := g.Endpoint()
		session, err := claude.New().Open(ctx, agents.Setup{Dir: dir, Home: home, Temp: temp, Gateway: &endpoint})
		if err != nil {
			return err
		}
		defer session.Close()
		for event, err := range session.Send(ctx, "Make the tests pass.") {
			if err != nil {
				return err
			}
			if event.Kind == agents.EventCall {
				fmt.Println(event.Call.Name, event.Call.Commands)
			}
		}
		return nil
	}
	_ = work
}
