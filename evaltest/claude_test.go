package evaltest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// needsClaude is an option that runs the real Claude Code.
func needsClaude(t testing.TB) evaltest.Option {
	return evaltest.Agent(claude.New(claude.Path(claudePath(t))))
}

// claudePath finds the real Claude Code, or skips; with EVALTEST_REQUIRE_AGENTS=1 its absence is a failure.
func claudePath(t testing.TB) string {
	path := os.Getenv("EVALTEST_CLAUDE")
	if path == "" {
		path = filepath.Join("..", ".agents", "node_modules", ".bin", "claude")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		if os.Getenv("EVALTEST_REQUIRE_AGENTS") == "1" {
			t.Fatalf("the real Claude Code is missing: run make agents (%v)", err)
		}
		t.Skipf("needs the real Claude Code: run make agents (%v)", err)
	}
	return path
}

// onClaude runs an eval on the real Claude Code, its model played by the script.
func onClaude(t *testing.T, mode string, opts []evaltest.Option, criteria func(e *evaltest.T), steps ...script.Step) (*evaltest.Result, *fakeTB, []gateway.Exchange) {
	agent := needsClaude(t)
	t.Setenv("EVALTEST_GATEWAY", "script")
	t.Setenv("EVALTEST_STOP", mode)
	r, tb := eval(t, append([]evaltest.Option{agent, evaltest.Script(steps...)}, opts...), criteria)
	require.NotNil(t, r, tb.text())
	return r, tb, requestsIn(t, r.Trials[0].Record)
}

// answers is the number of requests that the model answered.
func answers(requests []gateway.Exchange) int {
	n := 0
	for _, x := range requests {
		if x.State == gateway.Answered {
			n++
		}
	}
	return n
}

// there reports in a teardown whether files are in the workspace.
func there(want map[string]bool) evaltest.Option {
	return evaltest.TearDown(func(_ context.Context, trial *evaltest.Trial) error {
		for path, want := range want {
			if _, err := os.Stat(filepath.Join(trial.Dir, path)); (err == nil) != want {
				return fmt.Errorf("%s is there: %v, want %v", path, err == nil, want)
			}
		}
		return nil
	})
}

func TestClaudeTwentyCalls(t *testing.T) {
	limit := []evaltest.Option{evaltest.MaxTurns(30)}
	arm := func(e *evaltest.T) { e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf")) }

	r, tb, requests := onClaude(t, "sound", limit, arm, twenty()...)
	require.NotNil(t, r.Stop, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, []int{2, 2, 28}, []int{r.Stop.Turn, r.Stop.ToolCall, r.Stop.TurnsLeft})
	assert.Equal(t, 2, r.Trials[0].Trajectory.MainCalls().Ran())
	assert.Equal(t, 2, answers(requests))
	require.Len(t, requests, 3, "no request comes after the one that was held")
	assert.Contains(t, []gateway.State{gateway.Refused, gateway.Cut}, requests[2].State)

	r, tb, requests = onClaude(t, "off", limit, arm, twenty()...)
	assert.Nil(t, r.Stop, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 20, r.Trials[0].Trajectory.MainCalls().Completed, tb.text())
	assert.Equal(t, 21, answers(requests))
	assert.Equal(t, "Done.", r.Reply)

	r, tb, _ = onClaude(t, "shadow", limit, arm, twenty()...)
	assert.Nil(t, r.Stop)
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 20, r.Trials[0].Trajectory.MainCalls().Completed)
	assert.Contains(t, tb.text(), "sound would have stopped at turn 2, call 2 with passed: the full run agrees")
}

// The published wrong stop: one answer holds the deciding call and, after it, a write.
func TestClaudeSiblingOfTheDecidingCall(t *testing.T) {
	for _, gap := range []time.Duration{0, 30 * time.Millisecond, 2 * time.Second} {
		for name, write := range map[string]script.Step{
			"quick": script.Write("out.txt", "x"),
			"slow":  script.Run("bash ./slow.sh"),
		} {
			t.Run(fmt.Sprintf("%v %s", gap, name), func(t *testing.T) {
				steps := []script.Step{
					script.Run("printf 'sleep 3; echo x > out.txt' > slow.sh"),
					script.Together(script.Skill("pdf"), script.Gap(gap), write),
					script.Write("late.txt", "x"),
				}
				both := func(e *evaltest.T) {
					e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
					e.Expect(criteria.FileExists("out.txt"))
				}
				r, tb, _ := onClaude(t, "armed", []evaltest.Option{there(map[string]bool{"out.txt": true, "late.txt": false})}, both, steps...)
				require.NotNil(t, r.Stop, tb.text())
				assert.False(t, tb.failed, tb.text())
				assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
				assert.Equal(t, 3, r.Trials[0].Trajectory.MainCalls().Completed, tb.text())

				full, tb, _ := onClaude(t, "off", nil, both, steps...)
				assert.Equal(t, full.Outcome, r.Outcome, tb.text())
			})
		}
	}
}

func TestClaudeDecidingCallInASubagent(t *testing.T) {
	inner := append([]script.Step{script.Skill("pdf")}, twenty()...)
	r, tb, requests := onClaude(t, "armed", nil, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
		e.Expect(criteria.FileExists("late.txt"))
	}, script.Agent("work", inner...), script.Write("late.txt", "x"))
	require.NotNil(t, r.Stop, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 2, answers(requests), "the sub-agent's second request is held")
}

func TestClaudeSubagentsBesideTheDecidingCall(t *testing.T) {
	beside := func(name string) script.Step {
		return script.Agent("write "+name, script.Run("echo 1 > "+name+"1.txt"), script.Run("bash ./slow.sh"), script.Run("echo 2 > "+name+"2.txt"))
	}
	r, tb, _ := onClaude(t, "armed", []evaltest.Option{there(map[string]bool{"a2.txt": true, "b2.txt": true, "late.txt": false})}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
		e.Expect(criteria.FileExists("late.txt"))
	}, script.Run("echo sleep 1 > slow.sh"), script.Together(script.Skill("pdf"), beside("a"), beside("b")), script.Write("late.txt", "x"))
	require.NotNil(t, r.Stop, tb.text())
	assert.False(t, tb.failed, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
}

func TestClaudeViolationWhileDraining(t *testing.T) {
	r, tb, requests := onClaude(t, "armed", []evaltest.Option{evaltest.MinScore(0.5)}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
		e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
		e.Expect(criteria.FileExists("late.txt"))
	}, script.Together(script.Skill("pdf"), script.Gap(100*time.Millisecond), script.Run("rm -f x")), script.Write("late.txt", "x"), script.Say("Bye."))
	assert.Nil(t, r.Stop, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 3, answers(requests), "the request that was held is released")
	assert.Equal(t, "Bye.", r.Reply)
}

func TestClaudeToolThatNeverEnds(t *testing.T) {
	begin := time.Now()
	r, tb, _ := onClaude(t, "armed", []evaltest.Option{evaltest.DrainTimeout(time.Second)}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
		e.Expect(criteria.FileExists("late.txt"))
	}, script.Run("echo sleep 600 > slow.sh"), script.Together(script.Skill("pdf"), script.Run("bash ./slow.sh")))
	require.NotNil(t, r.Stop, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 1, r.Trials[0].Trajectory.MainCalls().Unresolved)
	assert.Less(t, time.Since(begin), 2*time.Minute)
}

func TestClaudePrevent(t *testing.T) {
	r, tb, _ := onClaude(t, "sound", []evaltest.Option{there(map[string]bool{"keep.txt": true, "late.txt": false})}, func(e *evaltest.T) {
		e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")), evaltest.Prevent())
	}, script.Write("keep.txt", "x"), script.Run("rm keep.txt"), script.Write("late.txt", "x"))
	require.NotNil(t, r.Stop, tb.text())
	assert.NotContains(t, tb.text(), "TearDown")
	assert.Equal(t, evaltest.OutcomeFailed, r.Outcome)
	assert.Equal(t, 1, r.Trials[0].Trajectory.MainCalls().Denied)
}

func TestClaudeTurnLimit(t *testing.T) {
	r, tb, requests := onClaude(t, "off", []evaltest.Option{evaltest.MaxTurns(5)}, func(e *evaltest.T) {
		e.Expect(criteria.FileExists("5.txt"))
	}, twenty()...)
	assert.Equal(t, "turns: 5 of 5", r.Limit, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	assert.Equal(t, 5, answers(requests))
}
