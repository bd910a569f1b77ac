package evaltest_test

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
)

// A mistake in how evaltest is used ends the test at the author's line, and says what to do.
//
//nolint:evaltest // the mistakes are what is tested
func TestMisuseIsReportedAtTheAuthorsLine(t *testing.T) {
	t.Parallel()
	pass := scored(evaltest.PassIf(true))
	idle := evaltest.Script()
	for _, tc := range []struct {
		name string
		want string
		f    func(tb *fakeTB)
	}{
		{"weight of zero", "weight 0 is not a positive number", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.Weight(0)) }},
		{"negative weight", "weight -1 is not", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.Weight(-1)) }},
		{"weight NaN", "weight NaN is not", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.Weight(math.NaN())) }},
		{"infinite weight", "weight +Inf is not", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.Weight(math.Inf(1))) }},
		{"threshold of zero", "threshold 0 is not in (0, 1]", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.PassAt(0)) }},
		{"threshold above one", "threshold 1.1 is not in (0, 1]", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.PassAt(1.1)) }},
		{"threshold NaN", "threshold NaN is not", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.PassAt(math.NaN())) }},
		{"gate threshold", "MinScore: threshold 2", func(tb *fakeTB) { evaltest.New(tb, idle, evaltest.MinScore(2)) }},
		{"timeout", "Timeout(0s)", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.Timeout(0)) }},
		{"limit of zero", "MaxTurns(0): a limit is a positive number", func(tb *fakeTB) { evaltest.New(tb, idle, evaltest.MaxTurns(0)) }},
		{"empty gate", "asks for nothing", func(tb *fakeTB) { evaltest.New(tb, idle).Run("go") }},
		{"only advisory", "asks for nothing", func(tb *fakeTB) {
			e := evaltest.New(tb, idle)
			e.Expect(pass, evaltest.Advisory())
			e.Run("go")
		}},
		{"pass out of reach", "StopWhen(Pass, …): never runs rm can reach Fail", func(tb *fakeTB) { evaltest.New(tb, idle).StopWhen(evaltest.Pass, &never{"rm"}) }},
		{"fail out of reach", "StopWhen(Fail, …): uses skill x can reach Pass", func(tb *fakeTB) { evaltest.New(tb, idle).StopWhen(evaltest.Fail, &skill{"x"}) }},
		{"no polarity", "the polarity is 0x0", func(tb *fakeTB) { evaltest.New(tb, idle).StopWhen(0, &skill{"x"}) }},
		{"smoke with nothing armed", "Smoke: nothing is armed", func(tb *fakeTB) {
			e := evaltest.New(tb, idle, evaltest.Smoke())
			e.Expect(pass)
			e.Run("go")
		}},
		{"criterion after Run", "Expect after Run", func(tb *fakeTB) {
			e := evaltest.New(tb, idle)
			e.Expect(pass)
			e.Run("go")
			e.Expect(pass)
		}},
		{"arming after Run", "StopWhen after Run", func(tb *fakeTB) {
			e := evaltest.New(tb, idle)
			e.Expect(pass)
			e.Run("go")
			e.StopWhen(evaltest.Pass, &skill{"x"})
		}},
		{"workspace after Run", "Workspace after Run", func(tb *fakeTB) {
			e := evaltest.New(tb, idle)
			e.Expect(pass)
			e.Run("go")
			e.Workspace(fstest.MapFS{})
		}},
		{"second Run", "a second Run", func(tb *fakeTB) {
			e := evaltest.New(tb, idle)
			e.Expect(pass)
			e.Run("go")
			e.Run("go")
		}},
		{"no prompt", "at least one prompt", func(tb *fakeTB) {
			e := evaltest.New(tb, idle)
			e.Expect(pass)
			e.Run()
		}},
		{"never run", "the eval made at", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass) }},
		{"advisory and required", "cannot be Advisory and Required", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(pass, evaltest.Advisory(), evaltest.Required()) }},
		{"no such skills", "Skills: ", func(tb *fakeTB) { evaltest.New(tb, idle, evaltest.Skills("testdata/none")) }},
		{"a folder that is not there", "Workspace of testdata/none: ", func(tb *fakeTB) { evaltest.New(tb, idle).Workspace(os.DirFS("testdata/none")) }},
		{"nil criterion", "the criterion is nil", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(nil) }},
		{"nil pointer", "the criterion is nil", func(tb *fakeTB) { evaltest.New(tb, idle).StopWhen(evaltest.Pass, (*skill)(nil)) }},
		{"nil option", "an option is nil", func(tb *fakeTB) { evaltest.New(tb, nil) }},
		{"nil agent", "Agent(nil)", func(tb *fakeTB) { evaltest.New(tb, evaltest.Agent(nil)) }},
		{"nil workspace", "Workspace(nil)", func(tb *fakeTB) { evaltest.New(tb, idle).Workspace(nil) }},
		{"missing workspace", "no such file", func(tb *fakeTB) { evaltest.New(tb, idle).WorkspaceDir("testdata/none") }},
		{"env without value", `Env "X": write it as KEY=value`, func(tb *fakeTB) { evaltest.New(tb, evaltest.Env("X")) }},
		{"server without a way", "MCPServer: it needs", func(tb *fakeTB) { evaltest.New(tb, evaltest.MCPServer(agents.MCPServer{Name: "db"})) }},
		{"prevent a pass", "Prevent: it is for StopWhen(Fail, …)", func(tb *fakeTB) {
			evaltest.New(tb, idle).StopWhen(evaltest.Pass, &skill{"x"}, evaltest.Prevent())
		}},
		{"prevent without a gate", "agent mute has no permission gate", func(tb *fakeTB) {
			evaltest.New(tb, evaltest.Agent(mute{})).StopWhen(evaltest.Fail, &never{"rm"}, evaltest.Prevent())
		}},
		{"hidden sub-agents", "agent mute hides what its sub-agents do", func(tb *fakeTB) {
			evaltest.New(tb, evaltest.Agent(mute{})).StopWhen(evaltest.Fail, needs{&never{"rm"}, []agents.Kind{agents.Execute}})
		}},
		{"hidden kind", "agent mute does not show calls of kind skill", func(tb *fakeTB) {
			evaltest.New(tb, evaltest.Agent(mute{})).StopWhen(evaltest.Fail, needs{&never{"rm"}, []agents.Kind{agents.Skill}})
		}},
		{"built from parts that do not fit", "parts do not fit", func(tb *fakeTB) { evaltest.New(tb, idle).Expect(broken{pass}) }},
		{"cost without a price", "MaxCost: agent rich does not say what it costs", func(tb *fakeTB) {
			evaltest.New(tb, evaltest.Agent(named{"rich"}), evaltest.MaxCost(1))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tb := inFake("TestAuthor", tc.f)
			require.True(t, tb.failed)
			last := tb.log[len(tb.log)-1]
			assert.Contains(t, last, "evaltest: MISUSE: ")
			assert.Contains(t, last, tc.want)
			if tc.name == "never run" { // nobody's line: it is found out when the test is over
				assert.Contains(t, last, "misuse_test.go:")
			} else {
				assert.Equal(t, "misuse_test.go", strings.Split(tb.lines[len(tb.lines)-1], ":")[0])
			}
			assert.NotContains(t, tb.text(), "FAILED")
		})
	}
}

// A test that panics, or ends its goroutine, before Run says so itself.
func TestForgottenByAPanic(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(){"panic": func() { panic("no map") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tb := &fakeTB{name: "TestAuthor", attrs: map[string]string{}, ctx: t.Context()}
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				defer func() { // as the testing package does
					for _, f := range slices.Backward(tb.cleanups) {
						f()
					}
				}()
				evaltest.New(tb, evaltest.Script())
				leave()
			}()
			<-done
			require.Empty(t, tb.text())
			require.False(t, tb.failed)
		})
	}
}

// An option typed for one place does not compile in another: see ExampleT_StopWhen. What does compile is checked here.
func TestMisuseInsideACriterionIsItsAuthorsError(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, want string
		f          func(e *evaltest.T) (evaltest.Score, error)
	}{
		{"Errorf on the eval", "the eval's own T was used inside a criterion", func(e *evaltest.T) (evaltest.Score, error) {
			e.Errorf("wrong")
			return evaltest.PassIf(true), nil
		}},
		{"FailNow on the eval", "the eval's own T was used inside a criterion", func(e *evaltest.T) (evaltest.Score, error) {
			e.FailNow()
			return evaltest.PassIf(true), nil
		}},
		{"Fatal on the eval", "the eval's own T was used inside a criterion", func(e *evaltest.T) (evaltest.Score, error) {
			e.Fatal("no")
			return evaltest.PassIf(true), nil
		}},
		{"the test itself", "the test itself was failed inside a criterion", func(e *evaltest.T) (evaltest.Score, error) {
			e.TB.Fail()
			return evaltest.PassIf(true), nil
		}},
		{"panic", "panic: oh", func(*evaltest.T) (evaltest.Score, error) { panic("oh") }},
		{"score above one", "Points(2) is not in [0, 1]", func(*evaltest.T) (evaltest.Score, error) { return evaltest.Points(2), nil }},
		{"score NaN", "Points(NaN) is not in [0, 1]", func(*evaltest.T) (evaltest.Score, error) { return evaltest.Points(math.NaN()), nil }},
		{"ratio of none", "Ratio(0, 0) is not in [0, 1]", func(*evaltest.T) (evaltest.Score, error) { return evaltest.Ratio(0, 0), nil }},
		{"author's error", "bad pattern", func(*evaltest.T) (evaltest.Score, error) {
			return evaltest.Score{}, evaltest.AuthorError("bad pattern")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tb := inFake("TestAuthor", func(tb *fakeTB) {
				e := evaltest.New(tb, evaltest.Script(script.Say("hi")), evaltest.OnError("skip"))
				e.Expect(&scores{"check", func(_ context.Context, _ *evaltest.Trial) (evaltest.Score, error) { return tc.f(e) }})
				e.Run("go")
			})
			assert.True(t, tb.failed, "an author's error is red, even where errors are skipped")
			assert.Contains(t, tb.text(), tc.want)
			assert.Contains(t, tb.text(), "ERROR")
			assert.Contains(t, tb.text(), "(author)")
			assert.Contains(t, tb.attrs["evaltest.outcome"], "errored")
		})
	}
}

// A grader that fails gives no score: it is never a 0.
func TestAGradersErrorIsNoVerdict(t *testing.T) {
	t.Parallel()
	judge := &scores{"judge", func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
		return evaltest.Score{}, errors.New("the judge is away")
	}}
	for _, tc := range []struct {
		name    string
		opts    []evaltest.Option
		expect  func(e *evaltest.T)
		outcome string
		failed  bool
		skipped bool
	}{
		{"the verdict hangs on it", nil, func(e *evaltest.T) {}, "errored", true, false},
		{"skipped where errors are skipped", []evaltest.Option{evaltest.OnError("skip")}, func(e *evaltest.T) {}, "errored", false, true},
		{"the gate is lost without it", nil, func(e *evaltest.T) { e.Expect(&file{"none"}) }, "failed", true, false},
		{"the gate is won without it", []evaltest.Option{evaltest.MinScore(0.5)}, func(e *evaltest.T) { e.Expect(scored(evaltest.PassIf(true)), evaltest.Weight(3)) }, "passed", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tb := inFake("TestJudge", func(tb *fakeTB) {
				e := evaltest.New(tb, append(tc.opts, evaltest.Script())...)
				e.Expect(judge)
				tc.expect(e)
				e.Run("go")
			})
			assert.Equal(t, tc.outcome, tb.attrs["evaltest.outcome"])
			assert.Equal(t, tc.failed, tb.failed)
			assert.Equal(t, tc.skipped, tb.skipped)
		})
	}
}

// A grader that hangs is ended by its timeout.
func TestAGraderThatHangsTimesOut(t *testing.T) {
	t.Parallel()
	tb := inFake("TestHang", func(tb *fakeTB) {
		e := evaltest.New(tb, evaltest.Script())
		e.Expect(&scores{"hangs", func(context.Context, *evaltest.Trial) (evaltest.Score, error) { select {} }}, evaltest.Timeout(20*time.Millisecond))
		e.Run("go")
	})
	assert.Equal(t, "timeout (grader)", tb.attrs["evaltest.error"])
}
