package claude_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// These tests drive the real CLI. Its model is the gateway's, on loopback: no key, no cost.

func TestMain(m *testing.M) {
	if os.Getenv("CLAUDE_TEST_MCP") != "" {
		serveMCP()
		return
	}
	if mode := os.Getenv("CLAUDE_TEST_FAKE"); mode != "" {
		fakeCLI(mode)
		return
	}
	os.Exit(m.Run())
}

// cli is the path of the real CLI; without one the test is skipped, or fails where the agents are required.
func cli(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(claude.PathVariable); path != "" {
		return path
	}
	if root, err := moduleRoot(); err == nil {
		path := filepath.Join(root, ".agents", "node_modules", ".bin", "claude")
		if runtime.GOOS == "windows" {
			path += ".cmd"
		}
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if path, err := exec.LookPath("claude"); err == nil {
		return path
	}
	const why = "Claude Code is not installed: run `make agents`, or set EVALTEST_CLAUDE=/path/to/claude"
	if os.Getenv("EVALTEST_REQUIRE_AGENTS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", os.ErrNotExist
		}
		dir = up
	}
}

// bench is a real session with a scripted model.
type bench struct {
	t       testing.TB
	dir     string
	gateway *gateway.Gateway
	session agents.Session
	tr      agents.Trajectory
}

type prepare func(*agents.Setup, *gateway.Options)

func setup(change func(*agents.Setup)) prepare {
	return func(s *agents.Setup, _ *gateway.Options) { change(s) }
}

func admit(f func(context.Context, gateway.Request) error) prepare {
	return func(_ *agents.Setup, o *gateway.Options) { o.Admit = f }
}

// slots bounds how many CLIs run at once: each takes a quarter of a gigabyte.
var slots = make(chan struct{}, 2)

func open(t testing.TB, steps []script.Step, how ...prepare) *bench {
	t.Helper()
	path := cli(t)
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	b := &bench{t: t, dir: t.TempDir()}
	s := agents.Setup{Dir: b.dir, Home: t.TempDir(), Temp: shortDir(t)}
	o := gateway.Options{Wire: agents.AnthropicMessages, Script: steps, Dir: b.dir}
	for _, h := range how {
		h(&s, &o)
	}
	g, err := gateway.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	endpoint := g.Endpoint()
	s.Gateway = &endpoint
	b.gateway = g
	b.session, err = claude.New(claude.Path(path)).Open(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { b.close() })
	return b
}

// shortDir is a fresh folder with a short name: the CLI makes a socket in its TMPDIR.
func shortDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "ev")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (b *bench) close() agents.Final {
	b.t.Helper()
	f, err := b.session.Close()
	require.NoError(b.t, err)
	return f
}

// send sends a prompt and follows it to its end.
func (b *bench) send(prompt string) *agents.Error {
	b.t.Helper()
	return b.follow(context.Background(), prompt, func(agents.Event) bool { return true })
}

func (b *bench) follow(ctx context.Context, prompt string, more func(agents.Event) bool) *agents.Error {
	b.t.Helper()
	for e, err := range b.session.Send(ctx, prompt) {
		if err != nil {
			var typed *agents.Error
			require.True(b.t, errors.As(err, &typed), "%v is no *agents.Error", err)
			return typed
		}
		require.NoError(b.t, b.tr.Append(e))
		if !more(e) {
			break
		}
	}
	return nil
}

func (b *bench) file(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	require.NoError(b.t, err)
	return string(data)
}

func (b *bench) requireNoFile(name string) {
	b.t.Helper()
	_, err := os.Stat(filepath.Join(b.dir, name))
	require.ErrorIs(b.t, err, os.ErrNotExist)
}

func (b *bench) calls() []agents.Call { return slices.Collect(b.tr.Calls()) }

func (b *bench) texts() (out []string) {
	for _, e := range b.tr.Events() {
		if e.Kind == agents.EventMessage {
			out = append(out, e.Text)
		}
	}
	return out
}

// spent is the sum of the usage events.
func (b *bench) spent() (u agents.Usage) {
	for _, e := range b.tr.Events() {
		u = u.Add(e.Usage)
	}
	return u
}

// served is what the gateway says that its answers cost.
func (b *bench) served() (u agents.Usage) {
	for _, x := range b.gateway.Log() {
		u = u.Add(x.Usage)
	}
	return u
}

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

// Holding a request and cutting there is how a trial is stopped.
func TestCutAtHeldRequest(t *testing.T) {
	t.Parallel()
	held := make(chan string, 1)
	b := open(t, []script.Step{
		script.Run("touch one"), script.Together(script.Run("touch two"), script.Run("touch three")), script.Run("touch four"),
	}, admit(func(ctx context.Context, r gateway.Request) error {
		if len(r.Results) < 2 {
			return nil
		}
		held <- r.Answer
		<-ctx.Done()
		return ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-held
		cancel()
	}()
	err := b.follow(ctx, "Go.", func(agents.Event) bool { return true })
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	f := b.close()
	require.Len(t, b.gateway.Log(), 3, "no request after the one that was held")
	require.Equal(t, gateway.Cut, b.gateway.Log()[2].State)
	require.Equal(t, 3, b.tr.Tally("all", func(agents.ToolCall) bool { return true }).Completed)
	b.requireNoFile("four")
	require.Equal(t, b.served().OutputTokens, f.Usage.OutputTokens, "what was paid for is counted")
	require.NotNil(t, b.send("More."), "an interrupted session is over")
}

func TestBreakInTool(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Write("slow.sh", "echo $$ > pid\nsleep 60 & sleep 60\n"), script.Run("bash ./slow.sh"), script.Run("touch after"),
	})
	start := time.Now()
	require.Nil(t, b.follow(t.Context(), "Go.", func(e agents.Event) bool {
		if e.Kind != agents.EventCall || e.Call.Kind != agents.Execute {
			return true
		}
		require.Eventually(t, func() bool {
			data, err := os.ReadFile(filepath.Join(b.dir, "pid"))
			return err == nil && len(data) > 0
		}, 20*time.Second, 20*time.Millisecond)
		return false
	}))
	f := b.close()
	require.Less(t, time.Since(start), 40*time.Second)
	b.requireNoFile("after")
	require.Len(t, b.gateway.Log(), 2)
	calls := b.calls()
	for _, e := range f.Tail {
		require.NoError(t, b.tr.Append(e))
		if e.Kind == agents.EventStatus && e.CallID == calls[1].ID {
			require.Equal(t, agents.Unresolved, e.Status, "a call that was stopped while it ran may have run in part")
		}
	}
	requireGone(t, b.dir)
}

// requireGone waits until no process works in dir any more.
func requireGone(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	require.Eventually(t, func() bool {
		links, err := filepath.Glob("/proc/[0-9]*/cwd")
		require.NoError(t, err)
		for _, l := range links {
			if to, err := os.Readlink(l); err == nil && (to == dir || strings.HasPrefix(to, dir+"/")) {
				return false
			}
		}
		return true
	}, 5*time.Second, 50*time.Millisecond, "a process is left")
}

func TestPermit(t *testing.T) {
	t.Parallel()
	var b *bench
	asked := make(chan agents.ToolCall, 20)
	b = open(t, []script.Step{
		script.Run("ls"), script.Read("seen.txt"), script.Run("touch refused"),
		script.Agent("Sub.", script.Run("touch refused-too"), script.Run("touch allowed")),
		script.Together(script.Run("touch refused-3"), script.Run("touch allowed-2")),
	}, setup(func(s *agents.Setup) {
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "seen.txt"), []byte("x"), 0o644))
		s.Permit = func(_ context.Context, c agents.ToolCall) agents.Decision {
			_, announced := b.tr.Call(c.ID)
			require.True(t, announced, "asked about a call that was not yielded")
			asked <- c
			refuse := len(c.Commands) > 0 && strings.Contains(c.Commands[0], "refused")
			return agents.Decision{Allow: !refuse, Reason: "because"}
		}
	}))
	require.Nil(t, b.send("Go."))
	close(asked)
	var ids []string
	for c := range asked {
		ids = append(ids, c.ID)
	}
	calls := b.calls()
	require.Len(t, calls, 8)
	for _, c := range calls {
		require.Contains(t, ids, c.ID, "%s %v was asked about", c.Name, c.Commands)
		want := agents.Completed
		if len(c.Commands) > 0 && strings.Contains(c.Commands[0], "refused") {
			want = agents.Denied
			require.Contains(t, b.tr.Output(c.ID), "because")
		}
		require.Equal(t, want, c.Status, "%s %v", c.Name, c.Commands)
	}
	for _, name := range []string{"refused", "refused-too", "refused-3"} {
		b.requireNoFile(name)
	}
	require.Equal(t, "", b.file("allowed"))
	require.Equal(t, "", b.file("allowed-2"))
}

// A decision may take its time; an interruption meanwhile refuses.
func TestInterruptWhilePermitBlocks(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	b := open(t, []script.Step{script.Run("touch never")}, setup(func(s *agents.Setup) {
		s.Permit = func(ctx context.Context, _ agents.ToolCall) agents.Decision {
			close(asked)
			<-ctx.Done()
			return agents.Decision{Allow: true}
		}
	}))
	go func() {
		<-asked
		cancel()
	}()
	err := b.follow(ctx, "Go.", func(agents.Event) bool { return true })
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	b.close()
	b.requireNoFile("never")
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

func TestProviderFails(t *testing.T) {
	t.Parallel()
	for _, kind := range []agents.ErrorKind{agents.Auth, agents.Quota, agents.RateLimit, agents.Overloaded, agents.Network, agents.Protocol} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := open(t, []script.Step{script.Run("touch a"), script.Fail(agents.Errorf(kind, agents.FromProvider, "no luck"))},
				setup(func(s *agents.Setup) { s.Env = append(s.Env, "CLAUDE_CODE_MAX_RETRIES=1") }))
			err := b.send("Go.")
			require.NotNil(t, err)
			require.Equal(t, kind, err.Kind, "%v", err)
			require.Equal(t, agents.FromProvider, err.Source)
			require.Len(t, b.calls(), 1)
			require.Empty(t, b.texts(), "an error is not the model's words")
			require.Positive(t, b.spent().Tokens())
			require.NotNil(t, b.send("Again."))
		})
	}
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

func TestBadFlagIsACrash(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	s, err := claude.New(claude.Path(cli(t)), claude.Args("--no-such-flag")).Open(t.Context(), agents.Setup{Dir: dir, Home: home, Temp: shortDir(t),
		Gateway: &agents.Endpoint{URL: "http://127.0.0.1:1", Token: "x"}})
	require.NoError(t, err)
	for _, err := range s.Send(t.Context(), "Go.") {
		var e *agents.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, agents.Crash, e.Kind)
		require.Contains(t, e.Error(), "no-such-flag")
	}
	_, err = s.Close()
	require.NoError(t, err)
}

func TestKilledIsACrash(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{script.Run("kill -9 $PPID; sleep 1"), script.Run("touch after")})
	err := b.send("Go.")
	require.NotNil(t, err)
	require.Equal(t, agents.Crash, err.Kind, "%v", err)
	b.close()
	b.requireNoFile("after")
}

func TestCloseWhileSending(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	b := open(t, []script.Step{script.Run("touch a"), script.Wait(time.Hour), script.Run("touch b")})
	go func() {
		<-reached
		_, _ = b.session.Close()
	}()
	err := b.follow(t.Context(), "Go.", func(e agents.Event) bool {
		if e.Kind == agents.EventStatus {
			close(reached)
		}
		return true
	})
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	b.close()
	requireGone(t, b.dir)
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
