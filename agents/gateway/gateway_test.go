package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestUnknownWireNamesTheKnown(t *testing.T) {
	t.Parallel()
	_, err := gateway.Open(gateway.Options{Wire: "smoke-signals"})
	require.ErrorContains(t, err, `no wire format "smoke-signals" (known: anthropic-messages, gemini-generate, openai-chat, openai-responses)`)
}

func TestOnlyTheTokenLetsIn(t *testing.T) {
	t.Parallel()
	g := scripted(t, script.Say("hi"))
	for name, test := range map[string]struct {
		header, value, method, path string
		want                        int
	}{
		"no key":          {"", "", "POST", "/v1/messages", 401},
		"another key":     {"X-Api-Key", "sk-other", "POST", "/v1/messages", 401},
		"the key":         {"X-Api-Key", g.Endpoint().Token, "GET", "/v1/models", 200},
		"as a bearer":     {"Authorization", "Bearer " + g.Endpoint().Token, "GET", "/v1/models/a-model", 200},
		"without bearer":  {"Authorization", g.Endpoint().Token, "GET", "/v1/models", 401},
		"a probe":         {"", "", "HEAD", "/", 200},
		"another probe":   {"", "", "GET", "/", 200},
		"unknown":         {"X-Api-Key", g.Endpoint().Token, "GET", "/v1/files", 404},
		"no JSON":         {"X-Api-Key", g.Endpoint().Token, "POST", "/v1/messages", 400},
		"count, no JSON":  {"X-Api-Key", g.Endpoint().Token, "POST", "/v1/messages/count_tokens", 400},
		"models, no key":  {"", "", "GET", "/v1/models", 401},
		"empty as bearer": {"Authorization", "Bearer ", "GET", "/v1/models", 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), test.method, g.Endpoint().URL+test.path, strings.NewReader("nonsense"))
			require.NoError(t, err)
			if test.header != "" {
				r.Header.Set(test.header, test.value)
			}
			resp, err := do(t, r)
			require.NoError(t, err)
			defer resp.Body.Close()
			require.Equal(t, test.want, resp.StatusCode)
			require.Empty(t, g.Log(), "no model request")
		})
	}
	other := scripted(t)
	require.NotEqual(t, g.Endpoint().Token, other.Endpoint().Token)
}

func TestScriptIsPlayedStreamingAndNot(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream %v", stream), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			long := strings.Repeat("ünïcödé ", 2000)
			g := open(t, gateway.Options{Dir: dir, Script: []script.Step{
				script.Say("First."), script.Run("ls"), script.Write("a/b.txt", long), script.Read("/etc/hosts"), script.Skill("pdf"),
				script.Call("mcp__db__query", object{"sql": "select 1"}), script.HandBack(), script.Say(long),
			}})
			c := begin(t, g, "Go.")
			c.stream = stream

			a := c.next()
			require.Equal(t, "tool_use", a.Stop)
			require.Len(t, a.Content, 2)
			require.Equal(t, "First.", a.Content[0].Text)
			require.Equal(t, "Bash", a.Content[1].Name)
			require.JSONEq(t, `{"command":"ls","timeout":1,"mode":"fast","tags":[],"where":{"host":"scripted step"},"maybe":1}`, string(a.Content[1].Input))

			b := c.next().Content[0]
			require.Equal(t, "Write", b.Name)
			require.Equal(t, filepath.Join(dir, "a", "b.txt"), b.arg(t, "file_path"))
			require.Equal(t, long, b.arg(t, "content"))
			require.Equal(t, "/etc/hosts", c.next().Content[0].arg(t, "file_path"))
			require.Equal(t, "pdf", c.next().Content[0].arg(t, "skill"))
			b = c.next().Content[0]
			require.Equal(t, "mcp__db__query", b.Name)
			require.JSONEq(t, `{"sql":"select 1"}`, string(b.Input))

			a = c.next()
			require.Equal(t, "end_turn", a.Stop)
			require.Equal(t, "Done.", a.Content[0].Text, "an answer has content, even a silent hand-back")
			a = c.next()
			require.Equal(t, long, a.Content[0].Text)
			last := c.next()
			require.Equal(t, "Done.", last.Content[0].Text, "after the end")
			require.Equal(t, "end_turn", last.Stop)
			require.NotEqual(t, last.ID, c.next().ID, "ids are unique, after the end too")

			seen := map[string]bool{}
			var read int64
			for i, x := range g.Log() {
				require.Equal(t, i+1, x.N)
				require.Equal(t, gateway.Answered, x.State)
				require.Equal(t, 200, x.Status)
				require.Equal(t, "a-model", x.Model)
				require.Equal(t, stream, x.Stream)
				require.False(t, x.Arrived.After(x.Admitted) || x.Admitted.After(x.Ended))
				require.False(t, seen[x.ID], x.ID)
				seen[x.ID] = true
				require.GreaterOrEqual(t, x.Usage.CachedTokens, read, "the input grows")
				read = x.Usage.CachedTokens
			}
		})
	}
}

func TestStreamAndWholeAgree(t *testing.T) {
	t.Parallel()
	g := scripted(t, script.Together(script.Say("a"), script.Run("ls"), script.Say("b"), script.Read("x")))
	c := begin(t, g, "Go.")
	streamed := c.ask()
	c.stream = false
	require.Equal(t, streamed, c.ask())
	require.Len(t, streamed.Content, 4)
	log := g.Log()
	require.Equal(t, log[0].Usage, log[1].Usage)
	require.Equal(t, []int64{streamed.Usage.Input, streamed.Usage.Written}, []int64{log[0].Usage.InputTokens, log[0].Usage.CacheWriteTokens})
	require.Equal(t, streamed.Usage.Output, log[0].Usage.OutputTokens)
}

func TestNothingDesynchronises(t *testing.T) {
	t.Parallel()
	g := scripted(t, script.Run("echo 0"), script.Run("echo 1"), script.HandBack(), script.Run("echo 2"))
	c := begin(t, g, "Go.")
	for want := range 3 {
		first := c.ask()
		require.Equal(t, first, c.ask(), "a request that is repeated gets the same answer")
		side := begin(t, g, "Give this a title.")
		side.tools = nil
		require.Equal(t, "end_turn", side.ask().Stop)
		a := c.next()
		require.Equal(t, fmt.Sprintf("echo %d", want), a.Content[0].arg(t, "command"))
		if want == 1 {
			require.Equal(t, "end_turn", c.next().Stop)
		}
	}
}

func TestResultsNameTheirAnswer(t *testing.T) {
	t.Parallel()
	var got []gateway.Request
	g := open(t, gateway.Options{
		Script: []script.Step{script.Together(script.Run("a"), script.Run("b")), script.Run("c")},
		Admit:  func(_ context.Context, r gateway.Request) error { got = append(got, r); return nil },
	})
	c := begin(t, g, "Go.")
	one := c.next()
	// As agents do that come back with one message per result.
	last := c.messages[len(c.messages)-1].(object)["content"].([]any)
	c.messages = append(c.messages[:len(c.messages)-1], object{"role": "user", "content": last[:1]},
		object{"role": "user", "content": last[1:]})
	two := c.next()
	c.next()
	require.Empty(t, got[0].Results)
	require.Equal(t, "", got[0].Answer)
	require.Equal(t, []string{one.Content[0].ID, one.Content[1].ID}, got[1].Results)
	require.Equal(t, one.ID, got[1].Answer)
	require.Equal(t, []string{two.Content[0].ID}, got[2].Results)
	require.Equal(t, two.ID, got[2].Answer)
}

func TestSubagentsHaveTheirPart(t *testing.T) {
	t.Parallel()
	g := scripted(t,
		script.Run("main 0"),
		script.Together(
			script.Agent("Left.", script.Run("left 0"), script.Agent("Below.", script.Run("below 0")), script.Say("left said")),
			script.Agent("Right.", script.Run("right 0"))),
		script.Run("main 1"))
	c := begin(t, g, "Go.")
	c.next()
	a := c.next()
	require.Len(t, a.Content, 2)
	require.Equal(t, false, a.Content[0].arg(t, "run_in_background"))
	require.Equal(t, "general-purpose", a.Content[0].arg(t, "subagent_type"))
	prompt := func(b block) string { return b.arg(t, "prompt").(string) }

	left, right := begin(t, g, "<reminder>\n"+prompt(a.Content[0])), begin(t, g, prompt(a.Content[1]))
	require.Equal(t, "left 0", left.next().Content[0].arg(t, "command"))
	require.Equal(t, "right 0", right.next().Content[0].arg(t, "command"))
	below := begin(t, g, prompt(left.next().Content[0]))
	require.Equal(t, "below 0", below.next().Content[0].arg(t, "command"))
	require.Equal(t, "Done.", below.next().Content[0].Text)
	require.Equal(t, "left said", left.next().Content[0].Text)
	require.Equal(t, "Done.", right.next().Content[0].Text)
	require.Equal(t, "main 1", c.next().Content[0].arg(t, "command"))

	ids := map[string]bool{}
	for _, x := range g.Log() {
		for _, id := range append(x.Calls, x.ID) {
			require.False(t, ids[id], "%s is used twice", id)
			require.Regexp(t, `^[a-zA-Z0-9_-]+$`, id)
			ids[id] = true
		}
	}
}

func TestToolThatIsNotOffered(t *testing.T) {
	t.Parallel()
	g := scripted(t, script.Call("Nope", nil), script.Skill("pdf"), script.Run("ls"))
	c := begin(t, g, "Go.")
	c.tools = []any{tools[1]}
	a := c.next()
	require.Equal(t, "end_turn", a.Stop)
	require.Equal(t, "gateway: script: no tool named Nope among: Bash", a.Content[0].Text)
	require.Contains(t, g.Log()[0].Note, "no tool named Nope")
	require.True(t, g.Log()[0].Unplayed)
	require.Contains(t, c.next().Content[0].Text, "no tool to skill with")
	require.Equal(t, "Bash", c.next().Content[0].Name, "the script goes on")

	c = begin(t, g, "Go.")
	c.tools = []any{tools[1], tool("ToolSearch", nil, nil)}
	a = c.next()
	require.Equal(t, "Nope", a.Content[0].Name, "it may be one that is to be searched for")
	require.Contains(t, g.Log()[3].Note, "no tool named Nope")
	require.False(t, g.Log()[3].Unplayed)
}

func TestBlocksAreSentBeforeThePause(t *testing.T) {
	t.Parallel()
	const pause = 1500 * time.Millisecond
	g := scripted(t, script.Together(script.Run("one"), script.Gap(pause), script.Run("two")))
	resp, err := begin(t, g, "Go.").send(t.Context())
	require.NoError(t, err)
	defer resp.Body.Close()
	var first, second time.Time
	pings := 0
	_, err = readStream(resp.Body, func(e event) {
		switch {
		case e.Type == "content_block_stop" && e.Index == 0:
			first = time.Now()
		case e.Type == "content_block_start" && e.Index == 1:
			second = time.Now()
		case e.Type == "ping" && !first.IsZero() && second.IsZero():
			pings++
		}
	})
	require.NoError(t, err)
	require.Greater(t, second.Sub(first), pause/2)
	require.Positive(t, pings, "the connection is kept alive")
}

func TestWaitComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	const wait = 200 * time.Millisecond
	g := scripted(t, script.Wait(wait), script.Run("one"))
	begin(t, g, "Go.").next()
	x := g.Log()[0]
	require.GreaterOrEqual(t, x.Ended.Sub(x.Admitted), wait)
}
