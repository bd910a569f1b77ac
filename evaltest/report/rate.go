package report

import (
	"fmt"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Rate counts trials by what they came to. The zero value counts none.
type Rate struct {
	Passed int `json:"passed"` // among the measured
	Failed int `json:"failed"` // among the measured
	// KnownPassed and KnownFailed have a verdict, and an error had a part in the trial: they are not among the measured.
	KnownPassed int `json:"known_passed,omitempty"`
	KnownFailed int `json:"known_failed,omitempty"`
	// SparedPassed and SparedFailed are those of the known that would have been tried again, had they had no verdict.
	SparedPassed int `json:"spared_passed,omitempty"`
	SparedFailed int `json:"spared_failed,omitempty"`
	Undecided    int `json:"undecided,omitempty"`
	Errored      int `json:"errored,omitempty"` // those included whose process ended before their verdict
	NotRun       int `json:"not_run,omitempty"`
	UnderWay     int `json:"under_way,omitempty"` // their process is at work
}

// count counts a trial that is over.
func (r *Rate) count(t *journal.TrialRecord) {
	measured, spared := t.Verdict != nil && t.Verdict.Measured, isSpared(t)
	switch o := t.Outcome(); {
	case o == verdict.OutcomePassed && measured:
		r.Passed++
	case o == verdict.OutcomeFailed && measured:
		r.Failed++
	case o == verdict.OutcomePassed:
		r.KnownPassed++
		r.SparedPassed += spared
	case o == verdict.OutcomeFailed:
		r.KnownFailed++
		r.SparedFailed += spared
	case o == verdict.OutcomeUndecided:
		r.Undecided++
	case o == verdict.OutcomeNotRun:
		r.NotRun++
	default:
		r.Errored++
	}
}

// isSpared is 1 for a trial that its verdict alone kept from being tried again.
func isSpared(t *journal.TrialRecord) int {
	if v := t.Verdict; v != nil && v.Err != nil && v.Err.Retryable && t.Intent.ID.Attempt <= t.Intent.Policy.Retries {
		return 1
	}
	return 0
}

// Measured is the number of trials that have a verdict in which no error had a part.
func (r Rate) Measured() int { return r.Passed + r.Failed }

// Known is the number of trials that have a verdict and are not among the measured.
func (r Rate) Known() int { return r.KnownPassed + r.KnownFailed }

// Trials is the number of all trials.
func (r Rate) Trials() int {
	return r.Measured() + r.Known() + r.Undecided + r.Errored + r.NotRun + r.UnderWay
}

// Among is the part of the measured that passed, in [0, 1]; false when nothing was measured.
func (r Rate) Among() (rate float64, ok bool) {
	if r.Measured() == 0 {
		return 0, false
	}
	return float64(r.Passed) / float64(r.Measured()), true
}

// Coverage says that k of all n trials were measured.
func (r Rate) Coverage() (k, n int) { return r.Measured(), r.Trials() }

// Bounds are the ends between which the part of all trials that pass lies: when all without a verdict fail, and when all of
// them pass. Without trials it is [0, 1].
func (r Rate) Bounds() (lo, hi float64) {
	n := r.Trials()
	if n == 0 {
		return 0, 1
	}
	return float64(r.Passed+r.KnownPassed) / float64(n), float64(n-r.Failed-r.KnownFailed) / float64(n)
}

// WithSpared is what Among would be with the trials that were spared another attempt among the measured; false when there are
// none. See the package documentation for what it is good for.
func (r Rate) WithSpared() (rate float64, ok bool) {
	passed, all := r.withSpared()
	if all == r.Measured() {
		return 0, false
	}
	return float64(passed) / float64(all), true
}

func (r Rate) withSpared() (passed, all int) {
	return r.Passed + r.SparedPassed, r.Measured() + r.SparedPassed + r.SparedFailed
}

// String shows the rate in all three ways.
func (r Rate) String() string {
	m, n := r.Coverage()
	var parts []string
	if m > 0 && (m == n || r.Passed > 0 && r.Failed > 0) { // "100 %" is said of all, or not at all
		parts = append(parts, percent(r.Passed, m, nearest))
	}
	parts = append(parts, fmt.Sprintf("coverage %d of %d", m, n))
	if m < n && m+r.Known() > 0 {
		parts = append(parts, fmt.Sprintf("between %s and %s of %d",
			percent(r.Passed+r.KnownPassed, n, down), percent(n-r.Failed-r.KnownFailed, n, up), n))
	}
	how := " (" + strings.Join(parts, "; ") + ")"
	if m == 0 {
		return "nothing was measured" + how
	}
	return fmt.Sprintf("passed %d of %d measured", r.Passed, m) + how
}

// The ends of an interval are rounded outwards, so that what lies in it lies between what is read.
const (
	nearest = iota
	down
	up
)

// percent is k of n, n being positive, in tenths of a percent: what is not all is not called 100 %, unless it is an upper
// bound, and what is not nothing is not called 0 %, unless it is a lower one.
func percent(k, n, round int) string {
	tenths, rest := k*1000/n, k*1000%n
	switch {
	case rest == 0 && tenths%10 == 0:
		return fmt.Sprintf("%d %%", tenths/10)
	case round == nearest && tenths == 0 && 2*rest < n:
		return "< 0.1 %"
	case round == nearest && tenths == 999 && 2*rest >= n:
		return "> 99.9 %"
	case round == nearest && 2*rest >= n, round == up && rest > 0:
		tenths++
	}
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}
