package agenttest

import (
	"encoding/json"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

var callRules = []rule{
	{"calls", "calls have the kind, commands and paths of what they do, do it, and are followed by their result", calls},
	{"failed-command", "a command that fails is Failed, its effects are there, and the agent goes on", failedCommand},
	{"skills", "a skill of Setup.Skills can be used, another one cannot, and the calls name the skill", skills},
	{"one-answer", "the calls of one answer share its message id, all run, and the next answer comes after all of them", oneAnswer},
	{"calls-overlap", "the calls of one answer run at the same time", overlap},
	{"gap", "a pause within an answer loses none of its calls", gap},
	{"outlived-call", "a command that leaves a process behind ends when the shell does", outlived},
	{"awkward-output", "output with control characters, bytes that are not UTF-8, and without end is no trouble", awkward},
}

func calls(x *exam) {
	x.shows(agents.Edit, agents.Execute)
	x.open(
		script.Write("dir/a.txt", "one\n"),
		script.Run("cat dir/a.txt dir/a.txt >b.txt && echo printed"),
		script.Read("b.txt"),
		script.Say("All done."),
	)
	x.finish("Work.")
	x.holds("dir/a.txt", "one\n")
	x.holds("b.txt", "one\none\n")

	write, run := x.kind(agents.Edit), x.command("echo printed")
	var read agents.Call
	if x.h.Info.CanShow(agents.Read) {
		read = x.kind(agents.Read)
		require.Equal(x, []string{"b.txt"}, read.Paths)
	} else {
		read = x.command("cat 'b.txt'") // an agent without a tool for it reads in its shell
	}
	require.Equal(x, []string{"dir/a.txt"}, write.Paths)
	require.Equal(x, []string{"cat dir/a.txt dir/a.txt >b.txt && echo printed"}, run.Commands)
	require.Contains(x, x.tr.Output(run.ID), "printed")
	require.Contains(x, x.tr.Output(read.ID), "one")
	for i, c := range []agents.Call{write, run, read} {
		require.Equal(x, i, c.Index, "order of the calls")
		require.Equal(x, agents.Completed, c.Status, "status of %s", c.Name)
		require.Empty(x, c.Parent)
		require.NotEmpty(x, c.Name)
		if c.Input != nil {
			var object map[string]any
			require.NoError(x, json.Unmarshal(c.Input, &object), "input of %s", c.Name)
		}
	}
	require.Equal(x, "All done.", x.reply())
}

func failedCommand(x *exam) {
	x.shows(agents.Execute)
	x.open(script.Run("echo ruin >effect.txt; echo told; exit 3"), script.Run("echo on >next.txt"), script.Say("Bad."))
	x.finish("Work.")
	c := x.command("exit 3")
	require.Equal(x, agents.Failed, c.Status)
	require.Contains(x, x.tr.Output(c.ID), "told")
	x.holds("effect.txt", "ruin\n")
	require.Equal(x, agents.Completed, x.command("next.txt").Status)
	x.holds("next.txt", "on\n")
}

// skillFS is a skill that nobody has by chance.
var skillFS = fstest.MapFS{"SKILL.md": {Data: []byte(
	"---\nname: agenttest-skill\ndescription: Checks that skills can be used.\n---\n\nThe password is heron.\n")}}

func skills(x *exam) {
	x.shows(agents.Skill)
	x.setup.Skills = append(x.setup.Skills, skillFS)
	x.open(script.Skill("agenttest-skill"), script.Skill("agenttest-missing"), script.Say("Done."))
	x.finish("Work.")
	used := x.call(func(c agents.Call) bool { return c.Skill == "agenttest-skill" })
	require.Equal(x, agents.Skill, used.Kind)
	require.Equal(x, agents.Completed, used.Status)
	if len(used.Commands) > 0 { // it has no tool for skills, and finds them by itself in its shell
		for c := range x.tr.Calls() {
			require.NotEqual(x, "agenttest-missing", c.Skill)
		}
		return
	}
	missing := x.call(func(c agents.Call) bool { return c.Skill == "agenttest-missing" })
	require.Equal(x, agents.Skill, missing.Kind)
	require.Equal(x, agents.Denied, missing.Status, "a skill that the agent does not have never ran")
}

func oneAnswer(x *exam) {
	x.shows(agents.Edit, agents.Execute)
	x.open(
		script.Together(script.Say("Both."), script.Write("a.txt", "a\n"), script.Run("echo b >b.txt")),
		script.Write("c.txt", "c\n"),
	)
	x.finish("Work.")
	a, b, c := x.edit("a.txt"), x.command("b.txt"), x.edit("c.txt")
	for name, call := range map[string]agents.Call{"a": a, "b": b, "c": c} {
		require.Equal(x, agents.Completed, call.Status)
		if name != "b" {
			x.holds(name+".txt", name+"\n")
		}
	}
	x.holds("b.txt", "b\n")
	require.Less(x, max(a.Ended, b.Ended), c.Began)
	if a.Message == "" {
		x.Skip("the agent gives no message ids")
	}
	require.Equal(x, a.Message, b.Message)
	require.NotEqual(x, a.Message, c.Message)
	for _, e := range x.tr.Events() {
		if e.Kind == agents.EventMessage && e.Text == "Both." {
			require.Equal(x, a.Message, e.Message, "message id of the text between the calls")
		}
	}
}

// overlap has two calls wait for each other.
func overlap(x *exam) {
	x.shows(agents.Execute)
	x.effects()
	meet := func(mine, other string) script.Step {
		return script.Run("touch " + mine + "; for i in $(seq 200); do test -e " + other + " && exit 0; sleep 0.05; done; exit 1")
	}
	x.open(script.Together(meet("a", "b"), meet("b", "a")))
	x.finish("Work.")
	for c := range x.tr.Calls() {
		require.Equal(x, agents.Completed, c.Status, "one call waited in vain for the other")
	}
}

func gap(x *exam) {
	x.shows(agents.Edit, agents.Execute)
	x.open(script.Together(script.Run("echo 1 >first.txt"), script.Gap(400*time.Millisecond), script.Write("late.txt", "late\n")))
	x.finish("Work.")
	first, late := x.command("first.txt"), x.edit("late.txt")
	require.Equal(x, agents.Completed, first.Status)
	require.Equal(x, agents.Completed, late.Status)
	require.Less(x, first.Began, late.Began)
	require.Equal(x, first.Message, late.Message)
	x.holds("first.txt", "1\n")
	x.holds("late.txt", "late\n")
}

func outlived(x *exam) {
	x.shows(agents.Execute)
	x.effects()
	x.open(script.Run("("+beats("beat")+") >/dev/null 2>&1 & until test -s beat; do sleep 0.01; done; echo left"), script.Say("On."))
	x.finish("Work.")
	c := x.command("beat")
	require.Equal(x, agents.Completed, c.Status)
	require.Contains(x, x.tr.Output(c.ID), "left")
	x.close()
	x.quiet("beat")
}

func awkward(x *exam) {
	x.shows(agents.Execute)
	x.open(
		script.Run(`printf 'a\000b\033[31m\026--- FAIL: TestX\r\377\376 end1'`),
		script.Run("i=0; while test $i -lt 20000; do echo 'a line of an output that is long, to no purpose at all, and goes on'; i=$((i+1)); done; echo end2"),
		script.Say("Seen."),
	)
	x.finish("Work.")
	first := x.command("end1")
	require.Equal(x, agents.Completed, first.Status)
	require.Contains(x, x.tr.Output(first.ID), "end1")
	require.Equal(x, agents.Completed, x.command("end2").Status)
	require.Equal(x, "Seen.", x.reply())
}
