package report

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// tally is a summary under way.
type tally struct {
	run        *journal.Run
	s          *Summary
	only       []string // packages; none: all
	packages   map[string]bool
	alive      map[*journal.ProcessRecord]bool
	agents     map[journal.Agent]*Agent
	policies   map[Policy]int
	begin, end time.Time

	errors, notRun, overcome, after counts
}

func newTally(run *journal.Run, packages []string) *tally {
	return &tally{
		run: run, s: &Summary{Run: printable.Line(nameOf(run)), Problems: run.Problems}, only: packages,
		packages: map[string]bool{}, alive: map[*journal.ProcessRecord]bool{}, agents: map[journal.Agent]*Agent{}, policies: map[Policy]int{},
	}
}

func (t *tally) wanted(r *journal.TrialRecord) bool {
	return len(t.only) == 0 || slices.Contains(t.only, r.Intent.ID.Package)
}

// attempt counts what an attempt has cost.
func (t *tally) attempt(r *journal.TrialRecord) {
	s, v := t.s, r.Verdict
	t.packages[r.Intent.ID.Package] = true
	t.span(r.Intent.Started)
	again := r.Intent.ID.Attempt > 1
	if again {
		s.Retries.Attempts++
		t.before(r)
	}
	if v == nil {
		return
	}
	t.span(v.Ended)
	s.Took += v.Took
	if again {
		s.Retries.Took += v.Took
	}
	if v.Reused != nil { // what it says of usage and requests was paid for by another run
		return
	}
	u := spentBy(r)
	s.Usage = s.Usage.Add(u)
	if again {
		s.Retries.Usage = s.Retries.Usage.Add(u)
	}
	if q := v.Requests; q != nil {
		for _, f := range q.Failures {
			if f.Overcome {
				t.overcome.add(f.Kind, agents.FromProvider, r, f.Message)
			}
		}
	}
}

// spentBy is what an attempt has used. What an agent thinks that a script has cost is no money.
func spentBy(r *journal.TrialRecord) agents.Usage {
	u := r.Verdict.Usage
	if r.Intent.Agent.Upstream == "script" {
		u.Cost = 0
	}
	return u
}

func (t *tally) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.begin.IsZero() || at.Before(t.begin) {
		t.begin = at
	}
	if at.After(t.end) {
		t.end = at
	}
}

// trial counts what a trial came to, by its last attempt.
func (t *tally) trial(r *journal.TrialRecord) {
	s, v := t.s, r.Verdict
	t.inForce(r)
	rate := &s.Full
	if isSmoke(r) {
		rate = &s.Smoke
	}
	if t.underWay(r) {
		rate.UnderWay++
		return
	}
	rate.count(r)
	if v != nil && v.Measured && r.Intent.ID.Attempt > 1 {
		s.Retries.Healed++
	}
	t.mishaps(r)
	if v == nil {
		s.LeftOpen++
		return
	}
	if v.Smoke && v.Outcome == verdict.OutcomePassed {
		s.ArmedPasses++
	}
	if v.Reused != nil {
		s.Reused.Trials++
		s.Reused.Usage = s.Reused.Usage.Add(spentBy(r))
		if v.Reused.Regraded {
			s.Reused.Regraded++
		}
		return
	}
	if v.Stop != nil {
		s.Stops.Trials++
		if r.Intent.Limits.Turns > 0 {
			s.Stops.Limited++
			s.Stops.TurnsLeft += v.Stop.TurnsLeft
		}
	}
}

// before counts what an attempt beyond the first was made after.
func (t *tally) before(r *journal.TrialRecord) {
	for _, b := range t.run.Attempts(r) {
		if b.Intent.ID.Attempt != r.Intent.ID.Attempt-1 {
			continue
		}
		if v := b.Verdict; v != nil && v.RetryIn != nil {
			t.s.Retries.Waited += *v.RetryIn
		}
		if e := b.Err(); e != nil {
			t.after.add(e.Kind, e.Source, b, e.Message())
		}
	}
}

// isSmoke reports whether a trial may pass by what is armed alone.
func isSmoke(r *journal.TrialRecord) bool {
	if r.Verdict != nil && r.Verdict.Smoke {
		return true
	}
	return r.Intent.Mode == verdict.Armed && slices.ContainsFunc(r.Intent.Criteria, func(c journal.CriterionSpec) bool {
		return strings.Contains(c.Armed, verdict.Pass.String())
	})
}

// underWay reports whether a trial is not over, and its process is seen to be alive. One of another machine is not seen.
func (t *tally) underWay(r *journal.TrialRecord) bool {
	if r.Verdict != nil && r.Verdict.RetryIn == nil || r.Process == nil {
		return false
	}
	alive, known := t.alive[r.Process]
	if !known {
		me, o := owner.Self(), r.Process.Owner
		alive = o.PID > 0 && o.Host == me.Host && o.Namespace == me.Namespace && !o.Dead()
		t.alive[r.Process] = alive
	}
	return alive
}

func (t *tally) summary() *Summary {
	s := t.s
	s.Packages = slices.AppendSeq([]string{}, maps.Keys(t.packages))
	slices.Sort(s.Packages)
	s.Elapsed = t.end.Sub(t.begin)
	s.Errors, s.NotRun, s.Overcome, s.Retries.After = t.errors.sorted(), t.notRun.sorted(), t.overcome.sorted(), t.after.sorted()
	t.close()
	return s
}
