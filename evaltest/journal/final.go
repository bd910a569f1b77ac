package journal

import (
	"cmp"
	"slices"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// trialKey is what the attempts at a trial have in common.
type trialKey struct {
	pkg, test string
	n, trial  int
}

func keyOf(id TrialID) trialKey { return trialKey{id.Package, id.Test, id.N, id.Trial} }

// Settled reports whether the trial has a verdict that stands: it is passed or failed and no error had a part in it, or
// undecided, since a budget ran out. It needs no new run as long as nothing has changed.
func (t *TrialRecord) Settled() bool {
	if t.Verdict == nil || t.Verdict.RetryIn != nil {
		return false
	}
	switch t.Verdict.Outcome {
	case verdict.OutcomePassed, verdict.OutcomeFailed:
		return t.Verdict.Measured
	case verdict.OutcomeUndecided:
		return true
	}
	return false
}

// Final is each trial once, by its last attempt, in the order in which the trials began. Where processes of several runs
// have written into one directory (EVALTEST_DIR, used again), the last that settled the trial counts, or else the last.
func (r *Run) Final() []*TrialRecord {
	at := map[trialKey]int{}
	var out []*TrialRecord
	for _, t := range r.Trials { // by the time they began
		key := keyOf(t.Intent.ID)
		i, ok := at[key]
		switch {
		case !ok:
			at[key] = len(out)
			out = append(out, t)
		case t.follows(out[i]):
			out[i] = t
		}
	}
	return out
}

// follows reports whether t, which began later, takes the place of u.
func (t *TrialRecord) follows(u *TrialRecord) bool {
	switch {
	case t.Process == u.Process:
		return t.Intent.ID.Attempt >= u.Intent.ID.Attempt
	case t.Process.Run == u.Process.Run:
		return true
	}
	return t.Settled() || !u.Settled()
}

// Attempts are all attempts at the trial of t by the process that made t, in order.
func (r *Run) Attempts(t *TrialRecord) []*TrialRecord {
	r.makeByTrial.Do(func() {
		r.byTrial = map[trialKey][]*TrialRecord{}
		for _, t := range r.Trials {
			key := keyOf(t.Intent.ID)
			r.byTrial[key] = append(r.byTrial[key], t)
		}
	})
	var out []*TrialRecord
	for _, u := range r.byTrial[keyOf(t.Intent.ID)] {
		if u.Process == t.Process {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b *TrialRecord) int { return cmp.Compare(a.Intent.ID.Attempt, b.Intent.ID.Attempt) })
	return out
}

// upgrade fills in what records of schema 1 did not say. What is not certain is not said: the trial is run again.
func (t *TrialRecord) upgrade(v *Verdict) {
	v.Complete = v.Err == nil && (v.Outcome == verdict.OutcomePassed || v.Outcome == verdict.OutcomeFailed)
	v.Measured = v.Complete
	gating := map[string]bool{} // of several criteria of one name, one is enough
	for _, c := range t.Intent.Criteria {
		gating[c.Name] = gating[c.Name] || !c.Advisory
	}
	for _, c := range t.Criteria {
		if g, known := gating[c.Name]; (c.Err != nil || c.Violation != "") && (g || !known) {
			v.Measured = false
		}
	}
}
