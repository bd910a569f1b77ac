package journal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// openAt opens a journal in dir and closes it at the end of the test.
func openAt(tb testing.TB, dir string) *Journal {
	tb.Helper()
	j, err := Open(Options{Dir: dir})
	require.NoError(tb, err)
	tb.Cleanup(func() { j.Close() })
	return j
}

func idOf(test string) TrialID {
	return TrialID{Package: "example.com/evals", Test: test, N: 1, Trial: 1, Attempt: 1}
}

func begin(tb testing.TB, j *Journal, test string) *Trial {
	tb.Helper()
	t, err := j.Begin(Intent{
		ID: idOf(test), Prompts: []string{"Extract the tables."}, Agent: Agent{Name: "scripted"},
		Criteria: []CriterionSpec{{Name: "c1"}}, Gate: "every criterion passes",
	})
	require.NoError(tb, err)
	return t
}

func result(n int) CriterionResult {
	return CriterionResult{Name: fmt.Sprintf("c%d", n), Score: verdict.Exactly(verdict.Ratio(1, n+1)), Verdict: verdict.Passed}
}

// wholeTrial writes a trial from intent to verdict.
func wholeTrial(tb testing.TB, j *Journal, test string, criteria int) *Trial {
	tb.Helper()
	t := begin(tb, j, test)
	fmt.Fprintln(t.TranscriptFile(), `{"a":"line"}`)
	for n := range criteria {
		require.NoError(tb, t.Criterion(result(n)))
	}
	require.NoError(tb, t.Verdict(Verdict{
		Outcome: verdict.OutcomePassed, Score: verdict.Exactly(verdict.Points(1)), Usage: agents.Usage{},
	}))
	return t
}
