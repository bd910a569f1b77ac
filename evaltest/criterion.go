package evaltest

import (
	"context"
	"errors"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// The types of the verdict package that authors meet.
type (
	Score    = verdict.Score
	Interval = verdict.Interval
	Outcome  = verdict.Outcome
	Verdict  = verdict.Verdict
	Polarity = verdict.Polarity
	Mode     = verdict.Mode
)

const (
	OutcomePassed    = verdict.OutcomePassed
	OutcomeFailed    = verdict.OutcomeFailed
	OutcomeUndecided = verdict.OutcomeUndecided
	OutcomeErrored   = verdict.OutcomeErrored
	OutcomeNotRun    = verdict.OutcomeNotRun

	Undecided = verdict.Undecided
	Passed    = verdict.Passed
	Failed    = verdict.Failed

	Pass = verdict.Pass
	Fail = verdict.Fail
	// Decided, for StopWhen alone: whatever the criterion can reach, and at least one of them.
	Decided Polarity = 1 << 7
)

// Ratio is the score k of n, exactly. It is a contract error when n is not positive or k lies outside [0, n].
func Ratio(k, n int) Score { return verdict.Ratio(k, n) }

// Points is the score x, taken as the shortest decimal that reads back as x. It is a contract error when x is NaN or lies
// outside [0, 1].
func Points(x float64) Score { return verdict.Points(x) }

// PassIf is a score of 1 when ok, else of 0.
func PassIf(ok bool) Score { return verdict.PassIf(ok) }

// ErrOpen is Grade's answer when calls that were cut or are unresolved leave the score open. It is no error of the grader.
var ErrOpen = errors.New("evaltest: the trajectory leaves the score open")

// A Criterion grades a finished trial.
type Criterion interface {
	// String is how reports name it: `file contains "total" (out.csv)`.
	String() string
	// Grade scores the trial. An error means that no score could be had; it is never a score of 0. ctx ends with the
	// criterion's timeout.
	Grade(ctx context.Context, trial *Trial) (Score, error)
}

// A LiveCriterion can be decided while the agent is still working. Its contract, on which every stop rests:
//
//  1. pure: LiveVerdict depends on the trajectory and the criterion's own constant fields alone; no clock, randomness,
//     file, network, goroutine, or state kept between calls (memory belongs to the trajectory: agents.Fold); it is safe
//     for concurrent use;
//  2. declared: it returns Passed only if StopPolarities has Pass, Failed only if it has Fail;
//  3. monotone: once decided on a prefix, it says the same on every longer one;
//  4. sound: Passed means that Grade of every completion is 1, Failed that it is 0; with bounds, Grade of every completion
//     lies in them;
//  5. of the trajectory: its Grade reads the trajectory only, and answers ErrOpen where calls that were cut or are
//     unresolved leave the score open.
//
// A violation disarms the criterion, and is an error of the test.
type LiveCriterion interface {
	Criterion
	// StopPolarities says which verdicts LiveVerdict can reach: Pass, Fail, both, or (for a combination) neither.
	StopPolarities() Polarity
	// LiveVerdict judges the trajectory so far: Undecided, Passed or Failed.
	LiveVerdict(tr *agents.Trajectory) Verdict
}

// A BoundedCriterion is a live criterion with partial credit: LiveBounds says between which scores the final one will lie.
// They only ever narrow. Passed may be said only at lo = 1 and Failed at hi = 0; Pass in its polarities means that lo can
// rise, Fail that hi can fall.
type BoundedCriterion interface {
	LiveCriterion
	LiveBounds(tr *agents.Trajectory) (lo, hi Score)
}

// LiveInterval is what is known of c's score from the trajectory so far: its bounds where it has some, else what its live
// verdict says; [0, 1] for a criterion that is not live.
func LiveInterval(c Criterion, tr *agents.Trajectory) Interval {
	switch c := c.(type) {
	case BoundedCriterion:
		lo, hi := c.LiveBounds(tr)
		return Interval{Lo: lo, Hi: hi}
	case LiveCriterion:
		return verdict.Of(c.LiveVerdict(tr))
	}
	return verdict.Unknown
}

// A Restricted criterion makes sense only for agents whose stream shows what it judges: arming it for an agent that hides
// such calls is an error at the author's line. A criterion that does not implement it makes sense for every agent.
type Restricted interface {
	LiveCriterion
	// Needs lists the kinds of call that the criterion judges; nil: none in particular. A combination needs what its
	// parts need.
	Needs() []agents.Kind
}

// A Misuse is a criterion's own report that it was built from parts that do not fit: Expect and StopWhen report it at
// their line.
type Misuse interface {
	Criterion
	// Misuse is nil for a criterion that was built as it should be.
	Misuse() error
}

// authorError marks an error of the author.
type authorError struct{ err error }

func (e authorError) Error() string { return e.err.Error() }
func (e authorError) Unwrap() error { return e.err }

// AuthorError is an error of the author of an eval, for Grade to return: a pattern that does not compile, a panic in a
// check. It is reported as such, and never as the grader's or the agent's.
func AuthorError(format string, args ...any) error {
	return authorError{fmt.Errorf(format, args...)}
}
