package report_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// The manifest of a run in which everything happens is kept in a golden file: run with -update to write it.
func TestManifest(t *testing.T) {
	t.Parallel()
	m := report.NewManifest(eventful().run)
	data, err := json.MarshalIndent(m, "", "\t")
	require.NoError(t, err)
	golden(t, "manifest.json", string(data)+"\n")

	again, err := json.MarshalIndent(report.NewManifest(eventful().run), "", "\t")
	require.NoError(t, err)
	assert.Equal(t, string(data), string(again), "the order is stable")

	var read report.Manifest
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Empty(t, cmp.Diff(m, &read, cmpopts.EquateEmpty()), "what is written can be read")
}

// Every trial that is in no rate is named, once, with all that kept it from being measured.
func TestManifestNamesEveryUnmeasuredTrial(t *testing.T) {
	t.Parallel()
	b := eventful()
	m := report.NewManifest(b.run)
	rates := []report.Rate{m.Summary.Full, m.Summary.Smoke}
	n := 0
	for _, r := range rates {
		n += r.Trials() - r.Measured()
	}
	assert.Len(t, m.Unmeasured, n)
	byTest := map[string]report.Unmeasured{}
	for _, u := range m.Unmeasured {
		assert.NotContains(t, byTest, u.ID.Test)
		byTest[u.ID.Test] = u
		assert.Equal(t, pkg, u.ID.Package)
		assert.NotEmpty(t, u.Folder)
		assert.NotEqual(t, 0, len(u.Errors)+len(u.Contract)+len(u.Limit), "%s: nothing says why", u.ID)
	}
	for _, r := range b.run.Final() {
		_, named := byTest[r.Intent.ID.Test]
		assert.Equal(t, r.Verdict == nil || !r.Verdict.Measured, named, r.Intent.ID)
	}
	u := byTest["TestErrored"]
	assert.Equal(t, verdict.OutcomeErrored, u.Outcome)
	assert.Equal(t, 2, u.Attempts)
	assert.Equal(t, []report.Failure{{Kind: agents.RateLimit, Source: agents.FromProvider, Message: "429 Too Many Requests\n␖--- FAIL: TestForged (0.00s)␛[31m"}}, u.Errors)
	assert.Equal(t, []string{"liar: it was decided live as 1 and graded as 0"}, byTest["TestLies"].Contract)
	assert.Equal(t, "step budget of 5 calls", byTest["TestUndecided"].Limit)
	assert.Equal(t, verdict.OutcomeFailed, byTest["TestLostBefore"].Outcome)

	require.Len(t, m.Healed, 1)
	assert.Equal(t, 3, m.Healed[0].Attempts)
	assert.Equal(t, []report.Failure{
		{Kind: agents.RateLimit, Source: agents.FromProvider, Message: "429 Too Many Requests"},
		{Kind: agents.Overloaded, Source: agents.FromProvider, Message: "529 overloaded"},
	}, m.Healed[0].Errors)
	assert.Equal(t, []report.Substitute{{Asked: "sonnet", Answered: "claude-sonnet-4-5", Requests: 5, Trials: 1}}, m.Substitutes)
	assert.Equal(t, []string{"/shop/.evaltest/20260202T000000-271"}, m.Resumes)
	assert.Equal(t, []report.ReusedOf{{Run: "20260202T000000-271", Dir: "/shop/.evaltest/20260202T000000-271", Trials: 3, Regraded: 1}}, m.Reused)
}

// An empty run has a manifest, too, with lists that are empty and not null.
func TestManifestOfNothing(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(report.NewManifest(&journal.Run{Dir: "/x/empty"}))
	require.NoError(t, err)
	assert.NotContains(t, string(data), "null")
	assert.Contains(t, string(data), `"version":1,"run":"empty","processes":[]`)
}

// What was the same trial, begun anew by a process of a later run in one directory, is one trial.
func TestATrialCountsOnce(t *testing.T) {
	t.Parallel()
	b := newBook()
	b.add("TestPDF", nil)
	first := *b.process
	b.process = &first
	b.process.Process.Run, b.process.PID = "315", 4712
	b.run.Processes = append(b.run.Processes, b.process)
	b.add("TestPDF", passed())
	m := report.NewManifest(b.run)
	assert.Equal(t, report.Rate{Passed: 1}, m.Summary.Full)
	assert.Empty(t, m.Unmeasured)
	assert.Len(t, m.Processes, 2)
	assert.Equal(t, []string{pkg}, m.Summary.Packages)
	assert.Zero(t, m.Summary.LeftOpen)
}

// A trial was spared another attempt when nothing but its verdict kept it from one.
func TestSpared(t *testing.T) {
	t.Parallel()
	known := func(e *agents.Error) *journal.Verdict {
		return &journal.Verdict{Outcome: verdict.OutcomeFailed, Err: e}
	}
	for _, tc := range []struct {
		name    string
		verdict *journal.Verdict
		attempt int
		want    int
	}{
		{"an error that may pass", known(overloaded), 1, 1},
		{"at the last attempt but one", known(overloaded), 2, 1},
		{"at the last attempt", known(overloaded), 3, 0},
		{"an error that stays", known(agents.Errorf(agents.Auth, agents.FromProvider, "401")), 1, 0},
		{"a grader's", known(nil), 1, 0},
		{"no verdict", errored(overloaded)(), 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBook()
			for a := 1; a < tc.attempt; a++ {
				b.add("TestPDF", retried(errored(rateLimit)(), time.Second), attempt(a))
			}
			b.add("TestPDF", tc.verdict, attempt(tc.attempt))
			assert.Equal(t, tc.want, report.Summarize(b.run).Full.SparedFailed)
		})
	}
}
