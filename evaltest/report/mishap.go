package report

import (
	"cmp"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// counts counts errors by kind and source, in the order in which the first of each came.
type counts []Count

func (cs *counts) add(kind agents.ErrorKind, source agents.ErrorSource, r *journal.TrialRecord, message string) *Count {
	i := slices.IndexFunc(*cs, func(c Count) bool { return c.Kind == kind && c.Source == source })
	if i < 0 {
		i = len(*cs)
		*cs = append(*cs, Count{Kind: kind, Source: source, Mishap: mishap(r, message)})
	}
	c := &(*cs)[i]
	c.N++
	return c
}

func (cs counts) sorted() []Count {
	slices.SortFunc(cs, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Source, b.Source))
	})
	return cs
}

func (m *Mishaps) add(r *journal.TrialRecord, message string) {
	if m.N == 0 {
		m.Mishap = mishap(r, message)
	}
	m.N++
}

// exampleRunes is how much of a message an example shows; the manifest has all of it.
const exampleRunes = 300

func mishap(r *journal.TrialRecord, message string) Mishap {
	id := r.Intent.ID
	id.Attempt = 1 // the trial, whatever the attempt
	return Mishap{printable.Line(id.String()), printable.Short(message, exampleRunes)}
}

// mishaps counts what went wrong in a trial.
func (t *tally) mishaps(r *journal.TrialRecord) {
	for _, e := range errorsOf(r) {
		c := t.errors.add(e.Kind, e.Source, r, e.Message())
		if r.Outcome() == verdict.OutcomeNotRun {
			c.NotRun++
			t.notRun.add(e.Kind, e.Source, r, e.Message())
		}
	}
	for _, c := range r.Criteria {
		if c.Violation != "" {
			t.s.Contracts.add(r, c.Name+": "+c.Violation)
		}
		if c.Violated {
			t.s.AfterCut.add(r, c.Name)
		}
	}
	for _, f := range r.Failures {
		t.s.Asserted.add(r, f)
	}
}

// errorsOf are the errors of a trial's session and of its graders: the first of each kind and source.
func errorsOf(r *journal.TrialRecord) []*agents.Error {
	var out []*agents.Error
	add := func(e *agents.Error) {
		if e != nil && !slices.ContainsFunc(out, func(o *agents.Error) bool { return o.Kind == e.Kind && o.Source == e.Source }) {
			out = append(out, e)
		}
	}
	add(r.Err())
	for i := range r.Criteria {
		add(r.Criteria[i].Err)
	}
	return out
}
