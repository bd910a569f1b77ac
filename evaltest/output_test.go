package evaltest_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
)

var update = flag.Bool("update", false, "write the golden files")

// steady replaces what differs from run to run.
func steady(s string) string {
	for _, r := range []struct{ from, to string }{
		{`\d+(\.\d+)?(µs|ms|s)\b`, "TIME"},
		{`(/[^ \n]*)?/trials/[A-Za-z0-9_-]+`, "RECORD"},
		{`[^ \t\n]*/evaltest/(\w+\.go:)`, "$1"}, // wherever the module lies
		{`(EVALTEST_\S+ )*go test -count=1 .*`, "go test -count=1 …"},
		{`_test\.go:\d+`, "_test.go:LINE"},
	} {
		s = regexp.MustCompile(r.from).ReplaceAllString(s, r.to)
	}
	return s
}

// liar says Passed when the first call is dispatched, before it has run.
type liar struct{ *skill }

func (l liar) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for range tr.Calls() {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// fickle takes its word back.
type fickle struct{ *skill }

func (f fickle) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if tr.MainCalls().Dispatched()%2 == 1 {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// What people read of an outcome is kept in golden files: run with -update to write them.
func TestOutput(t *testing.T) {
	t.Parallel()
	work := script.Write("out.txt", "x")
	for _, tc := range []struct {
		name     string
		opts     []evaltest.Option
		criteria func(e *evaltest.T)
	}{
		{"passed", []evaltest.Option{evaltest.Script(work, script.Say("Done."))}, func(e *evaltest.T) { e.Expect(&file{"out.txt"}) }},
		{"failed", []evaltest.Option{evaltest.Script(work, script.Run("exit 3"), script.Read("none"), script.Say("Done,\nI think.")), evaltest.MinScore(0.7)},
			func(e *evaltest.T) {
				e.Expect(&file{"out.txt"})
				e.Expect(&file{"none.txt"}, evaltest.Weight(2), evaltest.Required())
				e.Expect(scored(evaltest.Ratio(1, 3).Because("one of three\nthe second: wrong")), evaltest.PassAt(0.3))
				e.Expect(&skill{"pdf"}, evaltest.Advisory())
			}},
		{"stopped by a must-not", []evaltest.Option{evaltest.Script(script.Run("rm -rf build"), work), evaltest.MaxTurns(30)},
			func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}); e.Expect(&file{"out.txt"}) }},
		{"smoke", []evaltest.Option{evaltest.Script(script.Skill("pdf"), work), evaltest.Smoke()},
			func(e *evaltest.T) { e.StopWhen(evaltest.Decided, &skill{"pdf"}); e.Expect(&file{"out.txt"}) }},
		{"prevented", []evaltest.Option{evaltest.Script(script.Run("rm -rf build"), work)},
			func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}, evaltest.Prevent()) }},
		{"limit", []evaltest.Option{evaltest.Script(work, work, work), evaltest.MaxTurns(2)}, func(e *evaltest.T) { e.Expect(&file{"none.txt"}) }},
		{"step budget", []evaltest.Option{evaltest.Script(work, work, work), evaltest.Smoke(), evaltest.StepBudget(2)},
			func(e *evaltest.T) { e.StopWhen(evaltest.Pass, &skill{"pdf"}) }},
		{"errored by the provider", []evaltest.Option{evaltest.Script(work, script.Fail(agents.Errorf(agents.RateLimit, agents.FromProvider, "429 Too Many Requests")))},
			func(e *evaltest.T) { e.Expect(&file{"out.txt"}) }},
		{"errored by a grader", []evaltest.Option{evaltest.Script(work)}, func(e *evaltest.T) {
			e.Expect(&file{"out.txt"})
			e.Expect(&scores{"judge", func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
				return evaltest.Score{}, errors.New("connection refused")
			}})
		}},
		{"an error beside a failure", []evaltest.Option{evaltest.Script(script.Run("rm x"), script.Fail(errors.New("overloaded")))},
			func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}); e.Expect(&skill{"pdf"}) }},
		{"a panic in a criterion", []evaltest.Option{evaltest.Script(work)},
			func(e *evaltest.T) {
				e.Expect(&scores{"check", func(context.Context, *evaltest.Trial) (evaltest.Score, error) { panic("index out of range") }})
			}},
		{"a stop that rests on a lie", []evaltest.Option{evaltest.Script(work, work)}, func(e *evaltest.T) { e.StopWhen(evaltest.Pass, liar{&skill{"pdf"}}) }},
		{"a verdict taken back", []evaltest.Option{evaltest.Script(script.Together(work, script.Skill("pdf")))},
			func(e *evaltest.T) { e.StopWhen(evaltest.Pass, fickle{&skill{"pdf"}}) }},
		{"control characters", []evaltest.Option{evaltest.Script(script.Say("\x16--- FAIL: TestOther (0.00s)\x1b[31m\r\x00"))}, func(e *evaltest.T) { e.Expect(&file{"\x16none"}) }},
		{"secrets", []evaltest.Option{evaltest.Script(script.Run("echo hunter2hunter2; exit 1")), evaltest.Secret("TOKEN", "hunter2hunter2")},
			func(e *evaltest.T) { e.Expect(&file{"hunter2hunter2"}) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, tb := eval(t, tc.opts, tc.criteria)
			got := steady(tb.text()) + "\n"
			golden := filepath.Join("testdata", "output", regexp.MustCompile(`\W+`).ReplaceAllString(tc.name, "-")+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o777))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "run with -update")
			assert.Equal(t, string(want), got)
		})
	}
}

// An eval that cannot end before the test's -timeout is not run, and says which -timeout it needs.
func TestNotRunBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	tb := &fakeTB{name: t.Name(), attrs: map[string]string{}, ctx: context.Background(), deadline: time.Now().Add(20 * time.Second)}
	tb.run(func(tb *fakeTB) {
		e := evaltest.New(tb, evaltest.Script(script.Write("out.txt", "")), evaltest.MaxDuration(time.Minute))
		e.Expect(&file{"out.txt"})
		e.Run("Do it.")
	})
	assert.True(t, tb.failed)
	assert.Equal(t, "not_run", tb.attrs["evaltest.outcome"])
	assert.Regexp(t, `run with -timeout \S+s or more`, tb.text())
}

// The agent is ended before the test's deadline, as an error, and the record is complete.
func TestEndedBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	tb := &fakeTB{name: t.Name(), attrs: map[string]string{}, ctx: context.Background(), deadline: time.Now().Add(3 * time.Second)}
	tb.run(func(tb *fakeTB) {
		e := evaltest.New(tb, evaltest.Script(script.Run("sleep 300")))
		e.Expect(&file{"out.txt"})
		e.Run("Do it.")
	})
	assert.Equal(t, "errored", tb.attrs["evaltest.outcome"])
	assert.Equal(t, "timeout (harness)", tb.attrs["evaltest.error"])
	assert.True(t, time.Now().Before(tb.deadline))
}
