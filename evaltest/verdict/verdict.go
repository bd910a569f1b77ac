// Package verdict is the one idea of evaltest: every verdict is an interval.
//
// The final score of a criterion lies in an Interval within [0, 1]. A fact narrows it; whatever is unknown leaves it wide.
// A Gate over many criteria is decided when it comes out the same for every value that the intervals allow. Stops,
// weights, outages of graders, limits and runs that were cut are all this one computation.
//
//	g := verdict.Gate{MinScore: verdict.Decimal(0.7)}
//	cs := []verdict.Criterion{
//		{Interval: verdict.Exactly(verdict.Ratio(1, 3)), Weight: verdict.Decimal(2)},
//		{Interval: verdict.Unknown},
//	}
//	g.Decide(cs) // Failed: even with a full second criterion, 5/9 < 0.7
//
// Arithmetic is exact: a number that an author types is taken as its shortest decimal, a computed score as a ratio.
package verdict

// Outcome is what a trial came to.
type Outcome string

const (
	OutcomePassed    Outcome = "passed"
	OutcomeFailed    Outcome = "failed"
	OutcomeUndecided Outcome = "undecided" // a budget ran out before what was asked had an answer
	OutcomeErrored   Outcome = "errored"   // an infrastructure error left the gate open: no verdict on the agent
	OutcomeNotRun    Outcome = "not_run"   // it never started
)

// Verdict is what is known of a yes or no: Undecided is the zero value.
type Verdict int

const (
	Undecided Verdict = iota
	Passed
	Failed
)

func (v Verdict) String() string {
	switch v {
	case Passed:
		return "passed"
	case Failed:
		return "failed"
	}
	return "undecided"
}

// Polarity is a set of verdicts: those that a live criterion can reach, or those that it is armed for.
type Polarity uint8

const (
	Pass Polarity = 1 << iota
	Fail
)

// Has reports whether p holds all of q.
func (p Polarity) Has(q Polarity) bool { return p&q == q }

func (p Polarity) String() string {
	switch p {
	case 0:
		return "neither"
	case Pass:
		return "Pass"
	case Fail:
		return "Fail"
	case Pass | Fail:
		return "Pass|Fail"
	}
	return "Decided"
}
