package agenttest

import (
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

var subRules = []rule{
	{"sub-agent", "a sub-agent's work is done, within the call that started it, and is told from the main thread's", subAgent},
	{"sub-agents", "two sub-agents of one answer do their work, each within its own call", subAgents},
}

func subAgent(x *exam) {
	x.shows(agents.Sub)
	x.open(
		script.Agent("Look into it.", script.Write("sub.txt", "s\n"), script.Say("Looked into it.")),
		script.Write("main.txt", "m\n"),
		script.Say("All done."),
	)
	x.finish("Work.")
	x.holds("sub.txt", "s\n")
	x.holds("main.txt", "m\n")
	sub := x.kind(agents.Sub)
	require.Equal(x, agents.Completed, sub.Status)
	require.Empty(x, sub.Parent)
	require.Equal(x, "All done.", x.reply())
	if !x.h.Info.CanShow(agents.Edit) {
		return
	}
	require.Empty(x, x.edit("main.txt").Parent)
	if x.h.Info.HidesSubagents {
		return
	}
	x.inside(x.edit("sub.txt"), sub)
}

// inside checks that a call happened within a sub-agent's.
func (x *exam) inside(c, sub agents.Call) {
	x.Helper()
	require.Equal(x, sub.ID, c.Parent, "parent of the call")
	require.Equal(x, sub.ID, x.tr.Event(c.Began).Parent, "parent of its event")
	require.Less(x, sub.Began, c.Began)
	require.Less(x, c.Ended, sub.Ended)
	require.Positive(x, c.Ended)
}

func subAgents(x *exam) {
	x.shows(agents.Sub)
	x.open(
		script.Together(
			script.Agent("Do A.", script.Write("a.txt", "a\n"), script.Run("echo a2 >a2.txt"), script.Say("A.")),
			script.Agent("Do B.", script.Write("b.txt", "b\n"), script.Run("echo b2 >b2.txt"), script.Say("B.")),
		),
		script.Say("Both."),
	)
	x.finish("Work.")
	for file, want := range map[string]string{"a.txt": "a\n", "b.txt": "b\n", "a2.txt": "a2\n", "b2.txt": "b2\n"} {
		x.holds(file, want)
	}
	var subs []agents.Call
	for c := range x.tr.Calls() {
		if c.Kind == agents.Sub {
			subs = append(subs, c)
			require.Equal(x, agents.Completed, c.Status)
		}
	}
	require.Len(x, subs, 2)
	require.Equal(x, "Both.", x.reply())
	if x.h.Info.HidesSubagents || !x.h.Info.CanShow(agents.Edit) || !x.h.Info.CanShow(agents.Execute) {
		return
	}
	x.inside(x.edit("a.txt"), subs[0])
	x.inside(x.command("a2.txt"), subs[0])
	x.inside(x.edit("b.txt"), subs[1])
	x.inside(x.command("b2.txt"), subs[1])
}
