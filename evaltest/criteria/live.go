package criteria

import (
	"fmt"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// live is what every live criterion of this package has: a name, the kinds of call that it judges, and, when it was built from
// what does not fit, an error that says so. Such a criterion is never decided.
type live struct {
	name  string
	needs []agents.Kind
	err   error
}

// String is how reports name it.
func (l *live) String() string { return l.name }

// Needs lists the kinds of call that it judges; nil: none in particular.
func (l *live) Needs() []agents.Kind { return l.needs }

// Misuse says how it was built from what does not fit; nil: it was not.
func (l *live) Misuse() error { return l.err }

// misuse is the error of a call of the constructor with the given name.
func misuse(constructor, format string, args ...any) error {
	return fmt.Errorf("criteria: %s: "+format, append([]any{constructor}, args...)...)
}

var zero, one = evaltest.PassIf(false), evaltest.PassIf(true)

// verdictOf is what a live verdict may say of a score that lies in i.
func verdictOf(i evaltest.Interval) evaltest.Verdict {
	switch {
	case i.Lo.Cmp(one) == 0:
		return evaltest.Passed
	case i.Hi.Cmp(zero) == 0:
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// scored is the score of a finished trial when it is known to lie in i: ErrOpen if that leaves it open.
func scored(i evaltest.Interval, format string, args ...any) (evaltest.Score, error) {
	if !i.Point() {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return i.Lo.Because(format, args...), nil
}

// allNeeds is the kinds of call that any of the criteria judges, in the order of agents.Kinds.
func allNeeds(cs ...evaltest.Criterion) []agents.Kind {
	var all []agents.Kind
	for _, c := range cs {
		if r, ok := c.(evaltest.Restricted); ok && !isNil(c) {
			all = append(all, r.Needs()...)
		}
	}
	var needs []agents.Kind
	for _, k := range agents.Kinds {
		if slices.Contains(all, k) {
			needs = append(needs, k)
		}
	}
	return needs
}

// mayHaveRun says how many further calls may have run, for a reason.
func mayHaveRun(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 more may have run"
	}
	return fmt.Sprintf("; %d more may have run", n)
}
