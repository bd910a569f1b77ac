package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// eventful is a run in which everything happens.
func eventful() *journal.Run {
	policy := journal.Policy{OnError: "skip", Retries: 2}
	second := 1500 * time.Millisecond
	usage := agents.Usage{InputTokens: 100, CachedTokens: 50, OutputTokens: 10, Cost: 0.5}
	verdicts := []*journal.Verdict{
		{Outcome: verdict.OutcomePassed, Measured: true, Usage: usage, Took: time.Second, Stop: &journal.Stop{TurnsLeft: 7}},
		{Outcome: verdict.OutcomeFailed, Measured: true, Usage: usage, Requests: &journal.Requests{N: 3, Models: []journal.AnsweredModel{{Asked: "m", Answered: "m-20260101", N: 2}},
			Failures: []journal.RequestFailure{{N: 1, Kind: agents.Overloaded, Overcome: true}}}},
		{Outcome: verdict.OutcomePassed, Measured: true, Smoke: true},
		{Outcome: verdict.OutcomeFailed, Err: agents.Errorf(agents.Network, agents.FromProvider, "cut\x16--- FAIL: forged\nmore")},
		{Outcome: verdict.OutcomeUndecided, Limit: "step budget"},
		{Outcome: verdict.OutcomeNotRun, Err: agents.Errorf(agents.Auth, agents.FromProvider, "2 errors in a row")},
		{Outcome: verdict.OutcomeErrored, Err: agents.Errorf(agents.Auth, agents.FromProvider, "no such key"), RetryIn: &second, Usage: usage, Took: 2 * time.Second},
		{Outcome: verdict.OutcomePassed, Measured: true, Usage: usage},
		nil,
		{Outcome: verdict.OutcomePassed, Measured: true, Usage: usage, Reused: &journal.Reused{Run: "before", Regraded: true}},
	}
	run := &journal.Run{Dir: "/x/20260203T040506-1", Processes: []*journal.ProcessRecord{process}}
	for i, v := range verdicts {
		r := recorded(i, v)
		r.Intent.Policy, r.Intent.Limits.Turns = policy, 10
		r.Intent.Agent = journal.Agent{Name: "claude", Version: "2", Upstream: "api.example.com"}
		run.Trials = append(run.Trials, r)
	}
	run.Trials[7].Intent.ID = run.Trials[6].Intent.ID // the second attempt of the same
	run.Trials[7].Intent.ID.Attempt = 2
	run.Trials[8].Grading = "the judge"
	run.Trials[1].Failures = []string{"want 3"}
	run.Trials[1].Criteria = []journal.CriterionResult{{Name: "x", Violation: "it changed its mind"}}
	run.Trials[0].Intent.Agent.Upstream = "direct: Bedrock"
	return run
}

func TestSummary(t *testing.T) {
	t.Parallel()
	want := `
evaltest: 9 trials of example.com/evals, run 20260203T040506-1
  full       passed 3 of 4 measured (75.0 %), coverage 4 of 8: between 37.5 % and 75.0 % of all
  smoke      passed 1 of 1 measured (100 %), coverage 1 of 1; these passed what was armed alone, and are in no other rate
  unmeasured 1 undecided, 1 errored, 1 not run, 1 with a verdict that an error had a part in
  contract   1 criterion result that broke the contract
  asserted   1 assertion on results failed
  error      1 × auth (provider) (1 not run): example.com/evals.Test0005: 2 errors in a row
  error      1 × interrupted (harness): example.com/evals.Test0008: the test process ended before the verdict, while it graded the judge
  error      1 × network (provider): example.com/evals.Test0003: cut�--- FAIL: forged more
  retries    1 attempt made again, which healed 1 trial and cost 160 tokens (50 cached), $0.5000, 2s of work and 1.5s of waiting
  overcome   1 request to models failed, and the agents' own retries overcame it
  stopped    1 trial early; at most 7 turns saved, by the limits of 1 of them
  reused     1 trial of an earlier run, 1 of them graded anew; they had cost 160 tokens (50 cached), $0.5000
  direct     1 trial of agents whose provider was not observed
  cost       640 tokens (200 cached), $2.0000; 3s of work in 9s`
	s := report.Summarize(eventful())
	assert.Equal(t, strings.TrimPrefix(want, "\n"), s.Text())
	assert.Contains(t, report.Summarize(eventful(), "example.com/other").Text(), "nothing was measured (coverage 0 of 0)")
}

func TestManifest(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(report.NewManifest(eventful()))
	require.NoError(t, err)
	var m report.Manifest
	require.NoError(t, json.Unmarshal(data, &m))
	require.Len(t, m.Unmeasured, 3)
	assert.Equal(t, "Test0003", m.Unmeasured[0].ID.Test)
	assert.Equal(t, agents.Auth, m.Unmeasured[1].Errors[0].Kind)
	assert.Equal(t, verdict.OutcomeNotRun, m.Unmeasured[1].Outcome)
	assert.Equal(t, agents.Interrupted, m.Unmeasured[2].Errors[0].Kind)
	require.Len(t, m.Policies, 1)
	assert.Equal(t, report.Policy{Policy: journal.Policy{OnError: "skip", Retries: 2}, Trials: 9}, m.Policies[0])
	require.Len(t, m.Agents, 2)
	assert.Equal(t, []string{"m-20260101"}, m.Agents[1].Answered)
	assert.Len(t, m.Healed, 1)
	assert.Equal(t, report.ManifestVersion, m.Version)
}

// BenchmarkSummary reads a run of 10,000 trials, and sums it up.
func BenchmarkSummary(b *testing.B) {
	dir := b.TempDir()
	j, err := journal.Open(journal.Options{Dir: dir})
	require.NoError(b, err)
	if _, err := os.Stat(dir); err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		t, err := j.Begin(journal.Intent{
			ID: journal.TrialID{Package: "example.com/evals", Test: fmt.Sprintf("Test%d", i), N: 1, Trial: 1, Attempt: 1}, Prompts: []string{strings.Repeat("Do it. ", 20)},
			Criteria: []journal.CriterionSpec{{Name: "one"}, {Name: "two"}}, Agent: journal.Agent{Name: "claude", Upstream: "api.example.com"},
			Fingerprint: journal.Fingerprint{Run: map[string]string{"prompts": "0123456789", "workspace": "0123456789"}, Grade: map[string]string{"binary": "0123456789"}},
		})
		require.NoError(b, err)
		for _, name := range []string{"one", "two"} {
			require.NoError(b, t.Criterion(journal.CriterionResult{Name: name, Score: verdict.Exactly(verdict.PassIf(true)), Verdict: verdict.Passed}))
		}
		require.NoError(b, t.Verdict(journal.Verdict{Outcome: verdict.OutcomePassed, Measured: true, Score: verdict.Exactly(verdict.PassIf(true)), Reply: strings.Repeat("Done. ", 30)}))
	}
	require.NoError(b, j.Close())
	b.ReportAllocs()
	for b.Loop() {
		run, err := journal.Read(dir)
		require.NoError(b, err)
		if n := report.Summarize(run).Full.Passed; n != 10_000 {
			b.Fatal(n)
		}
		_ = report.NewManifest(run)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
		runtime.KeepAlive(run)
	}
}
