package report

import (
	"fmt"

	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Rate counts trials of one gate by what they came to. The zero value counts none.
type Rate struct {
	Passed int `json:"passed"` // among the measured
	Failed int `json:"failed"` // among the measured
	// KnownPassed and KnownFailed have a verdict, and an error had a part in the trial: they are not among the measured.
	KnownPassed int `json:"known_passed,omitempty"`
	KnownFailed int `json:"known_failed,omitempty"`
	Undecided   int `json:"undecided,omitempty"`
	Errored     int `json:"errored,omitempty"` // trials that were never over included
	NotRun      int `json:"not_run,omitempty"`
}

// add counts a trial.
func (r *Rate) add(t *journal.TrialRecord) {
	measured := t.Verdict != nil && t.Verdict.Measured
	switch t.Outcome() {
	case verdict.OutcomePassed:
		if measured {
			r.Passed++
		} else {
			r.KnownPassed++
		}
	case verdict.OutcomeFailed:
		if measured {
			r.Failed++
		} else {
			r.KnownFailed++
		}
	case verdict.OutcomeUndecided:
		r.Undecided++
	case verdict.OutcomeNotRun:
		r.NotRun++
	default:
		r.Errored++
	}
}

// Measured is the number of trials that have a verdict in which no error had a part.
func (r Rate) Measured() int { return r.Passed + r.Failed }

// Trials is the number of all trials.
func (r Rate) Trials() int {
	return r.Measured() + r.KnownPassed + r.KnownFailed + r.Undecided + r.Errored + r.NotRun
}

// Among is the part of the measured that passed, in [0, 1]; false when nothing was measured.
func (r Rate) Among() (rate float64, ok bool) {
	if r.Measured() == 0 {
		return 0, false
	}
	return float64(r.Passed) / float64(r.Measured()), true
}

// Coverage is the part of all trials that was measured, in [0, 1]; 0 when there are none.
func (r Rate) Coverage() float64 {
	if r.Trials() == 0 {
		return 0
	}
	return float64(r.Measured()) / float64(r.Trials())
}

// Bounds are the ends between which the part of all trials that pass lies: when all without a verdict fail, and when all of
// them pass. Without trials it is [0, 1].
func (r Rate) Bounds() (lo, hi float64) {
	n := r.Trials()
	if n == 0 {
		return 0, 1
	}
	return float64(r.Passed+r.KnownPassed) / float64(n), float64(n-r.Failed-r.KnownFailed) / float64(n)
}

// String shows the rate in all three ways. A rate never stands alone.
func (r Rate) String() string {
	n, m := r.Trials(), r.Measured()
	if m == 0 {
		return fmt.Sprintf("nothing was measured (coverage 0 of %d)", n)
	}
	among, _ := r.Among()
	s := fmt.Sprintf("passed %d of %d measured (%s)", r.Passed, m, percent(among))
	if m == n {
		return s + fmt.Sprintf(", coverage %d of %d", m, n)
	}
	lo, hi := r.Bounds()
	return s + fmt.Sprintf(", coverage %d of %d: between %s and %s of all", m, n, percent(lo), percent(hi))
}

// percent is x in [0, 1] for people: what is not all is not called 100 %, and what is not nothing is not called 0 %.
func percent(x float64) string {
	s := fmt.Sprintf("%.1f %%", 100*x)
	switch {
	case x == 0:
		return "0 %"
	case x == 1:
		return "100 %"
	case s == "0.0 %":
		return "< 0.1 %"
	case s == "100.0 %":
		return "> 99.9 %"
	}
	return s
}
