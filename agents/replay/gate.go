package replay

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
)

// gate asks about recorded calls. As with a real agent the calls of an answer are asked about at the same time: an
// answer is waited for when the next event of its call would be played.
type gate struct {
	s       *session
	ctx     context.Context
	pending []string                        // calls asked about, in order
	answers map[string]chan agents.Decision // by call
	out     map[string]bool                 // calls refused, and calls within them
}

// ask begins to ask about a call that was announced.
func (g *gate) ask(c agents.ToolCall) {
	permit := g.s.setup.Permit
	if permit == nil {
		return
	}
	answer := make(chan agents.Decision, 1)
	g.answers[c.ID] = answer
	g.pending = append(g.pending, c.ID)
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.s.ctx.Err() == nil { // Close waits for those that are asked
		g.s.asking.Go(func() { answer <- permit(g.ctx, c) })
	}
}

// decision is the answer about a call that was asked about and not answered for yet.
func (g *gate) decision(id string) (d agents.Decision, asked bool) {
	answer, asked := g.answers[id]
	if !asked {
		return d, false
	}
	delete(g.answers, id)
	select {
	case d = <-answer:
	case <-g.ctx.Done(): // nothing more is played
	}
	return d, true
}

// pass is e as it is played, and whether it is.
func (g *gate) pass(e agents.Event) (agents.Event, bool) {
	id := e.CallID
	if e.Kind != agents.EventStatus {
		id = e.Parent
	}
	if d, asked := g.decision(id); asked && !d.Allow {
		g.out[id] = true
		refusal := g.refusal(id, d)
		refusal.Time, refusal.Message = e.Time, e.Message
		if e.Kind != agents.EventStatus { // the first event within the call, which never comes to it now
			g.drop(e)
			refusal.Message, refusal.Parent = "", ""
			return refusal, true
		}
		refusal.Parent = e.Parent
		return refusal, true
	}
	if g.out[e.Parent] || e.Kind == agents.EventStatus && g.out[e.CallID] {
		g.drop(e)
		return e, false
	}
	return e, true
}

// drop leaves out what happens within e, too.
func (g *gate) drop(e agents.Event) {
	if e.Kind == agents.EventCall {
		g.out[e.Call.ID] = true
	}
}

func (g *gate) refusal(id string, d agents.Decision) agents.Event {
	return agents.End(id, agents.Denied, d.Reason)
}

// rest are the refusals of calls of which nothing more was recorded.
func (g *gate) rest() []agents.Event {
	var out []agents.Event
	for _, id := range g.pending {
		if d, asked := g.decision(id); asked && !d.Allow && g.ctx.Err() == nil {
			out = append(out, g.refusal(id, d))
		}
	}
	return out
}
