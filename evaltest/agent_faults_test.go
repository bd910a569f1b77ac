package evaltest_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// custom is an agent made of functions.
type custom struct {
	open  func(agents.Setup) (agents.Session, error)
	send  func(ctx context.Context, yield func(agents.Event, error) bool)
	final agents.Final
	end   error
}

func (c *custom) Info() agents.Info { return agents.Info{Name: "custom", Gates: agents.Kinds} }
func (c *custom) Open(_ context.Context, s agents.Setup) (agents.Session, error) {
	if c.open != nil {
		return c.open(s)
	}
	return c, nil
}

func (c *custom) Send(ctx context.Context, _ string) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) { c.send(ctx, yield) }
}
func (c *custom) Close() (agents.Final, error) { return c.final, c.end }

// Whatever an agent does wrong is an error of the agent, on record, and no verdict.
func TestFaultsOfAgents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		agent *custom
		want  string
	}{
		{"panics in Send", &custom{send: func(context.Context, func(agents.Event, error) bool) { panic("oops") }}, "crash (agent)"},
		{"panics in Open", &custom{open: func(agents.Setup) (agents.Session, error) { panic("oops") }}, "crash (agent)"},
		{"opens nothing", &custom{open: func(agents.Setup) (agents.Session, error) { return nil, nil }}, "harness (agent)"},
		{"fails to open, untyped", &custom{open: func(agents.Setup) (agents.Session, error) { return nil, errors.New("no") }}, "setup (agent)"},
		{"fails, untyped", &custom{send: func(_ context.Context, yield func(agents.Event, error) bool) { yield(agents.Event{}, errors.New("no")) }}, "crash (agent)"},
		{"fails without a cause", &custom{send: func(_ context.Context, yield func(agents.Event, error) bool) {
			yield(agents.Event{}, &agents.Error{Kind: agents.Network, Source: agents.FromProvider})
		}}, "network (provider)"},
		{"fails to end", &custom{send: func(context.Context, func(agents.Event, error) bool) {}, end: agents.Errorf(agents.Crash, agents.FromAgent, "still there")}, "crash (agent)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, tb := eval(t, []evaltest.Option{evaltest.Agent(tc.agent)}, func(e *evaltest.T) { e.Expect(&file{"x"}) })
			assert.True(t, tb.failed)
			assert.Equal(t, "errored", tb.attrs["evaltest.outcome"])
			assert.Equal(t, tc.want, tb.attrs["evaltest.error"], tb.text())
			assert.NotContains(t, tb.text(), "FAILED")
		})
	}
}

// What an agent says twice changes nothing; what contradicts it may hide what it did, and is no verdict.
func TestEventsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	ls := agents.ToolCall{ID: "1", Name: "Bash", Kind: agents.Execute, Commands: []string{"ls"}}
	rm, none := ls, ls
	rm.Commands, none.ID = []string{"rm -rf x"}, ""
	for _, tc := range []struct {
		name    string
		events  []agents.Event
		outcome string
	}{
		{"said twice", []agents.Event{agents.Begin(ls), agents.Begin(ls), agents.End("1", agents.Completed, ""), agents.End("1", agents.Completed, "")}, "passed"},
		{"another call of the same id", []agents.Event{agents.Begin(ls), agents.End("1", agents.Completed, ""), agents.Begin(rm)}, "errored"},
		{"a call without an id", []agents.Event{agents.Begin(none)}, "errored"},
		{"another end", []agents.Event{agents.Begin(ls), agents.End("1", agents.Completed, ""), agents.End("1", agents.Denied, "")}, "errored"},
		{"the end of an unknown call", []agents.Event{agents.End("2", agents.Completed, "")}, "errored"},
		{"once the verdict is known", []agents.Event{agents.Begin(rm), agents.End("1", agents.Completed, ""), agents.End("2", agents.Completed, "")}, "failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := &plays{turns: [][]agents.Event{tc.events}}
			_, tb := eval(t, []evaltest.Option{evaltest.Agent(a)}, func(e *evaltest.T) { e.Expect(criteria.Never(criteria.CommandExecuted("rm"))) })
			assert.Equal(t, tc.outcome, tb.attrs["evaltest.outcome"], tb.text())
			if tc.outcome == "errored" {
				assert.Equal(t, "protocol (agent)", tb.attrs["evaltest.error"])
			}
		})
	}
}

// A nil *agents.Error in an error says that nothing went wrong.
func TestTypedNilErrorsAreNone(t *testing.T) {
	t.Parallel()
	var none *agents.Error
	a := &custom{send: func(_ context.Context, yield func(agents.Event, error) bool) { yield(agents.Say("hi"), none) }}
	a.open = func(agents.Setup) (agents.Session, error) { return a, none }
	r, tb := eval(t, []evaltest.Option{evaltest.Agent(a)}, func(e *evaltest.T) {
		e.Expect(criteria.ReplyEquals("hi"))
		e.Expect(&scores{"typed", func(context.Context, *evaltest.Trial) (evaltest.Score, error) { return evaltest.PassIf(true), none }})
	})
	require.NotNil(t, r, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome, tb.text())
}

// What a session has cost is judged, also when it is told only at its end.
func TestUsageToldAtTheEnd(t *testing.T) {
	t.Parallel()
	a := &custom{
		send:  func(_ context.Context, yield func(agents.Event, error) bool) { yield(agents.Say("hi"), nil) },
		final: agents.Final{Usage: agents.Usage{InputTokens: 1e6, Cost: 50}},
	}
	r, tb := eval(t, []evaltest.Option{evaltest.Agent(a), evaltest.MaxTokens(1000)}, func(e *evaltest.T) {
		e.Expect(criteria.TokensAtMost(100))
		e.Expect(criteria.CostAtMost(1))
	})
	require.NotNil(t, r, tb.text())
	assert.Equal(t, evaltest.OutcomeFailed, r.Outcome)
	assert.Equal(t, []evaltest.Verdict{evaltest.Failed, evaltest.Failed}, []evaltest.Verdict{r.Trials[0].Criteria[0].Verdict, r.Trials[0].Criteria[1].Verdict})
	assert.Equal(t, "tokens: 1000000 of 1000", r.Limit)
}

// An agent without ids has a turn for each thing it does: a limit does not end it before it does one more.
func TestTurnLimitOfAnAgentWithoutIDs(t *testing.T) {
	t.Parallel()
	ls := agents.ToolCall{ID: "1", Kind: agents.Execute, Commands: []string{"ls"}}
	for max, limit := range map[int]string{1: "turns: 1 of 1", 2: ""} {
		a := &plays{turns: [][]agents.Event{{agents.Begin(ls), agents.End("1", agents.Completed, ""), agents.Say("done")}}}
		r, tb := eval(t, []evaltest.Option{evaltest.Agent(a), evaltest.MaxTurns(max)}, func(e *evaltest.T) { e.Expect(criteria.CommandExecuted("ls")) })
		require.NotNil(t, r, tb.text())
		assert.Equal(t, limit, r.Limit)
	}
}

// quits ends its goroutine when it is asked.
type quits struct{ *skill }

func (quits) LiveVerdict(*agents.Trajectory) evaltest.Verdict { runtime.Goexit(); return 0 }

// A criterion that ends the test while the agent works is its author's mistake, red also where errors are skipped.
func TestLiveVerdictThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	_, tb := eval(t, []evaltest.Option{evaltest.Script(script.Say("hi")), evaltest.OnError("skip")}, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, quits{&skill{"x"}}) })
	assert.True(t, tb.failed, tb.text())
	assert.False(t, tb.skipped)
	assert.Contains(t, tb.text(), "LiveVerdict ended its goroutine")
}

// sleeps does not come back from looking.
type sleeps struct{ *skill }

func (sleeps) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for range tr.Calls() {
		select {}
	}
	return evaltest.Undecided
}

// A criterion that hangs while the agent works is named before the test's deadline.
func TestLiveVerdictThatHangs(t *testing.T) {
	t.Parallel()
	tb := &fakeTB{name: t.Name(), attrs: map[string]string{}, ctx: context.Background(), deadline: time.Now().Add(6 * time.Second)}
	tb.run(func(tb *fakeTB) {
		e := evaltest.New(tb, evaltest.Script(script.Run("true"), script.Run("true")))
		e.StopWhen(evaltest.Pass, sleeps{&skill{"x"}})
		e.Run("Do it.")
	})
	assert.True(t, time.Now().Before(tb.deadline))
	assert.True(t, tb.failed)
	assert.Contains(t, tb.text(), "LiveVerdict of uses skill x (")
	assert.Equal(t, "contract (author)", tb.attrs["evaltest.error"])
	assert.NotNil(t, record(t, tb).Verdict)
}

// An agent that puts a link in the place of its workspace is not graded by what the link leads to.
func TestTheWorkspaceIsReplaced(t *testing.T) {
	t.Parallel()
	host := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(host, "out.csv"), nil, 0o666))
	for name, act := range map[string]string{
		"by a link": `mv "$PWD" "$PWD.bak" && ln -s ` + host + ` "$PWD"`, "by nothing": `rm -rf "$PWD"`, "by a file": `rm -rf "$PWD"; : > "$PWD"`,
	} {
		r, tb := eval(t, []evaltest.Option{evaltest.Script(script.Run(act))}, func(e *evaltest.T) { e.Expect(criteria.FileExists("out.csv")) })
		require.NotNil(t, r, "%s: %s", name, tb.text())
		assert.Equal(t, evaltest.OutcomeFailed, r.Outcome, name)
		assert.Contains(t, tb.text(), "it counts as empty")
	}
	assert.FileExists(t, filepath.Join(host, "out.csv"))
}

// Graders share the time that is left before the test's deadline, and the record is complete.
func TestGradersShareTheTimeThatIsLeft(t *testing.T) {
	t.Parallel()
	tb := &fakeTB{name: t.Name(), attrs: map[string]string{}, ctx: context.Background(), deadline: time.Now().Add(4 * time.Second)}
	tb.run(func(tb *fakeTB) {
		e := evaltest.New(tb, evaltest.Script())
		e.Expect(&file{"missing.txt"})
		for range 4 {
			e.Expect(&scores{"hangs", func(ctx context.Context, _ *evaltest.Trial) (evaltest.Score, error) {
				<-ctx.Done()
				return evaltest.Score{}, ctx.Err()
			}})
		}
		e.Run("Do it.")
	})
	assert.True(t, time.Now().Before(tb.deadline))
	assert.Equal(t, "failed", tb.attrs["evaltest.outcome"], "known, whatever the graders would say")
	assert.NotNil(t, record(t, tb).Verdict)
}

// A call whose end is never seen may have run: it leaves open what it would decide.
func TestUnresolvedCallsLeaveTheVerdictOpen(t *testing.T) {
	t.Parallel()
	a := &plays{turns: [][]agents.Event{{agents.Begin(agents.ToolCall{ID: "1", Name: "Bash", Kind: agents.Execute, Commands: []string{"rm x"}})}}}
	_, tb := eval(t, []evaltest.Option{evaltest.Agent(a)}, func(e *evaltest.T) { e.Expect(criteria.Never(criteria.CommandExecuted("rm"))) })
	assert.Equal(t, "errored", tb.attrs["evaltest.outcome"])
	assert.Contains(t, tb.text(), "the end of calls was never seen, which leaves the verdict open: Bash rm x")
}

// What comes after the cut is no part of the record, and is noted on a criterion that it would have failed.
func TestAViolationAfterTheCut(t *testing.T) {
	t.Parallel()
	a := &custom{
		send: func(_ context.Context, yield func(agents.Event, error) bool) {
			_ = yield(agents.Begin(agents.ToolCall{ID: "1", Kind: agents.Skill, Skill: "pdf"}).In("m1"), nil) &&
				yield(agents.End("1", agents.Completed, ""), nil) && yield(agents.Request(), nil)
		},
		final: agents.Final{Tail: []agents.Event{
			agents.Begin(agents.ToolCall{ID: "2", Kind: agents.Execute, Commands: []string{"rm x"}}), agents.End("2", agents.Completed, ""),
		}},
	}
	r, tb := eval(t, []evaltest.Option{evaltest.Agent(a), evaltest.Smoke()}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
		e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
	})
	require.NotNil(t, r, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.True(t, r.Trials[0].Criteria[1].Violated)
	assert.Contains(t, tb.text(), "open, broken after the cut")
	assert.Equal(t, 1, r.Trials[0].Trajectory.MainCalls().Dispatched())
}

// record reads what is on disk of the only trial of a test.
func record(t *testing.T, tb *fakeTB) *journal.TrialRecord {
	run, err := journal.Read(os.Getenv("EVALTEST_DIR"))
	require.NoError(t, err)
	for _, r := range run.Trials {
		if r.Intent.ID.Test == tb.name {
			return r
		}
	}
	t.Fatalf("no record of %s", tb.name)
	return nil
}

// Values that were given as secrets reach neither record nor log.
func TestSecretsReachNoRecord(t *testing.T) {
	t.Parallel()
	const secret, env = "hunter2-\"quoted\"\nline", "env-value-17"
	_, tb := eval(t, []evaltest.Option{
		evaltest.Secret("TOKEN", secret), evaltest.Env("API=" + env),
		evaltest.MCPServer(agents.MCPServer{Name: "db", Command: []string{"true"}, Env: []string{"PASS=mcp-value-18"}}),
		evaltest.Script(script.Run("echo $API mcp-value-18"), script.Write("x", secret), script.Say("it is "+secret+" and "+env), script.Fail(errors.New("bad "+secret))),
	}, func(e *evaltest.T) { e.Expect(&file{env}) }, "Use "+secret+".")
	texts := []string{tb.text()}
	for _, v := range tb.attrs {
		texts = append(texts, v)
	}
	dir := tb.attrs["evaltest.record"]
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, "workspace/") {
			return err // the workspace is the agent's own work, kept as it is
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		texts = append(texts, string(data))
		return err
	}))
	r := record(t, tb)
	texts = append(texts, strings.Join(r.Intent.Prompts, ""), r.Verdict.Reply, r.Verdict.Err.Error())
	for _, text := range texts {
		for _, s := range []string{secret, `hunter2-\"quoted\"\nline`, env, "mcp-value-18"} {
			assert.NotContains(t, text, s)
		}
	}
	assert.Contains(t, strings.Join(texts, ""), "‹API›")
	assert.Contains(t, strings.Join(texts, ""), "‹TOKEN›")
}

// Assertions on the eval after the run make the test red, enter the record, and change no verdict.
func TestAssertionsAfterTheRunEnterTheRecord(t *testing.T) {
	t.Parallel()
	_, tb := evalThen(t, []evaltest.Option{evaltest.Script(script.Say("hi"))},
		func(e *evaltest.T) { e.Expect(criteria.ReplyEquals("hi")) },
		func(e *evaltest.T, r *evaltest.Result) {
			assert.Equal(e, "ho", r.Reply)
			require.Equal(e, "ha", r.Reply)
		})
	assert.True(t, tb.failed)
	rec := record(t, tb)
	assert.Equal(t, evaltest.OutcomePassed, rec.Outcome())
	assert.Len(t, rec.Failures, 2)
	assert.Contains(t, rec.Failures[0], "ho")
}

// evalThen is eval with something to do after the run.
func evalThen(t testing.TB, opts []evaltest.Option, criteria func(*evaltest.T), then func(*evaltest.T, *evaltest.Result)) (r *evaltest.Result, tb *fakeTB) {
	tb = inFake(t.Name(), func(tb *fakeTB) {
		e := evaltest.New(tb, opts...)
		criteria(e)
		r = e.Run("Do it.")
		then(e, r)
	})
	return r, tb
}

// An author's set-up that fails or panics is the author's error; a tear-down runs whatever happens.
func TestSetupAndTearDown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		f    func(context.Context, *evaltest.Trial) error
	}{
		{"fails", func(context.Context, *evaltest.Trial) error { return errors.New("no database") }},
		{"panics", func(context.Context, *evaltest.Trial) error { panic("no database") }},
		{"ends the test", func(context.Context, *evaltest.Trial) error { runtime.Goexit(); return nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			torn := ""
			down := func(s string) evaltest.Option {
				return evaltest.TearDown(func(context.Context, *evaltest.Trial) error { torn += s; return nil })
			}
			_, tb := eval(t, []evaltest.Option{evaltest.Script(), evaltest.OnError("skip"), evaltest.Setup(tc.f), down("1"), down("2")},
				func(e *evaltest.T) { e.Expect(&file{"x"}) })
			if tc.name != "ends the test" { // then nothing is left to report to
				assert.True(t, tb.failed)
				assert.Equal(t, "setup (author)", tb.attrs["evaltest.error"])
			}
			assert.Equal(t, "21", torn)
			assert.Equal(t, evaltest.OutcomeErrored, record(t, tb).Outcome())
		})
	}
}

// Which workspaces are kept is the developer's to say.
func TestKeep(t *testing.T) {
	for _, tc := range []struct {
		keep         string
		passed, kept bool
	}{
		{"failed", true, false}, {"failed", false, true}, {"all", true, true}, {"none", false, false},
	} {
		t.Setenv("EVALTEST_KEEP", tc.keep)
		want := "out.txt"
		if !tc.passed {
			want = "none.txt"
		}
		r, tb := eval(t, []evaltest.Option{evaltest.Script(script.Write("out.txt", "x"))}, func(e *evaltest.T) { e.Expect(&file{want}) })
		require.NotNil(t, r, tb.text())
		_, err := os.Stat(filepath.Join(r.Trials[0].Record, "workspace", "out.txt"))
		assert.Equal(t, tc.kept, err == nil, "%+v", tc)
	}
}

// Evals that make no sense for an agent are skipped: neither measured nor red.
func TestNotApplicable(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]evaltest.Option{
		"another agent": evaltest.Only("claude", "codex"),
		"a requirement": evaltest.Requires("a gate", func(i agents.Info) bool { return len(i.Gates) > 99 }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tb := eval(t, []evaltest.Option{evaltest.Script(), opt}, func(e *evaltest.T) { t.Error("it ran") })
			assert.True(t, tb.skipped)
			assert.False(t, tb.failed)
			assert.Contains(t, tb.text(), "not applicable to agent scripted")
		})
	}
}

// Without a gateway of ours the boundary is what the agent's stream shows: the verdict is the same.
func TestClaudeWithItsOwnUpstream(t *testing.T) {
	agent := needsClaude(t)
	provider, err := gateway.Open(gateway.Options{Wire: agents.AnthropicMessages, Script: twenty(), Dir: t.TempDir()})
	require.NoError(t, err)
	defer provider.Close()
	t.Setenv("ANTHROPIC_BASE_URL", provider.Endpoint().URL)
	t.Setenv("ANTHROPIC_API_KEY", provider.Endpoint().Token)
	t.Setenv("EVALTEST_LIVE", "1")
	r, tb := eval(t, []evaltest.Option{agent}, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf")) })
	require.NotNil(t, r, tb.text())
	require.NotNil(t, r.Stop, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 2, r.Trials[0].Trajectory.MainCalls().Ran())
	assert.LessOrEqual(t, len(provider.Log()), 3)
}
