// Package constructors makes criteria in the ways that people do.
package constructors

import (
	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// NoRm wraps.
func NoRm() *criteria.Negation { return criteria.Never(criteria.CommandExecuted("rm")) }

// Not passes on what it is given.
func Not(c evaltest.Criterion) evaltest.LiveCriterion { return criteria.Never(c) }

// Every passes on all that it is given.
func Every(cs ...evaltest.Criterion) *criteria.Selection { return criteria.AllOf(cs...) }

// Both puts parts together.
func Both(a, b evaltest.Criterion) *criteria.Selection { return criteria.AllOf(a, criteria.Never(b)) }

// Some is one or the other.
func Some(strict bool) evaltest.LiveCriterion {
	if strict {
		return NoRm()
	}
	return criteria.FirstSkill("pdf")
}

// A Rule keeps what it reaches in a field.
type Rule struct {
	evaltest.LiveCriterion
	Reach evaltest.Polarity
}

// StopPolarities is what it says.
func (r Rule) StopPolarities() evaltest.Polarity { return r.Reach }

// Strict is a rule.
func Strict() *Rule { return &Rule{NoRm(), evaltest.Fail} }

// Reaching is a rule that can be set.
func Reaching(p evaltest.Polarity) *Rule {
	r := &Rule{LiveCriterion: NoRm()}
	r.Reach = p
	return r
}

// Named embeds a criterion whose reach depends on how it was made.
type Named struct {
	*criteria.Negation
	Name string
}

// String is its name.
func (n *Named) String() string { return n.Name }

// Name gives a criterion a name.
func Name(name string, c *criteria.Negation) *Named { return &Named{c, name} }

// Of is generic.
type Of[T any] struct {
	Rule
	Item T
}

// LiveVerdict judges the trajectory so far.
func (o *Of[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return o.Rule.LiveVerdict(tr) }

// NewOf makes one.
func NewOf[T any](item T, p evaltest.Polarity) *Of[T] {
	return &Of[T]{Rule: Rule{NoRm(), p}, Item: item}
}
