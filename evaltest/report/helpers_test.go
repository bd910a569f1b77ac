package report_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

var update = flag.Bool("update", false, "write the golden files")

const pkg = "example.com/shop/evals"

var begin = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// book is a run that is put together trial by trial. Each begins a second after the one before it, and takes two.
type book struct {
	run     *journal.Run
	process *journal.ProcessRecord
}

func newBook() *book {
	p := &journal.ProcessRecord{
		Process: journal.Process{Run: "314", Package: pkg, PID: 4711, Host: "ci", Go: "go1.26.8", OS: "linux", Arch: "amd64", Started: begin},
		File:    "journal-evals-4711-k3f9q2xa.jsonl",
	}
	return &book{&journal.Run{Dir: "/shop/.evaltest/20260203T040506-314", Processes: []*journal.ProcessRecord{p}}, p}
}

// add writes down an attempt at a trial of the named test; a nil verdict leaves it open.
func (b *book) add(test string, v *journal.Verdict, change ...func(r *journal.TrialRecord)) *journal.TrialRecord {
	at := begin.Add(time.Duration(len(b.run.Trials)) * time.Second)
	r := &journal.TrialRecord{Process: b.process, Verdict: v, Intent: journal.Intent{
		ID: journal.TrialID{Package: pkg, Test: test, N: 1, Trial: 1, Attempt: 1}, Started: at, Mode: verdict.Sound,
		Agent:  journal.Agent{Name: "claude", Version: "2.1.332", Model: "sonnet", Upstream: "api.example.com"},
		Policy: journal.Policy{OnError: "fail", Retries: 2},
		Folder: "trials/" + test,
	}}
	for _, c := range change {
		c(r)
	}
	if v != nil {
		v.ID, v.Took = r.Intent.ID, 2*time.Second
		if v.Ended.IsZero() {
			v.Ended = at.Add(v.Took)
		}
		if v.Usage == (agents.Usage{}) && v.Outcome != verdict.OutcomeNotRun {
			v.Usage = agents.Usage{InputTokens: 10, CachedTokens: 50, CacheWriteTokens: 20, OutputTokens: 5, Cost: 0.25}
		}
	}
	b.run.Trials = append(b.run.Trials, r)
	return r
}

// several adds n trials, of tests that are named by prefix and number.
func (b *book) several(n int, prefix string, v func() *journal.Verdict, change ...func(r *journal.TrialRecord)) {
	for i := range n {
		b.add(fmt.Sprintf("%s/%d", prefix, i), v(), change...)
	}
}

func passed() *journal.Verdict {
	return &journal.Verdict{Outcome: verdict.OutcomePassed, Measured: true, Complete: true}
}

func failed() *journal.Verdict {
	return &journal.Verdict{Outcome: verdict.OutcomeFailed, Measured: true, Complete: true}
}

func errored(e *agents.Error) func() *journal.Verdict {
	return func() *journal.Verdict { return &journal.Verdict{Outcome: verdict.OutcomeErrored, Err: e} }
}

func notRun(e *agents.Error) func() *journal.Verdict {
	return func() *journal.Verdict { return &journal.Verdict{Outcome: verdict.OutcomeNotRun, Err: e} }
}

// retried has another attempt follow, after a wait.
func retried(v *journal.Verdict, wait time.Duration) *journal.Verdict {
	v.RetryIn = &wait
	return v
}

func attempt(n int) func(r *journal.TrialRecord) {
	return func(r *journal.TrialRecord) { r.Intent.ID.Attempt = n }
}

// smoke makes it a trial that may pass by what is armed alone.
func smoke(r *journal.TrialRecord) {
	r.Intent.Mode = verdict.Armed
	r.Intent.Criteria = []journal.CriterionSpec{{Name: "first skill is pdf", Armed: "Pass|Fail"}, {Name: "out.csv exists"}}
}

var (
	rateLimit  = agents.Errorf(agents.RateLimit, agents.FromProvider, "429 Too Many Requests")
	overloaded = agents.Errorf(agents.Overloaded, agents.FromProvider, "529 overloaded")
	judgeGone  = agents.Errorf(agents.Judge, agents.FromGrader, "connection refused")
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with -update")
	assert.Equal(t, string(want), got)
}
