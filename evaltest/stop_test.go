package evaltest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// skillsDir is a folder with the skills that the scripts here use.
func skillsDir(t testing.TB) string {
	dir := t.TempDir()
	for _, name := range []string{"pdf", "xlsx"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), fstest.MapFS{
			"SKILL.md": {Data: []byte("---\nname: " + name + "\ndescription: Reads files.\n---\nDo it.\n")},
		}))
	}
	return dir
}

// eval runs an eval in a fake test and returns what it came to; nil when Run did not return.
func eval(t testing.TB, opts []evaltest.Option, criteria func(e *evaltest.T), prompts ...string) (*evaltest.Result, *fakeTB) {
	var r *evaltest.Result
	if prompts == nil {
		prompts = []string{"Do it."}
	}
	tb := inFake(t.Name(), func(tb *fakeTB) {
		e := evaltest.New(tb, append([]evaltest.Option{evaltest.Skills(skillsDir(t)), evaltest.Retries(0), evaltest.NoBreaker()}, opts...)...)
		criteria(e)
		r = e.Run(prompts...)
	})
	return r, tb
}

// twenty is a script of twenty calls whose second uses the skill.
func twenty() []script.Step {
	steps := []script.Step{script.Write("1.txt", "1"), script.Skill("pdf")}
	for i := 3; i <= 20; i++ {
		steps = append(steps, script.Write(fmt.Sprintf("%d.txt", i), "x"))
	}
	return append(steps, script.Say("Done."))
}

func TestStopModes(t *testing.T) {
	t.Parallel()
	armPass := func(e *evaltest.T) { e.StopWhen(evaltest.Pass, &skill{"pdf"}) }
	withFile := func(e *evaltest.T) { armPass(e); e.Expect(&file{"20.txt"}) }
	withNone := func(e *evaltest.T) { armPass(e); e.Expect(&file{"none.txt"}) }
	for _, tc := range []struct {
		name     string
		opts     []evaltest.Option
		criteria func(e *evaltest.T)
		outcome  evaltest.Outcome
		calls    int
		smoke    bool
		open     []string
	}{
		{"sound: decided by the armed criterion alone", nil, armPass, evaltest.OutcomePassed, 2, false, nil},
		{"sound: a file is still to come", nil, withFile, evaltest.OutcomePassed, 20, false, nil},
		{"armed: the armed criterion has answered", []evaltest.Option{evaltest.Smoke()}, withFile, evaltest.OutcomePassed, 2, true, []string{"20.txt exists"}},
		{"armed: what is left open may be false", []evaltest.Option{evaltest.Smoke()}, withNone, evaltest.OutcomePassed, 2, true, []string{"none.txt exists"}},
		{"armed: decided by the whole gate, too", []evaltest.Option{evaltest.Smoke()}, armPass, evaltest.OutcomePassed, 2, false, nil},
		{"a must-not that is broken", nil, func(e *evaltest.T) { withFile(e); e.StopWhen(evaltest.Fail, &never{"rm"}) }, evaltest.OutcomePassed, 20, false, nil},
		{"a light failure is absorbed", []evaltest.Option{evaltest.MinScore(0.5), evaltest.Script(script.Run("rm -f x"), script.Skill("pdf"), script.Write("20.txt", ""))},
			func(e *evaltest.T) {
				e.StopWhen(evaltest.Fail, &never{"rm"})
				e.Expect(&skill{"pdf"})
				e.Expect(&file{"20.txt"})
			}, evaltest.OutcomePassed, 3, false, nil},
		{"a failure that matters", []evaltest.Option{evaltest.Script(script.Run("rm -f x"), script.Skill("pdf"), script.Write("20.txt", ""))},
			func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}); e.Expect(&skill{"pdf"}) }, evaltest.OutcomeFailed, 1, false, []string{"uses skill pdf"}},
		{"nothing armed: never stopped", nil, func(e *evaltest.T) { e.Expect(&skill{"pdf"}) }, evaltest.OutcomePassed, 20, false, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, tb := eval(t, append([]evaltest.Option{evaltest.Script(twenty()...)}, tc.opts...), tc.criteria)
			require.NotNil(t, r, tb.text())
			assert.Equal(t, tc.outcome, r.Outcome, tb.text())
			assert.Equal(t, tc.outcome == evaltest.OutcomeFailed, tb.failed, tb.text())
			tr := r.Trials[0].Trajectory
			assert.Equal(t, tc.calls, tr.MainCalls().Dispatched())
			assert.Equal(t, tc.smoke, r.Trials[0].Smoke)
			if tc.calls < 3 {
				require.NotNil(t, r.Stop)
				assert.Equal(t, tc.open, r.Stop.Open)
			} else {
				assert.Nil(t, r.Stop)
			}
		})
	}
}

// The published wrong stop: the deciding call's result comes before its sibling is announced.
func TestASiblingOfTheDecidingCallIsNotLost(t *testing.T) {
	t.Parallel()
	for _, gap := range []time.Duration{0, 30 * time.Millisecond, 2 * time.Second} {
		for _, write := range []script.Step{script.Write("out.txt", "x"), script.Run("sleep 3; echo x > out.txt")} {
			t.Run(fmt.Sprint(gap), func(t *testing.T) {
				t.Parallel()
				r, tb := eval(t, []evaltest.Option{evaltest.Smoke(), evaltest.Script(
					script.Together(script.Skill("pdf"), script.Gap(gap), write),
					script.Write("late.txt", "x"),
				), evaltest.TearDown(func(_ context.Context, trial *evaltest.Trial) error {
					if _, err := os.Stat(filepath.Join(trial.Dir, "out.txt")); err != nil {
						t.Error(err)
					}
					if _, err := os.Stat(filepath.Join(trial.Dir, "late.txt")); err == nil {
						t.Error("the run went on")
					}
					return nil
				})}, func(e *evaltest.T) {
					e.StopWhen(evaltest.Pass, &skill{"pdf"})
					e.Expect(&file{"out.txt"})
				})
				require.NotNil(t, r, tb.text())
				require.NotNil(t, r.Stop, tb.text())
				assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
				assert.Equal(t, 2, r.Trials[0].Trajectory.MainCalls().Completed)
			})
		}
	}
}

func TestTheDecidingCallInASubagentIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	inner := append([]script.Step{script.Skill("pdf")}, twenty()...)
	r, tb := eval(t, []evaltest.Option{evaltest.Smoke(), evaltest.Script(
		script.Together(script.Agent("work", inner...), script.Agent("beside", script.Run("sleep 0.1"), script.Write("beside.txt", "x"))),
		script.Write("late.txt", ""),
	)}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, &skill{"pdf"})
		e.Expect(&file{"late.txt"})
	})
	require.NotNil(t, r, tb.text())
	require.NotNil(t, r.Stop)
	n := 0
	for c := range r.Trials[0].Trajectory.Calls() {
		if c.Parent != "" && c.Skill == "" {
			n++
		}
	}
	assert.LessOrEqual(t, n, 3, "the sub-agent was cut at its next request")
}

// What comes while draining may undo a decision: the request is released, and the run goes on.
func TestAViolationWhileDrainingReleasesTheRun(t *testing.T) {
	t.Parallel()
	r, tb := eval(t, []evaltest.Option{evaltest.Smoke(), evaltest.MinScore(0.5), evaltest.Script(
		script.Together(script.Skill("pdf"), script.Gap(50*time.Millisecond), script.Run("rm -f x")),
		script.Write("late.txt", ""), script.Say("Bye."),
	)}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, &skill{"pdf"})
		e.StopWhen(evaltest.Fail, &never{"rm"})
		e.Expect(&file{"late.txt"})
	})
	require.NotNil(t, r, tb.text())
	assert.Nil(t, r.Stop)
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 3, r.Trials[0].Trajectory.MainCalls().Completed)
	assert.Equal(t, "Bye.", r.Reply)
}

func TestAToolThatNeverEndsIsBoundedByTheDrain(t *testing.T) {
	t.Parallel()
	r, tb := eval(t, []evaltest.Option{evaltest.Smoke(), evaltest.DrainTimeout(200 * time.Millisecond), evaltest.Script(
		script.Together(script.Skill("pdf"), script.Run("sleep 300")),
	)}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, &skill{"pdf"})
		e.Expect(&file{"x"})
	})
	require.NotNil(t, r, tb.text())
	require.NotNil(t, r.Stop)
	assert.Less(t, r.Trials[0].Took, 60*time.Second)
	assert.Equal(t, 1, r.Trials[0].Trajectory.MainCalls().Unresolved)
}

func TestShadowRecordsWhereOthersWouldHaveStopped(t *testing.T) {
	t.Setenv("EVALTEST_STOP", "shadow")
	r, tb := eval(t, []evaltest.Option{evaltest.Script(twenty()...)}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, &skill{"pdf"})
		e.Expect(&file{"none.txt"})
	})
	require.NotNil(t, r)
	assert.Equal(t, evaltest.OutcomeFailed, r.Outcome)
	assert.Equal(t, 20, r.Trials[0].Trajectory.MainCalls().Dispatched())
	assert.Contains(t, tb.text(), "armed would have stopped at turn 2, call 2 with passed: assumption broken: none.txt exists failed in the full run")
}

func TestOffNeverStops(t *testing.T) {
	t.Setenv("EVALTEST_STOP", "off")
	r, _ := eval(t, []evaltest.Option{evaltest.Script(twenty()...)}, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, &skill{"pdf"}) })
	require.NotNil(t, r)
	assert.Nil(t, r.Stop)
	assert.Equal(t, 20, r.Trials[0].Trajectory.MainCalls().Dispatched())
}

func TestPrevent(t *testing.T) {
	for _, mode := range []string{"sound", "off"} {
		t.Run(mode, func(t *testing.T) {
			t.Setenv("EVALTEST_STOP", mode)
			r, tb := eval(t, []evaltest.Option{evaltest.Script(
				script.Write("keep.txt", "x"), script.Run("rm keep.txt"), script.Run("rm -f keep.txt"), script.Write("late.txt", "x"),
			), evaltest.TearDown(func(_ context.Context, trial *evaltest.Trial) error {
				_, err := os.Stat(filepath.Join(trial.Dir, "keep.txt"))
				return err
			})}, func(e *evaltest.T) {
				e.StopWhen(evaltest.Fail, &never{"rm"}, evaltest.Prevent())
			})
			require.NotNil(t, r, tb.text())
			assert.NotContains(t, tb.text(), "TearDown", "the file is still there")
			assert.Equal(t, evaltest.OutcomeFailed, r.Outcome)
			want := map[string]int{"sound": 1, "off": 2}[mode]
			assert.Equal(t, want, r.Trials[0].Trajectory.MainCalls().Denied, tb.text())
			assert.Equal(t, mode == "sound", r.Stop != nil)
		})
	}
}

// What is only tried counts for Attempted; Prevent refuses it all the same.
func TestPreventAttempts(t *testing.T) {
	t.Parallel()
	r, tb := eval(t, []evaltest.Option{evaltest.Script(script.Run("rm x"))}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Fail, criteria.Never(criteria.Attempted(criteria.CommandExecuted("rm"))), evaltest.Prevent())
	})
	require.NotNil(t, r, tb.text())
	assert.Equal(t, evaltest.OutcomeFailed, r.Outcome)
	assert.Equal(t, 1, r.Trials[0].Trajectory.MainCalls().Denied)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		opt   evaltest.Option
		calls int
		limit string
	}{
		{"turns", evaltest.MaxTurns(4), 4, "turns: 4 of 4"},
		{"calls", evaltest.MaxToolCalls(5), 5, "tool calls: 5 of 5"},
		{"as many turns as needed", evaltest.MaxTurns(21), 20, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, tb := eval(t, []evaltest.Option{evaltest.Script(twenty()...), tc.opt}, func(e *evaltest.T) { e.Expect(&file{"1.txt"}) })
			require.NotNil(t, r, tb.text())
			assert.Equal(t, tc.limit, r.Limit)
			assert.Equal(t, tc.calls, r.Trials[0].Trajectory.MainCalls().Dispatched())
			assert.Equal(t, evaltest.OutcomePassed, r.Outcome, "a limit is no outcome: what is there is graded")
		})
	}
	t.Run("duration", func(t *testing.T) {
		t.Parallel()
		r, tb := eval(t, []evaltest.Option{evaltest.Script(script.Write("1.txt", ""), script.Run("sleep 300")), evaltest.MaxDuration(300 * time.Millisecond)},
			func(e *evaltest.T) { e.Expect(&file{"1.txt"}) })
		require.NotNil(t, r, tb.text())
		assert.Equal(t, "duration: 300ms", r.Limit)
		assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		a := &plays{turns: [][]agents.Event{{agents.Say("a"), agents.Spent(agents.Usage{InputTokens: 10}), agents.Say("b"), agents.Spent(agents.Usage{OutputTokens: 100}), agents.Say("c")}}}
		r, tb := eval(t, []evaltest.Option{evaltest.Agent(a), evaltest.MaxTokens(50)}, func(e *evaltest.T) { e.Expect(scored(evaltest.PassIf(true))) })
		require.NotNil(t, r, tb.text())
		assert.Equal(t, "tokens: 110 of 50", r.Limit)
		assert.Equal(t, "b", r.Reply)
	})
	t.Run("cost, by a table of prices", func(t *testing.T) {
		t.Parallel()
		a := &plays{turns: [][]agents.Event{{agents.Spent(agents.Usage{InputTokens: 1e6}), agents.Say("c")}}}
		r, tb := eval(t, []evaltest.Option{evaltest.Agent(a), evaltest.MaxCost(1), evaltest.Prices{Input: 3}}, func(e *evaltest.T) { e.Expect(scored(evaltest.PassIf(true))) })
		require.NotNil(t, r, tb.text())
		assert.Equal(t, "cost: $3 of $1", r.Limit)
		assert.InDelta(t, 3, r.Usage.Cost, 1e-9)
	})
	t.Run("a criterion of its own", func(t *testing.T) {
		t.Parallel()
		r, _ := eval(t, []evaltest.Option{evaltest.Script(twenty()...), evaltest.MaxTurns(4), evaltest.FailOnLimit()}, func(e *evaltest.T) { e.Expect(&file{"1.txt"}) })
		require.NotNil(t, r)
		assert.Equal(t, evaltest.OutcomeFailed, r.Outcome)
	})
	t.Run("step budget of a smoke check", func(t *testing.T) {
		t.Parallel()
		r, tb := eval(t, []evaltest.Option{evaltest.Script(twenty()...), evaltest.Smoke(), evaltest.StepBudget(3)}, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, &skill{"xlsx"}) })
		require.NotNil(t, r, tb.text())
		assert.Equal(t, evaltest.OutcomeUndecided, r.Outcome)
		assert.True(t, tb.failed)
		assert.Contains(t, tb.text(), "step budget: 3 of 3 calls")
		assert.NotContains(t, tb.text(), "FAILED")
	})
}

func TestUserTurns(t *testing.T) {
	t.Parallel()
	steps := []script.Step{script.Write("1.txt", ""), script.Say("One."), script.HandBack(), script.Skill("pdf"), script.Say("Two."), script.HandBack(), script.Write("3.txt", ""), script.Say("Three.")}
	r, tb := eval(t, []evaltest.Option{evaltest.Script(steps...)}, func(e *evaltest.T) { e.Expect(&file{"3.txt"}) }, "a", "b", "c")
	require.NotNil(t, r, tb.text())
	assert.Equal(t, "Three.", r.Reply)
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	// Decided in the second turn's answer: cut at the request after it, and the third prompt is never sent.
	r, tb = eval(t, []evaltest.Option{evaltest.Script(steps...)}, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, &skill{"pdf"}) }, "a", "b", "c")
	require.NotNil(t, r, tb.text())
	require.NotNil(t, r.Stop)
	assert.Equal(t, "", r.Reply)
}

func TestSessionErrors(t *testing.T) {
	t.Parallel()
	down := agents.Errorf(agents.Overloaded, agents.FromProvider, "try later")
	for _, tc := range []struct {
		name     string
		criteria func(e *evaltest.T)
		outcome  string
	}{
		{"leave a verdict open", func(e *evaltest.T) { e.Expect(&file{"x"}) }, "errored"},
		{"do not undo a failure that is known", func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}) }, "failed"},
		{"do not undo a pass that is known", func(e *evaltest.T) { e.Expect(&skill{"pdf"}) }, "passed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, tb := eval(t, []evaltest.Option{evaltest.Script(script.Together(script.Run("rm -f a"), script.Skill("pdf")), script.Fail(down))}, tc.criteria)
			assert.Equal(t, tc.outcome, tb.attrs["evaltest.outcome"], tb.text())
		})
	}
}
