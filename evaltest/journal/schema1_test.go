package journal

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// testdata/schema1 was written by the last version that wrote schema 1. Only paths and names of the machine were replaced.
func TestAJournalOfSchema1(t *testing.T) {
	t.Parallel()
	run, err := Read("testdata/schema1")
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	type read struct {
		outcome                     verdict.Outcome
		measured, complete, settled bool
	}
	want := map[string]read{
		"TestPassed":                   {verdict.OutcomePassed, true, true, true}, // an advisory criterion's error has no part in it
		"TestFailed":                   {verdict.OutcomeFailed, true, true, true},
		"TestStopped":                  {verdict.OutcomeFailed, true, true, true},
		"TestFailedBesideABrokenJudge": {verdict.OutcomeFailed, false, true, false},
		"TestErroredByItsJudge":        {verdict.OutcomeErrored, false, false, false},
		"TestErroredByItsProvider":     {verdict.OutcomeErrored, false, false, false},
		"TestFailedBeforeItsProvider":  {verdict.OutcomeFailed, false, false, false},
		"TestUndecided":                {verdict.OutcomeUndecided, false, false, true},
		"TestZEndsTheProcess":          {verdict.OutcomeErrored, false, false, false},
	}
	got := map[string]read{}
	for _, tr := range run.Final() {
		r := read{outcome: tr.Outcome(), settled: tr.Settled()}
		if v := tr.Verdict; v != nil {
			r.measured, r.complete = v.Measured, v.Complete
			assert.Equal(t, tr.Intent.ID, v.ID)
		}
		got[tr.Intent.ID.Test] = r
		assert.True(t, tr.Intent.Fingerprint.IsZero(), "nothing of it is taken over as it is")
		assert.Equal(t, "every criterion passes", tr.Intent.Gate)
		assert.Equal(t, "example.com/shop/evals", tr.Process.Package)
		assert.Empty(t, tr.Grading)
	}
	assert.Equal(t, want, got)
	last := run.Trials[len(run.Trials)-1]
	assert.EqualError(t, last.Err(), "interrupted (harness): the test process ended before the verdict")
	stopped := run.Trials[2]
	assert.Equal(t, []string{`file contains "total" (out.csv)`}, stopped.Verdict.Stop.Open)
	changes, err := stopped.Changes()
	require.NoError(t, err)
	assert.Empty(t, changes)

	base, err := openAt(t, t.TempDir()).Resume(run.Dir)
	require.NoError(t, err)
	found := base.Find(stopped.Intent.ID)
	require.Len(t, found, 1)
	assert.True(t, found[0].Verdict.Measured)
	assert.Equal(t, stopped.Dir, found[0].Dir)
}

// Of two criteria with one name, the one that the gate asks for counts.
func TestSchema1WithTwoCriteriaOfOneName(t *testing.T) {
	t.Parallel()
	run, err := read(t, []byte(`{"v":1,"type":"intent","trial":"t","data":{"folder":"t","criteria":[{"name":"c"},{"name":"c","advisory":true}]}}
{"v":1,"type":"criterion","trial":"t","data":{"name":"c","verdict":"passed","violation":"it lied"}}
{"v":1,"type":"verdict","trial":"t","data":{"outcome":"passed"}}
`))
	require.NoError(t, err)
	require.Empty(t, run.Problems)
	assert.False(t, run.Trials[0].Verdict.Measured)
}
