package randtraj

import (
	"math/rand/v2"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// Resume goes on with a copy of the trajectory.
func Resume(rng *rand.Rand, tr *agents.Trajectory) *Maker {
	m := NewMaker(rng)
	m.tr, m.ids = tr.With(), false
	for _, e := range tr.Events() {
		m.now = e.Time
		m.ids = m.ids || e.Message != ""
		m.requests = m.requests || e.Kind == agents.EventRequest
	}
	for c := range tr.Calls() {
		if c.Status.Open() {
			m.open = append(m.open, c.ToolCall)
		}
		if c.Kind == agents.Sub && (c.Status.Open() || rng.IntN(4) == 0) {
			m.threads = append(m.threads, c.ID)
		}
	}
	m.calls = 1000 + rng.IntN(1_000_000)
	return m
}

// Complete is one of the ways in which the trajectory may go on and end: at once, with its open calls ending in whatever way, with
// much more of anything, with just what would tip a verdict. Calls may be open at its end.
func Complete(rng *rand.Rand, tr *agents.Trajectory) *agents.Trajectory {
	return Resume(rng, tr).Finish()
}

// Finish goes on with the trajectory, and ends it, in one of the ways of Complete.
func (m *Maker) Finish() *agents.Trajectory {
	rng := m.rng
	switch rng.IntN(8) {
	case 0: // cut here
		return m.tr
	case 1:
		m.Settle(func(agents.ToolCall) agents.Status { return m.status() })
		return m.tr
	case 2:
		m.Settle(always(agents.Denied))
	case 3:
		m.Settle(always(agents.Completed))
	case 4:
		m.Settle(always(agents.Failed))
	case 5: // the last are first
		for i := len(m.open) - 1; i >= 0; i-- {
			m.settle(i, m.status())
		}
	}
	switch rng.IntN(4) {
	case 0:
		m.Everything()
	case 1:
		for range rng.IntN(30) {
			m.Step()
		}
	case 2: // only what nobody has asked for
		for range rng.IntN(5) {
			m.dispatch(agents.ToolCall{ID: m.Call().ID, Kind: agents.Search, Name: "Grep"})
		}
	}
	if rng.IntN(3) > 0 {
		m.Settle(func(agents.ToolCall) agents.Status { return m.status() })
	}
	if rng.IntN(2) == 0 {
		m.Settle(always(pick(rng, []agents.Status{agents.Completed, agents.Denied})))
		m.add(agents.Event{Kind: agents.EventDone})
	}
	return m.tr
}

func always(s agents.Status) func(agents.ToolCall) agents.Status {
	return func(agents.ToolCall) agents.Status { return s }
}

// Settle ends all open calls as end says, in random order.
func (m *Maker) Settle(end func(agents.ToolCall) agents.Status) {
	open := append([]agents.ToolCall(nil), m.open...)
	m.rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for _, c := range open {
		for i := range m.open {
			if m.open[i].ID == c.ID {
				m.settle(i, end(c))
				break
			}
		}
	}
}

// Everything has the agent do all that the lists of this package hold, in random order, and spend a lot.
func (m *Maker) Everything() {
	if m.Words != nil {
		for range 10 + m.rng.IntN(20) {
			m.dispatch(m.Call())
			if m.rng.IntN(2) == 0 {
				m.settle(len(m.open)-1, m.status())
			}
		}
		m.say()
		m.spend()
		return
	}
	var calls []agents.ToolCall
	add := func(c agents.ToolCall) {
		c.ID = m.Call().ID + strings.Repeat("x", len(calls))
		calls = append(calls, c)
	}
	for _, s := range Skills {
		add(agents.ToolCall{Kind: agents.Skill, Name: "Skill", Skill: s})
	}
	for _, s := range Commands {
		add(agents.ToolCall{Kind: agents.Execute, Name: "Bash", Commands: []string{s}})
	}
	for _, p := range Paths {
		add(agents.ToolCall{Kind: agents.Read, Name: "Read", Paths: []string{p}})
		add(agents.ToolCall{Kind: agents.Edit, Name: "Edit", Paths: []string{p}})
	}
	for _, t := range Tools {
		for _, in := range Inputs {
			add(agents.ToolCall{Kind: agents.Other, Name: t, Input: []byte(in)})
		}
	}
	m.rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	for _, c := range calls {
		m.dispatch(c)
		if m.rng.IntN(2) == 0 {
			m.settle(len(m.open)-1, m.status())
		}
	}
	for _, text := range Texts {
		m.add(agents.Say(text).In(m.next("")))
	}
	m.add(agents.Spent(agents.Usage{OutputTokens: 1_000_000, Cost: 100}))
}

// Resolved is the trajectory with its open calls settled at the moment of its last event, and nothing else: another account
// of what is already over.
func Resolved(rng *rand.Rand, tr *agents.Trajectory) *agents.Trajectory {
	out := tr.With()
	if tr.Len() == 0 {
		return out
	}
	last := tr.Event(tr.Len() - 1).Time
	var open []string
	for c := range tr.Calls() {
		if c.Status.Open() {
			open = append(open, c.ID)
		}
	}
	rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for _, id := range open {
		s := pick(rng, []agents.Status{agents.Completed, agents.Failed, agents.Denied})
		_ = out.Append(agents.End(id, s, "").At(last))
	}
	return out
}
