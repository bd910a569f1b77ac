// Package broken does not type-check.
package broken

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

type byValue struct{}

func (byValue) String() string { return "" }

func (byValue) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, evaltest.ErrOpen
}

func (byValue) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (byValue) LiveVerdict(tr agents.Trajectory) evaltest.Verdict { return evaltest.Undecided } // want `LiveVerdict of byValue has the wrong signature`

func arm(e *evaltest.T) {
	e.StopWhen(evaltest.Fail, byValue{})
	e.Nothing(missing, byValue{})
	undefined.Call(func(tr *agents.Missing) nowhere { return 3 })
	var _ evaltest.LiveCriterion = byValue{}, 3
}

type half struct{ nowhere.Base }

func (half) StopPolarities() evaltest.Polarity { return evaltest.Nothing }
