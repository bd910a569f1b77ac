package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

var start = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// recorded makes the record of a trial.
func recorded(i int, v *journal.Verdict) *journal.TrialRecord {
	id := journal.TrialID{Package: "example.com/evals", Test: fmt.Sprintf("Test%04d", i), N: 1, Trial: 1, Attempt: 1}
	if v != nil {
		v.ID, v.Ended = id, start.Add(time.Duration(i)*time.Second)
	}
	return &journal.TrialRecord{
		Intent:  journal.Intent{ID: id, Started: start.Add(time.Duration(i) * time.Second), Folder: "trials/" + id.Test},
		Verdict: v, Process: process,
	}
}

var process = &journal.ProcessRecord{Process: journal.Process{Run: "r", Package: "example.com/evals", PID: 1}}

func outage(source agents.ErrorSource) *agents.Error {
	return agents.Errorf(agents.Overloaded, source, "no luck")
}

// simulate is a trial of an agent that passes with probability p. A forbidden act loses it somewhere in its course, and then
// it is known; a provider's outage ends it somewhere in its course, too; a judge's outage leaves it open, where a file that is
// missing does not decide it already. It returns its record, and whether it would have passed.
func simulate(rng *rand.Rand, i int, p, provider, judge float64) (*journal.TrialRecord, bool) {
	passes := rng.Float64() < p
	early := !passes && rng.IntN(2) == 0 // lost by a forbidden act, and not by the end state
	lostAt, endsAt := rng.Float64(), rng.Float64()
	v := &journal.Verdict{Outcome: verdict.OutcomeFailed}
	if passes {
		v.Outcome = verdict.OutcomePassed
	}
	switch {
	case rng.Float64() < provider: // in the middle of it
		v.Err = outage(agents.FromProvider)
		if !early || lostAt > endsAt {
			v.Outcome = verdict.OutcomeErrored
		}
	case rng.Float64() < judge:
		if passes || !early && rng.IntN(2) == 0 { // the other half is lost on a missing file
			v.Outcome = verdict.OutcomeErrored
		}
		v.Measured = false
		r := recorded(i, v)
		r.Criteria = []journal.CriterionResult{{Name: "judge", Err: outage(agents.FromGrader)}}
		return r, passes
	default:
		v.Measured = true
	}
	return recorded(i, v), passes
}

// Whatever part of the trials outages take, the rate among the measured is the true one in expectation, and the interval holds
// the rate that the whole suite would have had. Counting every trial whose verdict is known would not be so.
func TestRatesAreUnbiased(t *testing.T) {
	t.Parallel()
	suites, trials := 10_000, 20
	if testing.Short() {
		suites = 1000
	}
	biased := 0
	for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		for _, rate := range []float64{0.05, 0.2, 0.4} {
			for name, out := range map[string][2]float64{"provider": {rate, 0}, "judge": {0, rate}, "both": {rate, rate}} {
				rng := rand.New(rand.NewPCG(uint64(p*100), uint64(rate*100)))
				var passed, measured, known, knownPassed float64
				for range suites / 5 { // five rates, three outages, three kinds: all in all many times ten thousand
					run := &journal.Run{Dir: "/r"}
					would := 0
					for i := range trials {
						r, passes := simulate(rng, i, p, out[0], out[1])
						run.Trials = append(run.Trials, r)
						if passes {
							would++
						}
						if o := r.Verdict.Outcome; o != verdict.OutcomeErrored {
							known++
							if o == verdict.OutcomePassed {
								knownPassed++
							}
						}
					}
					full := report.Summarize(run).Full
					require.Equal(t, trials, full.Trials())
					lo, hi := full.Bounds()
					truth := float64(would) / float64(trials)
					require.LessOrEqual(t, lo, truth)
					require.GreaterOrEqual(t, hi, truth)
					passed += float64(full.Passed)
					measured += float64(full.Measured())
				}
				got, tolerance := passed/measured, 4*math.Sqrt(p*(1-p)/measured)
				assert.InDelta(t, p, got, tolerance, "%s outages of %v at a true rate of %v", name, rate, p)
				if math.Abs(knownPassed/known-p) > tolerance {
					biased++
				}
			}
		}
	}
	assert.Greater(t, biased, 20, "the rate among all whose verdict is known would be wrong")
}

func TestRate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rate report.Rate
		want string
	}{
		{report.Rate{}, "nothing was measured (coverage 0 of 0)"},
		{report.Rate{Errored: 10}, "nothing was measured (coverage 0 of 10)"},
		{report.Rate{Passed: 1, Errored: 9}, "passed 1 of 1 measured (100 %), coverage 1 of 10: between 10.0 % and 100 % of all"},
		{report.Rate{Passed: 62, Failed: 7, Errored: 31}, "passed 62 of 69 measured (89.9 %), coverage 69 of 100: between 62.0 % and 93.0 % of all"},
		{report.Rate{Passed: 2, Failed: 1}, "passed 2 of 3 measured (66.7 %), coverage 3 of 3"},
		{report.Rate{Passed: 2, KnownFailed: 1, KnownPassed: 1, Undecided: 1, NotRun: 1}, "passed 2 of 2 measured (100 %), coverage 2 of 6: between 50.0 % and 83.3 % of all"},
		{report.Rate{Passed: 9999, Failed: 1}, "passed 9999 of 10000 measured (> 99.9 %), coverage 10000 of 10000"},
		{report.Rate{Passed: 1, Failed: 9999}, "passed 1 of 10000 measured (< 0.1 %), coverage 10000 of 10000"},
	} {
		assert.Equal(t, tc.want, tc.rate.String())
	}
	_, ok := report.Rate{Errored: 3}.Among()
	assert.False(t, ok)
	lo, hi := report.Rate{}.Bounds()
	assert.Equal(t, []float64{0, 1}, []float64{lo, hi})
}
