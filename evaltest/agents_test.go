package evaltest_test

import (
	"context"
	"errors"
	"iter"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// plays is an agent that yields what it is told, one list of events a prompt, and then fails if it has an error.
type plays struct {
	info   agents.Info
	turns  [][]agents.Event
	err    error
	before func(setup agents.Setup, e agents.Event) // called before each event
}

func (p *plays) Info() agents.Info {
	if p.info.Name == "" {
		p.info.Name = "plays"
	}
	return p.info
}

func (p *plays) Open(_ context.Context, s agents.Setup) (agents.Session, error) {
	return &playing{plays: p, setup: s}, nil
}

type playing struct {
	*plays
	setup agents.Setup
	sent  int
}

func (p *playing) Send(ctx context.Context, _ string) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) {
		n := p.sent
		p.sent++
		if n < len(p.turns) {
			for _, e := range p.turns[n] {
				if ctx.Err() != nil {
					yield(agents.Event{}, agents.Errorf(agents.Interrupted, agents.FromHarness, "cancelled"))
					return
				}
				if p.before != nil {
					p.before(p.setup, e)
				}
				if !yield(e, nil) {
					return
				}
			}
		}
		if p.err != nil && n >= len(p.turns)-1 {
			yield(agents.Event{}, p.err)
		}
	}
}

func (p *playing) Close() (agents.Final, error) { return agents.Final{}, nil }

// mute is an agent that hides much and has no permission gate.
type mute struct{}

func (mute) Info() agents.Info {
	return agents.Info{Name: "mute", HidesSubagents: true, Shows: []agents.Kind{agents.Execute, agents.Edit}}
}

func (mute) Open(context.Context, agents.Setup) (agents.Session, error) {
	return nil, errors.New("mute does not open")
}

// named is a live agent that says nothing of costs.
type named struct{ name string }

func (n named) Info() agents.Info { return agents.Info{Name: n.name} }
func (named) Open(context.Context, agents.Setup) (agents.Session, error) {
	return nil, errors.New("closed")
}

// needs is a live criterion that judges these kinds of call.
type needs struct {
	evaltest.LiveCriterion
	kinds []agents.Kind
}

func (n needs) Needs() []agents.Kind { return n.kinds }

// broken is a criterion that was built from parts that do not fit.
type broken struct{ evaltest.Criterion }

func (broken) Misuse() error { return errors.New("its parts do not fit: use others") }
