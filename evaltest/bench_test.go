package evaltest_test

import (
	"context"
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// A scripted trial of one step with its journal: harness-ms is the harness's own share of it, what neither the agent nor a
// criterion took.
func BenchmarkTrial(b *testing.B) {
	for _, step := range []struct {
		name string
		step script.Step
	}{{"write", script.Write("out.txt", "x")}, {"command", script.Run("echo x > out.txt")}} {
		b.Run(step.name, func(b *testing.B) {
			var whole, harness time.Duration
			for b.Loop() {
				var r *evaltest.Result
				tb := inFake("BenchmarkTrial", func(tb *fakeTB) {
					e := evaltest.New(tb, evaltest.Script(step.step))
					e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
					e.Expect(criteria.FileExists("out.txt"))
					r = e.Run("Write out.txt.")
				})
				if tb.failed {
					b.Fatal(tb.text())
				}
				whole += r.Trials[0].Took
				harness += r.Trials[0].Harness
			}
			b.ReportMetric(float64(whole.Microseconds())/1000/float64(b.N), "trial-ms")
			b.ReportMetric(float64(harness.Microseconds())/1000/float64(b.N), "harness-ms")
		})
	}
}

// From the deciding event to the last process gone, for the real Claude Code with its model played by a script.
func BenchmarkClaudeStop(b *testing.B) {
	agent := needsClaude(b)
	b.Setenv("EVALTEST_GATEWAY", "script")
	var took time.Duration
	for b.Loop() {
		var gone time.Time
		opts := []evaltest.Option{agent, evaltest.Script(twenty()...), evaltest.TearDown(func(context.Context, *evaltest.Trial) error {
			gone = time.Now()
			return nil
		})}
		r, tb := eval(b, opts, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf")) })
		if r == nil || r.Stop == nil {
			b.Fatal(tb.text())
		}
		took += gone.Sub(r.Trials[0].Trajectory.Event(r.Stop.Length - 1).Time)
	}
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "stop-ms")
}
