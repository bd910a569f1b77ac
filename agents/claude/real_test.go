package claude_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestEveryStep(t *testing.T) {
	t.Parallel()
	skill := fstest.MapFS{
		"SKILL.md":         {Data: []byte("---\nname: demo\ndescription: Shows how.\n---\n# Demo\nDo it.\n"), Mode: 0o444},
		"bin/tool.sh":      {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"evals/answers.md": {Data: []byte("42")},
	}
	var home string
	b := open(t, []script.Step{
		script.Say("First."),
		script.Run("echo old > a.txt; mkdir sub"),
		script.Write("sub/b.txt", "x\n"),
		script.Read("sub/b.txt"),
		script.Write("a.txt", "new\n"),
		script.Skill("demo"),
		script.Run("ls; exit 3"),
		script.Skill("nosuch"),
		script.Call("Bash", map[string]any{"wrong": 1}),
		script.Say("All done."),
	}, setup(func(s *agents.Setup) { s.Skills = append(s.Skills, skill); home = s.Home }))
	require.Nil(t, b.send("Go."))

	type row struct {
		Kind   agents.Kind
		Name   string
		Status agents.Status
	}
	var got []row
	for _, c := range b.calls() {
		got = append(got, row{c.Kind, c.Name, c.Status})
		require.NotEmpty(t, c.Message)
	}
	require.Equal(t, []row{
		{agents.Execute, "Bash", agents.Completed},
		{agents.Edit, "Write", agents.Completed},
		{agents.Read, "Read", agents.Completed},
		{agents.Edit, "Write", agents.Completed},
		{agents.Skill, "Skill", agents.Completed},
		{agents.Execute, "Bash", agents.Failed},
		{agents.Skill, "Skill", agents.Denied},
		{agents.Execute, "Bash", agents.Denied},
	}, got)
	calls := b.calls()
	require.Equal(t, []string{"echo old > a.txt; mkdir sub"}, calls[0].Commands)
	require.Equal(t, []string{"sub/b.txt"}, calls[1].Paths)
	require.Equal(t, []string{"sub/b.txt"}, calls[2].Paths)
	require.Equal(t, "demo", calls[4].Skill)
	require.Contains(t, b.tr.Output(calls[5].ID), "a.txt")
	require.Equal(t, "new\n", b.file("a.txt"))
	require.Equal(t, []string{"First.", "All done."}, b.texts())

	requests := 0
	for _, e := range b.tr.Events() {
		if e.Kind == agents.EventRequest {
			requests++
		}
	}
	require.Equal(t, len(b.gateway.Log()), requests)

	staged := filepath.Join(home, ".claude", "skills", "demo")
	info, err := os.Stat(filepath.Join(staged, "bin", "tool.sh"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	require.NoDirExists(t, filepath.Join(staged, "evals"))

	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "the workspace holds what the agent wrote and nothing else: %v", entries)

	f := b.close()
	require.Equal(t, b.spent(), f.Usage)
	require.Empty(t, f.Tail)
	again, err := b.session.Close()
	require.NoError(t, err)
	require.Equal(t, f, again)
}

func TestTwentyCalls(t *testing.T) {
	t.Parallel()
	var steps []script.Step
	for i := range 20 {
		steps = append(steps, script.Run("echo "+strconv.Itoa(i)+" >> n"))
	}
	b := open(t, steps)
	require.Nil(t, b.send("Count."))
	require.Len(t, b.calls(), 20)
	require.Equal(t, 20, strings.Count(b.file("n"), "\n"))
	require.Len(t, b.gateway.Log(), 21)
}

func TestTogether(t *testing.T) {
	t.Parallel()
	for name, gap := range map[string]time.Duration{"at once": 0, "30 ms": 30 * time.Millisecond, "2 s": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, []script.Step{
				script.Together(script.Run("echo 1 > one"), script.Gap(gap), script.Write("two", "2\n")),
				script.Say("fin"),
			})
			require.Nil(t, b.send("Both."))
			calls := b.calls()
			require.Len(t, calls, 2)
			require.Equal(t, calls[0].Message, calls[1].Message, "calls of one answer share its id")
			require.Equal(t, "2\n", b.file("two"))
			log := b.gateway.Log()
			require.Len(t, log, 2)
			require.Equal(t, calls[0].Message, log[1].Answer)
			require.Equal(t, []string{calls[0].ID, calls[1].ID}, log[1].Results)
			if gap == 2*time.Second {
				require.Less(t, calls[0].Ended, calls[1].Began, "a call's result comes before its sibling is announced")
			}
		})
	}
}

func TestTwoTurns(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Run("echo 1 > a"), script.Say("one"), script.HandBack(), script.HandBack(), script.Run("echo 2 > b"), script.Say("two"),
	})
	require.Nil(t, b.send("First."))
	require.Equal(t, []string{"one"}, b.texts())
	b.requireNoFile("b")
	require.Nil(t, b.send("Second."))
	require.Nil(t, b.send("Third."))
	require.Equal(t, []string{"one", "Done.", "two"}, b.texts())
	require.Equal(t, "2\n", b.file("b"))
	require.Nil(t, b.send("After the end."))
	want, got := b.served(), b.spent()
	require.Equal(t, want.InputTokens, got.InputTokens)
	require.Equal(t, want.OutputTokens, got.OutputTokens)
	require.Equal(t, want.CachedTokens, got.CachedTokens)
	require.Equal(t, got, b.close().Usage)
}

func TestLongOutput(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ä long line of text\n", 20000)
	b := open(t, []script.Step{script.Write("big.txt", text), script.Run("head -c 20000 big.txt"), script.Say(text)})
	require.Nil(t, b.send(strings.Repeat("A long prompt. ", 20000)))
	require.Equal(t, text, b.file("big.txt"))
	require.Equal(t, []string{text}, b.texts())
	require.Greater(t, len(b.tr.Output(b.calls()[1].ID)), 10000)
}

func TestModelAndToolLists(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Run("touch a"), script.Run("rm a"), script.Call("Write", map[string]any{"file_path": "x", "content": "x"}),
	}, setup(func(s *agents.Setup) {
		s.Model, s.System = "some-model", "Be kind."
		s.Allow = []string{"Bash(touch *)", "Read"}
		s.Deny = []string{"WebFetch"}
	}))
	require.Nil(t, b.send("Go."))
	calls := b.calls()
	require.Len(t, calls, 2)
	require.Equal(t, agents.Completed, calls[0].Status)
	require.Equal(t, agents.Denied, calls[1].Status, "%s", b.tr.Output(calls[1].ID))
	require.Equal(t, "", b.file("a"))
	log := b.gateway.Log()
	require.Equal(t, "some-model", log[0].Model)
	require.Contains(t, log[2].Note, "no tool named Write among: Bash, ")
}

func TestDeniedToolIsNotThere(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{script.Run("touch a")}, setup(func(s *agents.Setup) { s.Deny = []string{"Bash"} }))
	require.Nil(t, b.send("Go."))
	require.Empty(t, b.calls())
	b.requireNoFile("a")
}

func TestMCP(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Call("mcp__db__query", map[string]any{"sql": "select 1"}), script.Call("mcp__db__break", nil), script.Say("fin"),
	}, setup(func(s *agents.Setup) {
		self, err := os.Executable()
		require.NoError(t, err)
		s.MCP = []agents.MCPServer{{Name: "db", Command: []string{self}, Env: []string{"CLAUDE_TEST_MCP=1"}}}
	}))
	require.Nil(t, b.send("Query."))
	calls := b.calls()
	require.Len(t, calls, 2, "%+v", b.gateway.Log())
	require.Equal(t, agents.Other, calls[0].Kind)
	require.Equal(t, "mcp__db__query", calls[0].Name)
	require.Equal(t, agents.Completed, calls[0].Status)
	require.Equal(t, `rows of "select 1"`, b.tr.Output(calls[0].ID))
	require.Equal(t, agents.Failed, calls[1].Status)
}

func TestSecondRangeIsAnError(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{script.Say("hi")})
	seq := b.session.Send(t.Context(), "Go.")
	for _, err := range seq {
		require.NoError(t, err)
	}
	n := 0
	for _, err := range seq {
		n++
		require.Error(t, err)
	}
	require.Equal(t, 1, n)
}

func BenchmarkStartToFirstRequest(b *testing.B) {
	for b.Loop() {
		x := open(b, nil)
		require.Nil(b, x.follow(b.Context(), "Go.", func(e agents.Event) bool { return e.Kind != agents.EventRequest }))
		x.close()
	}
}
