package claude_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestSubagents(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Agent("Outer.",
			script.Run("echo 1 > one"),
			script.Agent("Inner.", script.Run("echo 2 > two"), script.Say("inner said")),
			script.Say("outer said")),
		script.Say("fin"),
	})
	require.Nil(t, b.send("Delegate."))
	calls := b.calls()
	require.Len(t, calls, 4)
	outer, one, inner, two := calls[0], calls[1], calls[2], calls[3]
	require.Equal(t, agents.Sub, outer.Kind)
	require.Equal(t, "", outer.Parent)
	require.Equal(t, outer.ID, one.Parent)
	require.Equal(t, agents.Sub, inner.Kind)
	require.Equal(t, outer.ID, inner.Parent)
	require.Equal(t, inner.ID, two.Parent, "the calls of a sub-agent's sub-agent are visible")
	for _, c := range calls {
		require.Equal(t, agents.Completed, c.Status, c.Name)
	}
	require.Equal(t, []string{"inner said", "outer said", "fin"}, b.texts())
	require.Equal(t, "2\n", b.file("two"))

	want, got := b.served(), b.spent()
	require.Equal(t, want.Tokens(), got.Tokens(), "usage counts sub-agents")
	require.Equal(t, want.CachedTokens, got.CachedTokens)
	require.Positive(t, got.Cost)
}

// A sub-agent in the background goes on after the turn's end. The agent has not handed back until it is done, and has taken
// another turn with what it came to.
func TestBackgroundSubagent(t *testing.T) {
	t.Parallel()
	background := func(part string) script.Step {
		return script.Call("Agent", map[string]any{"description": "d", "subagent_type": "general-purpose", "run_in_background": true,
			"prompt": "Go.\n\n[part " + part + " of the script]"})
	}
	never := func(seconds int) script.Step {
		return script.Agent("Not reached: its part is played in the background.",
			script.Run(fmt.Sprintf("echo 'sleep %d' > s.sh; bash s.sh; touch late", seconds)), script.Say("sub said"))
	}
	t.Run("awaited", func(t *testing.T) {
		t.Parallel()
		b := open(t, []script.Step{background("m-3-0"), script.Say("one"), script.HandBack(), script.Say("noted"), script.HandBack(), never(2)})
		require.Nil(t, b.send("Go."))
		require.Equal(t, []string{"one", "sub said", "noted"}, b.texts())
		calls := b.calls()
		require.Len(t, calls, 2)
		require.Equal(t, calls[0].ID, calls[1].Parent)
		require.Equal(t, agents.Completed, calls[1].Status)
		require.Equal(t, "", b.file("late"))
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		b := open(t, []script.Step{background("m-3-0"), script.Say("one"), script.HandBack(), script.Say("noted"), script.HandBack(), never(30)})
		require.Nil(t, b.follow(t.Context(), "Go.", func(e agents.Event) bool { return e.Call.Parent == "" }))
		b.close()
		b.requireNoFile("late")
		requireGone(t, b.dir)
	})
}

func TestProviderFailsInSubagent(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Agent("Sub.", script.Run("touch a"), script.Fail(agents.Errorf(agents.RateLimit, agents.FromProvider, "no luck"))),
		script.Say("I go on without it."),
	}, setup(func(s *agents.Setup) { s.Env = append(s.Env, "CLAUDE_CODE_MAX_RETRIES=1") }))
	err := b.send("Go.")
	require.NotNil(t, err, "what the agent came to without its sub-agent is no verdict on the model")
	require.Equal(t, agents.RateLimit, err.Kind, "%v", err)
	require.Equal(t, []string{"I go on without it."}, b.texts())
}

func TestInterruptInSubagentAndBackoff(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{script.Agent("Sub.", script.Run("touch a"), script.Fail(agents.Errorf(agents.Timeout, agents.FromProvider, "no luck")))})
	ctx, cancel := context.WithCancel(t.Context())
	err := b.follow(ctx, "Go.", func(e agents.Event) bool {
		if e.Kind == agents.EventStatus {
			cancel()
		}
		return true
	})
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	b.close()
	n := len(b.gateway.Log())
	requireGone(t, b.dir)
	require.Len(t, b.gateway.Log(), n, "no request after the end")
}

// The CLI asks about a call in other words than it told of it (paths are absolute, defaults filled in), and tells of what
// sub-agents call more than once: none of it is a contradiction.
func TestCallsToldInOtherWords(t *testing.T) {
	t.Parallel()
	steps := []script.Step{
		script.Call("Read", map[string]any{"file_path": "./a.txt"}),
		script.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "old", "new_string": "old  \n"}),
		script.Call("Write", map[string]any{"file_path": "~/b.txt", "content": "x  \n\n"}),
		script.Call("Read", map[string]any{"file_path": "."}),
		script.Call("Bash", map[string]any{"command": "  ls 'ä'  ", "run_in_background": "true"}),
		script.Call("NoSuchTool", map[string]any{"x": 1}),
	}
	all := append([]script.Step{script.Run("echo old > a.txt")}, steps...)
	all = append(all, script.Agent("Outer.", append(slices.Clone(steps), script.Agent("Inner.", steps...))...))
	for name, permit := range map[string]func(context.Context, agents.ToolCall) agents.Decision{
		"without a gate": nil,
		"gated":          func(context.Context, agents.ToolCall) agents.Decision { return agents.Decision{Allow: true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, all, setup(func(s *agents.Setup) { s.Permit = permit }))
			require.Nil(t, b.send("Go."))
			require.Len(t, b.calls(), 3+3*len(steps))
		})
	}
}
