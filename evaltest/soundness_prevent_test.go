package evaltest_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// asks is a session that asks before each of its calls, and makes one request after each answer.
type asks struct {
	trial   *evaltest.Bare
	answers [][]agents.ToolCall
	refused []string
	held    bool
}

func (*asks) Close() (agents.Final, error) { return agents.Final{}, nil }

func (a *asks) Send(ctx context.Context, _ string) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) {
		for _, calls := range a.answers {
			r := gateway.Request{Answer: calls[0].ID}
			for _, c := range calls {
				status := agents.Completed
				if !yield(agents.Begin(c).In(r.Answer), nil) {
					return
				}
				if !a.trial.Permit(ctx, c).Allow {
					a.refused, status = append(a.refused, c.ID), agents.Denied
				}
				if !yield(agents.End(c.ID, status, ""), nil) {
					return
				}
				r.Results = append(r.Results, c.ID)
			}
			if a.held = a.trial.Requested(r); a.held {
				yield(agents.Event{}, agents.Errorf(agents.Interrupted, agents.FromAgent, "interrupted"))
				return
			}
		}
	}
}

func (a *asks) run(mode evaltest.Mode, ask func(e *evaltest.T), opts ...evaltest.Option) *evaltest.Trial {
	a.trial = evaltest.NewBare(simTB{}, mode, true, ask, []string{"go on"}, opts...)
	a.trial.Run(background, a)
	return a.trial.Trial()
}

func called(id string, symbol int) agents.ToolCall {
	c := simSymbols[symbol].call
	c.ID = id
	return c
}

const actTest, actRm, actPDF = 0, 1, 4 // of simSymbols

func noRm(e *evaltest.T) {
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")), evaltest.Prevent())
}

func TestWhatIsPreventedRefusesTheRestOfAnAnswerThatIsToBeCut(t *testing.T) {
	for mode, want := range map[evaltest.Mode][]string{"sound": {"b", "c"}, "armed": {"b", "c"}, "shadow": {"b"}, "off": {"b"}} {
		a := &asks{answers: [][]agents.ToolCall{{called("a", actTest), called("b", actRm), called("c", actTest)}, {called("d", actTest)}}}
		trial := a.run(mode, noRm)
		assert.Equal(t, want, a.refused, "mode %s", mode)
		assert.Equal(t, mode == "sound" || mode == "armed", a.held, "mode %s", mode)
		assert.Equal(t, evaltest.OutcomeFailed, trial.Outcome, "in mode %s the call counts as run", mode)
	}
}

// A smoke check had its answer when a call was prevented that the gate can absorb: the run goes on as if nothing had been
// decided, and what comes next is permitted.
func TestWhatIsPreventedRefusesNothingWhenTheRunGoesOn(t *testing.T) {
	a := &asks{answers: [][]agents.ToolCall{{called("a", actPDF), called("b", actRm), called("c", actTest)}, {called("d", actTest), called("e", actRm)}}}
	trial := a.run("armed", func(e *evaltest.T) {
		e.StopWhen(evaltest.Pass, criteria.SkillTriggered("pdf"))
		noRm(e)
		e.Expect(simFile{score: evaltest.PassIf(true)})
	}, evaltest.MinScore(0.5))
	assert.Equal(t, []string{"b", "e"}, a.refused, "every rm, and nothing else")
	assert.False(t, a.held)
	assert.Nil(t, trial.Stop)
	assert.Equal(t, evaltest.OutcomePassed, trial.Outcome)
}
