package wrong

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria that were meant to be live, and are not: nothing arms them, nothing is stopped by them.

var pairs = []Case{
	{Name: "LiveVerdict on the wrong receiver", New: newPointerVerdict},
	{Name: "StopPolarities on the wrong receiver", New: func() evaltest.Criterion { return pointerPolarity{} }},
	{Name: "a value where only its pointer is live", New: newByPointer},
	{Name: "a trajectory by value", New: func() evaltest.Criterion { return byValue{} }},
	{Name: "a verdict of type bool", New: func() evaltest.Criterion { return yesNo{} }},
	{Name: "a verdict with an error", New: func() evaltest.Criterion { return withError{} }},
	{Name: "a verdict that wants a context", New: func() evaltest.Criterion { return withContext{} }},
	{Name: "a verdict of the trial", New: func() evaltest.Criterion { return ofTrial{} }},
	{Name: "polarities in a slice", New: func() evaltest.Criterion { return listed{} }},
	{Name: "LiveVerdict misspelt", New: func() evaltest.Criterion { return misspelt{} }},
	{Name: "StopPolarities in the singular", New: func() evaltest.Criterion { return singular{} }},
	{Name: "LiveVerdict in lower case", New: func() evaltest.Criterion { return lower{} }},
	{Name: "LiveVerdict without StopPolarities", New: func() evaltest.Criterion { return verdictAlone{} }},
	{Name: "StopPolarities without LiveVerdict", New: func() evaltest.Criterion { return polarityAlone{} }},
	{Name: "a wrapper that hides that its part is live", New: func() evaltest.Criterion { return named{criteria.SkillTriggered("pdf")} }},
}

// endState is what a criterion has that is not live.
type endState struct{}

func (endState) String() string { return "no rm -rf" }
func (endState) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(rm.Tally(trial.Trajectory))
}

func removed(tr *agents.Trajectory) evaltest.Verdict { return parts.FailIf(rm.Tally(tr).Ran() > 0) }

type pointerVerdict struct{ endState }

func (pointerVerdict) StopPolarities() evaltest.Polarity                   { return evaltest.Fail }
func (*pointerVerdict) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

func newPointerVerdict() evaltest.Criterion { return pointerVerdict{} }

type pointerPolarity struct{ endState }

func (*pointerPolarity) StopPolarities() evaltest.Polarity                 { return evaltest.Fail }
func (pointerPolarity) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

// byPointer is live, as a pointer.
type byPointer struct{ endState }

func (*byPointer) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (*byPointer) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

func newByPointer() evaltest.Criterion {
	c := &byPointer{}
	return *c
}

type byValue struct{ endState }

func (byValue) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (byValue) LiveVerdict(tr agents.Trajectory) evaltest.Verdict {
	return removed(&tr)
}

type yesNo struct{ endState }

func (yesNo) StopPolarities() evaltest.Polarity      { return evaltest.Fail }
func (yesNo) LiveVerdict(tr *agents.Trajectory) bool { return rm.Tally(tr).Ran() == 0 }

type withError struct{ endState }

func (withError) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (withError) LiveVerdict(tr *agents.Trajectory) (evaltest.Verdict, error) {
	return removed(tr), nil
}

type withContext struct{ endState }

func (withContext) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (withContext) LiveVerdict(_ context.Context, tr *agents.Trajectory) evaltest.Verdict {
	return removed(tr)
}

type ofTrial struct{ endState }

func (ofTrial) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (ofTrial) LiveVerdict(trial *evaltest.Trial) evaltest.Verdict {
	return removed(trial.Trajectory)
}

type listed struct{ endState }

func (listed) StopPolarities() []evaltest.Polarity                { return []evaltest.Polarity{evaltest.Fail} }
func (listed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

type misspelt struct{ endState }

func (misspelt) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (misspelt) LiveVerdcit(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

type singular struct{ endState }

func (singular) StopPolarity() evaltest.Polarity                    { return evaltest.Fail }
func (singular) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

type lower struct{ endState }

func (lower) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (lower) liveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

type verdictAlone struct{ endState }

func (verdictAlone) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return removed(tr) }

type polarityAlone struct{ endState }

func (polarityAlone) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// named gives a criterion another name; the type of the field says no more than that it is one.
type named struct{ evaltest.Criterion }

func (named) String() string                    { return "the right skill" }
func (named) StopPolarities() evaltest.Polarity { return evaltest.Pass }
