package criteria

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Negation is the opposite of a criterion. See [Never].
type Negation struct {
	live
	part evaltest.Criterion
}

// Never scores what c leaves: 1 − c's score. It passes if c scores 0, and fails if c passes. Any criterion may be negated.
//
// It reaches Pass where c reaches Fail, and Fail where c reaches Pass: Never(CommandExecuted("rm")) can only fail while the
// agent works, and passes when it is done.
func Never(c evaltest.Criterion) *Negation {
	return &Negation{live{"never: " + nameOf(c), allNeeds(c), partsMisuse("Never", c)}, c}
}

func (c *Negation) components() []evaltest.Criterion { return []evaltest.Criterion{c.part} }

// StopPolarities is that of the part, the other way round.
func (c *Negation) StopPolarities() evaltest.Polarity {
	var p evaltest.Polarity
	if reach(c.part).Has(evaltest.Pass) {
		p |= evaltest.Fail
	}
	if reach(c.part).Has(evaltest.Fail) {
		p |= evaltest.Pass
	}
	return p
}

func (c *Negation) interval(tr *agents.Trajectory) evaltest.Interval {
	if c.err != nil {
		return verdict.Unknown
	}
	return evaltest.LiveInterval(c.part, tr).Complement()
}

// LiveBounds says between which scores the final one will lie.
func (c *Negation) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	i := c.interval(tr)
	return i.Lo, i.Hi
}

// LiveVerdict judges the trajectory so far.
func (c *Negation) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return verdictOf(c.interval(tr))
}

// Grade scores the finished trial.
func (c *Negation) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	s, err := c.part.Grade(ctx, trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	negated := s.Complement()
	negated.Reason = s.Reason
	return negated, nil
}

// Selection scores as one of its parts does, by rank. See [AllOf], [AnyOf] and [AtLeast].
type Selection struct {
	live
	parts []evaltest.Criterion
	k     int // the k-th largest score
}

// AllOf scores as the lowest of the criteria does: it passes if all of them pass. Any criteria may be combined.
//
// It reaches Pass if all of them do, and Fail if one of them does. A criterion that looks at the workspace is open until
// the agent is done.
func AllOf(cs ...evaltest.Criterion) *Selection { return selection("AllOf", "all of", len(cs), cs) }

// AnyOf scores as the highest of the criteria does: it passes if one of them passes. Any criteria may be combined.
//
// It reaches Pass if one of them does, and Fail if all of them do.
func AnyOf(cs ...evaltest.Criterion) *Selection { return selection("AnyOf", "any of", 1, cs) }

// AtLeast scores as the k-th highest of the n criteria does: it passes if k of them pass, 1 ≤ k ≤ n. Any criteria may be
// combined.
//
// It reaches Pass if k of them do, and Fail if n − k + 1 of them do.
func AtLeast(k int, cs ...evaltest.Criterion) *Selection {
	return selection("AtLeast", fmt.Sprintf("at least %d of", k), k, cs)
}

func selection(constructor, words string, k int, cs []evaltest.Criterion) *Selection {
	names := make([]string, len(cs))
	for i, p := range cs {
		names[i] = nameOf(p)
	}
	c := &Selection{live{words + " (" + strings.Join(names, "; ") + ")", allNeeds(cs...), partsMisuse(constructor, cs...)}, slices.Clone(cs), k}
	switch {
	case len(cs) == 0:
		c.err = misuse(constructor, "there is nothing to choose from; give it criteria")
	case k < 1 || k > len(cs):
		c.err = misuse(constructor, "%d of %d criteria; ask for one at least, and for no more than there are", k, len(cs))
	}
	return c
}

func (c *Selection) components() []evaltest.Criterion { return c.parts }

// StopPolarities is Pass if k parts have it, Fail if so many have it that k others are not left.
func (c *Selection) StopPolarities() evaltest.Polarity {
	pass, fail := 0, 0
	for _, p := range c.parts {
		if reach(p).Has(evaltest.Pass) {
			pass++
		}
		if reach(p).Has(evaltest.Fail) {
			fail++
		}
	}
	var all evaltest.Polarity
	if c.err != nil {
		return all
	}
	if pass >= c.k {
		all |= evaltest.Pass
	}
	if fail >= len(c.parts)-c.k+1 {
		all |= evaltest.Fail
	}
	return all
}

// ranked is the k-th largest of each end of the intervals, which it puts into order.
func ranked(lo, hi []evaltest.Score, k int) evaltest.Interval {
	return evaltest.Interval{Lo: kth(lo, k), Hi: kth(hi, k)}
}

func kth(s []evaltest.Score, k int) evaltest.Score {
	slices.SortFunc(s, func(a, b evaltest.Score) int { return b.Cmp(a) })
	return s[k-1]
}

func (c *Selection) interval(tr *agents.Trajectory) evaltest.Interval {
	if c.err != nil {
		return verdict.Unknown
	}
	if c.k == 1 || c.k == len(c.parts) {
		all := evaltest.LiveInterval(c.parts[0], tr)
		sign := 1 // the largest
		if c.k != 1 {
			sign = -1
		}
		for _, p := range c.parts[1:] {
			i := evaltest.LiveInterval(p, tr)
			if i.Lo.Cmp(all.Lo)*sign > 0 {
				all.Lo = i.Lo
			}
			if i.Hi.Cmp(all.Hi)*sign > 0 {
				all.Hi = i.Hi
			}
		}
		return all
	}
	var buffer [2][16]evaltest.Score // on the stack: this is done at every event
	lo, hi := buffer[0][:0], buffer[1][:0]
	for _, p := range c.parts {
		i := evaltest.LiveInterval(p, tr)
		lo, hi = append(lo, i.Lo), append(hi, i.Hi)
	}
	return ranked(lo, hi, c.k)
}

// LiveBounds says between which scores the final one will lie.
func (c *Selection) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	i := c.interval(tr)
	return i.Lo, i.Hi
}

// LiveVerdict judges the trajectory so far.
func (c *Selection) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return verdictOf(c.interval(tr))
}

// Grade grades all parts. An error of a part, or that its score is open, counts only where the other parts leave the score
// open.
func (c *Selection) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	var errs []error
	var reasons []string
	lo, hi := make([]evaltest.Score, len(c.parts)), make([]evaltest.Score, len(c.parts))
	for n, p := range c.parts {
		s, err := p.Grade(ctx, trial)
		i := verdict.Exactly(s)
		if err == nil {
			err = s.Err()
		}
		if err != nil {
			i = evaltest.LiveInterval(p, trial.Trajectory)
			if !i.Point() && !errors.Is(err, evaltest.ErrOpen) {
				errs = append(errs, fmt.Errorf("criteria: grade %s: %w", p, err))
			}
		}
		lo[n], hi[n] = i.Lo, i.Hi
		reasons = append(reasons, reasonOf(p, i, s.Reason))
	}
	i := ranked(lo, hi, c.k)
	if !i.Point() && len(errs) > 0 {
		return evaltest.Score{}, errors.Join(errs...)
	}
	return scored(i, "%s", strings.Join(reasons, "; "))
}

// reasonOf says in a few words what a part came to.
func reasonOf(p evaltest.Criterion, i evaltest.Interval, reason string) string {
	reason, _, _ = strings.Cut(reason, "\n")
	if reason != "" {
		reason = " (" + reason + ")"
	}
	return fmt.Sprintf("%v: %s%s", i, p, reason)
}
