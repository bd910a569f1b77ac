package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// recorded records attempts of a process: "A1 passed".
func recorded(tb testing.TB, j *Journal, attempts ...string) {
	tb.Helper()
	for _, a := range attempts {
		var test, o string
		var n int
		_, err := fmt.Sscanf(a, "%1s%d %s", &test, &n, &o)
		require.NoError(tb, err, a)
		if o == "open" {
			o = ""
		}
		attempt(tb, j, test, n, verdict.Outcome(o))
	}
}

func TestEachTrialOnceByItsLastAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		runs [][]string // into one directory, each by a process of its own run
		want []string
	}{
		{"attempts", [][]string{{"A1 errored", "B1 passed", "A2 errored", "A3 failed"}}, []string{"A3 failed", "B1 passed"}},
		{"killed in a retry", [][]string{{"A1 errored", "A2 open"}}, []string{"A2 open"}},
		{"run again", [][]string{{"A1 failed"}, {"A1 passed"}}, []string{"A1 passed"}},
		{"killed and resumed", [][]string{{"A1 passed", "B1 open"}, {"B1 errored", "B2 passed"}}, []string{"A1 passed", "B2 passed"}},
		{"settled once, and then an outage", [][]string{{"A1 failed"}, {"A1 errored", "A2 not_run"}}, []string{"A1 failed"}},
		{"never settled", [][]string{{"A1 open"}, {"A1 errored", "A2 errored"}, {"A1 not_run"}}, []string{"A1 not_run"}},
		{"settled in between", [][]string{{"A1 open"}, {"A1 undecided"}, {"A1 open"}}, []string{"A1 undecided"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := module(t)
			var dir string
			for i, attempts := range c.runs {
				j := runOf(t, root, "results", i+1)
				recorded(t, j, attempts...)
				dir = j.Dir()
			}
			run, err := Read(dir)
			require.NoError(t, err)
			var got []string
			for _, tr := range run.Final() {
				o := string(tr.Outcome())
				if tr.Verdict == nil {
					o = "open"
				}
				got = append(got, fmt.Sprintf("%s%d %s", tr.Intent.ID.Test, tr.Intent.ID.Attempt, o))
			}
			assert.Equal(t, c.want, got)
			attempts := 0
			for _, tr := range run.Final() {
				as := run.Attempts(tr)
				assert.Equal(t, tr, as[len(as)-1], "the last")
				assert.Equal(t, 1, as[0].Intent.ID.Attempt)
				attempts += len(as)
			}
			assert.LessOrEqual(t, attempts, len(run.Trials))
		})
	}
}

func TestTrialsThatDifferInOneThingAreTwo(t *testing.T) {
	t.Parallel()
	j := openAt(t, t.TempDir())
	id := TrialID{Package: "p", Test: "TestA", N: 1, Trial: 1, Attempt: 1}
	for _, id := range []TrialID{id, {"q", "TestA", 1, 1, 1}, {"p", "TestA/b", 1, 1, 1}, {"p", "TestA", 2, 1, 1}, {"p", "TestA", 1, 2, 1}} {
		tr, err := j.Begin(Intent{ID: id})
		require.NoError(t, err)
		require.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomePassed}))
	}
	run, err := Read(j.Dir())
	require.NoError(t, err)
	assert.Len(t, run.Final(), 5)
	assert.Len(t, run.Attempts(run.Trials[0]), 1)
}

func TestSettled(t *testing.T) {
	t.Parallel()
	soon := time.Second
	for _, c := range []struct {
		name string
		v    *Verdict
		want bool
	}{
		{"no verdict", nil, false},
		{"passed", &Verdict{Outcome: verdict.OutcomePassed, Measured: true}, true},
		{"failed", &Verdict{Outcome: verdict.OutcomeFailed, Measured: true}, true},
		{"failed, and an error had a part in it", &Verdict{Outcome: verdict.OutcomeFailed}, false},
		{"undecided", &Verdict{Outcome: verdict.OutcomeUndecided}, true},
		{"errored", &Verdict{Outcome: verdict.OutcomeErrored}, false},
		{"not run", &Verdict{Outcome: verdict.OutcomeNotRun}, false},
		{"to be tried again", &Verdict{Outcome: verdict.OutcomeFailed, Measured: true, RetryIn: &soon}, false},
	} {
		assert.Equal(t, c.want, (&TrialRecord{Verdict: c.v}).Settled(), c.name)
	}
}
