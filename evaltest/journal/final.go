package journal

import (
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// trialKey is what the attempts at a trial have in common.
type trialKey struct {
	pkg, test string
	n, trial  int
}

func keyOf(id TrialID) trialKey { return trialKey{id.Package, id.Test, id.N, id.Trial} }

// Settled reports whether the trial has a verdict that stands: it is passed or failed and no error had a part in it, or
// undecided, since a budget ran out. Others are run again when the run is resumed.
func (t *TrialRecord) Settled() bool {
	if t.Verdict == nil {
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
	if t.Process.Run != u.Process.Run && u.Settled() && !t.Settled() {
		return false
	}
	return t.Process.Run != u.Process.Run || t.Process != u.Process || t.Intent.ID.Attempt > u.Intent.ID.Attempt
}

// Attempts are all attempts at the trial of t by the process that made t, in order.
func (r *Run) Attempts(t *TrialRecord) []*TrialRecord {
	var out []*TrialRecord
	for _, u := range r.Trials {
		if u.Process == t.Process && keyOf(u.Intent.ID) == keyOf(t.Intent.ID) {
			out = append(out, u)
		}
	}
	return out
}

// upgrade fills in what records of schema 1 did not say.
func (t *TrialRecord) upgrade(v *Verdict) {
	v.Complete = v.Err == nil && (v.Outcome == verdict.OutcomePassed || v.Outcome == verdict.OutcomeFailed)
	v.Measured = v.Complete
	advisory := map[string]bool{}
	for _, c := range t.Intent.Criteria {
		advisory[c.Name] = c.Advisory
	}
	for _, c := range t.Criteria {
		if (c.Err != nil || c.Violation != "") && !advisory[c.Name] {
			v.Measured = false
		}
	}
}
