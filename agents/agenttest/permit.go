package agenttest

import (
	"context"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

var permitRules = []rule{
	{"permit", "Setup.Permit is asked once about each call that the gate covers, after its announcement and before any effect; refused calls are Denied and have none, others run", permit},
	{"permit-blocks", "a call waits as long as Setup.Permit takes, and cancelling ends the wait", permitBlocks},
}

func permit(x *exam) {
	if !x.h.Info.CanGate(agents.Execute) {
		x.Skip("the agent's gate does not cover commands")
	}
	var mu sync.Mutex
	announced := map[string]agents.ToolCall{}
	asked := map[string]int{}
	x.setup.Permit = func(_ context.Context, c agents.ToolCall) agents.Decision {
		mu.Lock()
		defer mu.Unlock()
		asked[c.ID]++
		was, ok := announced[c.ID]
		if !ok {
			x.Errorf("Setup.Permit was asked about %s, which was not announced", c.ID)
		}
		if d := cmp.Diff(was, c, cmpopts.EquateEmpty()); d != "" {
			x.Errorf("Setup.Permit was asked about a call other than the one announced (-announced +asked):\n%s", d)
		}
		if len(c.Commands) == 1 && strings.Contains(c.Commands[0], "forbidden") {
			return agents.Decision{Reason: "agenttest forbids it"}
		}
		return agents.Decision{Allow: true}
	}
	x.open(
		script.Run("echo 1 >forbidden.txt"),
		script.Run("echo 2 >fine.txt"),
		script.Together(script.Run("echo 3 >forbidden.txt"), script.Run("echo 4 >too.txt")),
		script.Say("Done."),
	)
	err := x.send(x.ctx, "Work.", func(e agents.Event) bool {
		if e.Kind == agents.EventCall {
			mu.Lock()
			announced[e.Call.ID] = e.Call
			mu.Unlock()
		}
		return true
	})
	require.Nil(x, err)
	for text, want := range map[string]agents.Status{
		"echo 1": agents.Denied, "echo 2": agents.Completed, "echo 3": agents.Denied, "echo 4": agents.Completed,
	} {
		c := x.command(text)
		require.Equal(x, want, c.Status, text)
		require.Equal(x, 1, asked[c.ID], "times that Setup.Permit was asked about %s", text)
	}
	if !x.h.NoEffects {
		require.Empty(x, x.file("forbidden.txt"))
	}
	x.holds("fine.txt", "2\n")
	x.holds("too.txt", "4\n")
}

func permitBlocks(x *exam) {
	if !x.h.Info.CanGate(agents.Execute) {
		x.Skip("the agent's gate does not cover commands")
	}
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	x.setup.Permit = func(permitCtx context.Context, _ agents.ToolCall) agents.Decision {
		cancel() // as whoever watches does, deciding at the gate
		select {
		case <-permitCtx.Done():
		case <-x.ctx.Done():
			x.Error("the context given to Setup.Permit is not done when Send's is cancelled")
		}
		return agents.Decision{Allow: true}
	}
	x.open(script.Run("echo 1 >effect.txt"))
	err := x.send(ctx, "Work.", nil)
	require.NotNil(x, err, "Send ended without an error")
	require.Equal(x, agents.Interrupted, err.Kind, "%v", err)
	x.tailFits(x.close())
	if !x.h.NoEffects {
		require.Empty(x, x.file("effect.txt"), "the call ran though it was interrupted at the gate")
	}
}
