// Package wrong has criteria that depend on more than the trajectory.
package wrong

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// base is what every criterion has.
type base struct{ name string }

func (b base) String() string                  { return b.name }
func (base) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

func (base) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, evaltest.ErrOpen
}

func failIf(bad bool) evaltest.Verdict {
	if bad {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

type callsKey struct{}

func isCall(agents.ToolCall) bool { return true }

func calls(tr *agents.Trajectory) int { return tr.Tally(callsKey{}, isCall).Ran() }
