package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Summary is what the trials of a run came to.
type Summary struct {
	Run      string   `json:"run"` // name of its directory
	Packages []string `json:"packages"`

	Full  Rate `json:"full"`  // trials that were held to the full gate
	Smoke Rate `json:"smoke"` // trials of smoke checks that passed what was armed

	Errors     []ErrorCount `json:"errors,omitempty"`     // of trials without a verdict and of those that an error had a part in, most frequent first
	Violations int          `json:"violations,omitempty"` // criteria that broke their contract
	Assertions int          `json:"assertions,omitempty"` // assertions on results that failed

	Retries  Retries `json:"retries,omitzero"`
	Overcome int     `json:"overcome,omitempty"` // failed requests that the agents' own retries overcame
	Stops    Stops   `json:"stops,omitzero"`
	Reused   Reused  `json:"reused,omitzero"`

	Usage      agents.Usage  `json:"usage"`                // of all attempts that were made in this run
	Took       time.Duration `json:"took_ns"`              // of all attempts, added up
	Elapsed    time.Duration `json:"elapsed_ns"`           // from the first beginning to the last end
	Unobserved int           `json:"unobserved,omitempty"` // trials of agents whose provider was not observed
	Problems   []string      `json:"problems,omitempty"`   // of reading the journals
}

// ErrorCount counts trials by what kept them from being measured.
type ErrorCount struct {
	Kind    agents.ErrorKind   `json:"kind"`
	Source  agents.ErrorSource `json:"source"`
	N       int                `json:"n"`
	NotRun  int                `json:"not_run,omitempty"` // of them, those that were not begun
	Example string             `json:"example"`           // the message of the first
	Trial   string             `json:"trial"`             // that had it
}

// Retries is what making attempts again has cost and brought.
type Retries struct {
	Attempts int           `json:"attempts"` // that ended in an error and were followed by another
	Healed   int           `json:"healed"`   // trials that were measured thanks to them
	Usage    agents.Usage  `json:"usage"`
	Took     time.Duration `json:"took_ns"`
	Waited   time.Duration `json:"waited_ns"`
}

// Stops is what stopping trials early has saved.
type Stops struct {
	Trials    int `json:"trials"`
	TurnsLeft int `json:"turns_left"` // that the limits on turns would still have allowed: at most so many were saved
	Limited   int `json:"limited"`    // of them, those with a limit on turns
}

// Reused is what taking over the results of an earlier run has saved.
type Reused struct {
	Trials   int          `json:"trials"`
	Regraded int          `json:"regraded"` // of them, those whose criteria graded the record anew
	Usage    agents.Usage `json:"usage"`    // what they had cost
}

// Summarize sums up a run: all of it, or the packages that are named.
func Summarize(run *journal.Run, packages ...string) *Summary {
	s := &Summary{Run: nameOf(run), Problems: run.Problems}
	c := &summing{s: s, errors: map[[2]string]*ErrorCount{}, packages: map[string]bool{}}
	final := map[*journal.TrialRecord]bool{}
	for _, t := range run.Final() {
		final[t] = true
	}
	for _, t := range run.Trials {
		if len(packages) > 0 && !slices.Contains(packages, t.Intent.ID.Package) {
			continue
		}
		c.attempt(t)
		if final[t] {
			c.trial(t)
		}
	}
	c.close()
	return s
}

// summing is a summary under way.
type summing struct {
	s          *Summary
	errors     map[[2]string]*ErrorCount
	packages   map[string]bool
	begin, end time.Time
}

// attempt counts what an attempt has cost. What was taken over has cost nothing in this run.
func (c *summing) attempt(t *journal.TrialRecord) {
	s, v := c.s, t.Verdict
	c.packages[t.Intent.ID.Package] = true
	c.span(t.Intent.Started)
	if v == nil {
		return
	}
	c.span(v.Ended)
	usage := v.Usage
	if t.Intent.Agent.Upstream == "script" {
		usage.Cost = 0 // what the agent thinks that the script cost
	}
	if v.Reused == nil {
		s.Usage = s.Usage.Add(usage)
		s.Took += v.Took
	}
	if v.RetryIn != nil {
		s.Retries.Attempts++
		s.Retries.Usage = s.Retries.Usage.Add(usage)
		s.Retries.Took += v.Took
		s.Retries.Waited += *v.RetryIn
	}
	if r := v.Requests; r != nil && v.Reused == nil {
		for _, f := range r.Failures {
			if f.Overcome {
				s.Overcome++
			}
		}
	}
}

func (c *summing) span(at time.Time) {
	if c.begin.IsZero() || at.Before(c.begin) {
		c.begin = at
	}
	if at.After(c.end) {
		c.end = at
	}
}

// trial counts what a trial came to.
func (c *summing) trial(t *journal.TrialRecord) {
	s, v := c.s, t.Verdict
	rate := &s.Full
	if v != nil && v.Smoke {
		rate = &s.Smoke
	}
	rate.add(t)
	c.failures(t)
	s.Assertions += len(t.Failures)
	for _, r := range t.Criteria {
		if r.Violation != "" {
			s.Violations++
		}
	}
	if len(t.Intent.Agent.Upstream) >= 6 && t.Intent.Agent.Upstream[:6] == "direct" {
		s.Unobserved++
	}
	if v == nil {
		return
	}
	if v.Measured && t.Intent.ID.Attempt > 1 {
		s.Retries.Healed++
	}
	if v.Stop != nil && v.Reused == nil {
		s.Stops.Trials++
		if t.Intent.Limits.Turns > 0 {
			s.Stops.Limited++
			s.Stops.TurnsLeft += v.Stop.TurnsLeft
		}
	}
	if v.Reused != nil {
		s.Reused.Trials++
		s.Reused.Usage = s.Reused.Usage.Add(v.Usage)
		if v.Reused.Regraded {
			s.Reused.Regraded++
		}
	}
}

// failures counts the error that kept the trial from being measured: that of its session, or those of its graders.
func (c *summing) failures(t *journal.TrialRecord) {
	for _, e := range errorsOf(t) {
		key := [2]string{string(e.Kind), string(e.Source)}
		n := c.errors[key]
		if n == nil {
			n = &ErrorCount{Kind: e.Kind, Source: e.Source, Example: e.Message(), Trial: t.Intent.ID.String()}
			c.errors[key] = n
		}
		n.N++
		if t.Outcome() == verdict.OutcomeNotRun {
			n.NotRun++
		}
	}
}

// errorsOf are the errors of a trial: at most one of each kind and source.
func errorsOf(t *journal.TrialRecord) []*agents.Error {
	var out []*agents.Error
	add := func(e *agents.Error) {
		if e != nil && !slices.ContainsFunc(out, func(o *agents.Error) bool { return o.Kind == e.Kind && o.Source == e.Source }) {
			out = append(out, e)
		}
	}
	add(t.Err())
	for _, r := range t.Criteria {
		add(r.Err)
	}
	return out
}

func (c *summing) close() {
	s := c.s
	s.Packages = slices.Sorted(maps.Keys(c.packages))
	s.Elapsed = c.end.Sub(c.begin)
	for _, n := range c.errors {
		s.Errors = append(s.Errors, *n)
	}
	slices.SortFunc(s.Errors, func(a, b ErrorCount) int {
		return cmp.Or(b.N-a.N, cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Source, b.Source))
	})
}
