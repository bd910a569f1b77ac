package evaltest_test

import (
	"math/big"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// checkWhere: a run is cut at the first request that ends a decided answer, and not before or later. What an agent is
// about to do is known here from its script; the watch has to tell it from what it is shown.
func (c *simCase) checkWhere(trial *evaltest.Bare, player *simPlayer) *simFault {
	t := trial.Trial()
	if m := trial.Mode(); m != "sound" && m != "armed" || c.seed%2 == 0 {
		return nil
	}
	if player.timed || player.dead != nil || c.limited() || c.anyFickle() {
		return nil // it may end in other ways, too
	}
	if !c.script.gated && !c.script.ids && !c.script.requests {
		return nil // nothing shows where an answer ends
	}
	cut, length := c.where(trial.Mode(), player, t.Trajectory)
	switch {
	case cut >= 0 && t.Stop == nil:
		return fault("a run that is decided is cut", "decided at length %d, to be cut at %d", length, cut)
	case t.Stop != nil && (cut != player.cut || length != t.Stop.Length):
		return fault("a run is cut where its deciding answer ends", "decided at length %d, to be cut at %d", length, cut)
	}
	return nil
}

// where replays a trajectory and finds its cut, and the length at which the stop was decided; -1: there is none.
func (c *simCase) where(mode evaltest.Mode, player *simPlayer, whole *agents.Trajectory) (cut, length int) {
	end := whole.Len()
	if player.cut >= 0 {
		end = player.cut
	}
	ends := c.boundaries(player, whole, end)
	tr := new(agents.Trajectory)
	none := make([]bool, len(c.gate.specs))
	pending, decided := (*simDecided)(nil), 0
	last := c.gate.knownFrom(tr)
	n := 0
	for i := 0; i <= end; i++ {
		for _, b := range ends[i] {
			if pending == nil || !b.ready(c, tr) || livingThread(tr, pending.thread) != b.thread || !pending.settled(tr) {
				continue
			}
			if c.gate.rule(mode, last, none) != evaltest.Undecided {
				return i, decided
			}
			pending = nil
		}
		if i == end {
			break
		}
		e := whole.Event(i)
		if err := tr.Append(e); err != nil {
			panic(err)
		}
		var answer *simAnswer
		if e.Kind != agents.EventPrompt && e.Kind != agents.EventDone && n < len(player.emitted) {
			answer = player.emitted[n].answer
			n++
		}
		now := c.gate.knownFrom(tr)
		changed := !slices.EqualFunc(now.lo, last.lo, sameRat) || !slices.EqualFunc(now.hi, last.hi, sameRat)
		if last = now; changed && pending == nil && c.gate.rule(mode, now, none) != evaltest.Undecided {
			pending, decided = decidedBy(e, answer, tr), i+1
		}
	}
	return -1, -1
}

func sameRat(a, b *big.Rat) bool { return a.Cmp(b) == 0 }

// simDecided is a stop that waits for its boundary.
type simDecided struct {
	thread string
	answer *simAnswer // nil: it is not known which
}

func decidedBy(e agents.Event, answer *simAnswer, tr *agents.Trajectory) *simDecided {
	d := &simDecided{thread: e.Parent, answer: answer}
	message := e.Message
	if e.Kind == agents.EventStatus {
		call, _ := tr.Call(e.CallID)
		d.thread, message = call.Parent, call.Message
	}
	if message == "" {
		d.answer = nil
	}
	return d
}

// settled reports whether all calls of the deciding answer have settled, those that are still to come included; where it
// is not known, all of its thread.
func (d *simDecided) settled(tr *agents.Trajectory) bool {
	if d.answer != nil {
		return allSettled(tr, d.answer)
	}
	for call := range tr.Calls() {
		if call.Parent == d.thread && call.Status.Open() {
			return false
		}
	}
	return true
}

func allSettled(tr *agents.Trajectory, a *simAnswer) bool {
	for _, b := range a.blocks {
		if b.call == nil {
			continue
		}
		if call, ok := tr.Call(b.call.ID); !ok || call.Status.Open() {
			return false
		}
	}
	return true
}

func livingThread(tr *agents.Trajectory, thread string) string {
	for thread != "" {
		call, ok := tr.Call(thread)
		if !ok || call.Status.Open() {
			return thread
		}
		thread = call.Parent
	}
	return ""
}

// simBoundary is where a thread asks for its next answer, as far as it is shown.
type simBoundary struct {
	thread string
	before *simAnswer // the answer before; nil: none, or none that was shown
	shown  bool       // by the stream, which has to show that all is settled, too
}

// ready reports whether nothing of the answer before is open. Where a call's end is hidden, the stream never shows that.
func (b simBoundary) ready(c *simCase, tr *agents.Trajectory) bool {
	if !b.shown {
		return true
	}
	if b.before != nil && c.script.ids {
		return allSettled(tr, b.before)
	}
	for call := range tr.Calls() {
		if call.Parent == b.thread && call.Status.Open() {
			return false
		}
	}
	return true
}

// boundaries are all that were shown of a run, by the length of the trajectory.
func (c *simCase) boundaries(player *simPlayer, whole *agents.Trajectory, end int) map[int][]simBoundary {
	ends := map[int][]simBoundary{}
	add := func(at int, b simBoundary) { ends[at] = append(ends[at], b) }
	for _, a := range player.asked {
		switch {
		case c.script.gated && a.answer != nil:
			add(a.n, simBoundary{thread: a.thread, before: a.answer})
		case !c.script.gated && c.script.requests:
			add(a.n, simBoundary{thread: a.thread, before: player.answerBefore(a), shown: true})
		}
	}
	n, prompts := 0, 0
	last := map[string]*simAnswer{}
	for i := range end {
		e := whole.Event(i)
		if e.Kind == agents.EventPrompt || e.Kind == agents.EventDone {
			if e.Kind == agents.EventDone {
				if prompts++; prompts < len(c.script.prompts) {
					add(i+1, simBoundary{})
				}
			}
			continue
		}
		if n == len(player.emitted) {
			break
		}
		a := player.emitted[n].answer
		n++
		c.newAnswer(a, e, last, i, add)
	}
	// The event at which the run was cut is no part of its trajectory.
	if n < len(player.emitted) {
		e := player.emitted[n]
		c.newAnswer(e.answer, e.Event, last, end, add)
	}
	return ends
}

func (c *simCase) newAnswer(a *simAnswer, e agents.Event, last map[string]*simAnswer, at int, add func(int, simBoundary)) {
	if a == nil || e.Kind != agents.EventMessage && e.Kind != agents.EventCall {
		return
	}
	if before := last[a.thread]; before != nil && before != a && !c.script.gated && c.script.ids {
		add(at, simBoundary{thread: a.thread, before: before, shown: true})
	}
	last[a.thread] = a
}

// answerBefore is the last answer of a thread before it asked: with a new prompt, that of the turn before.
func (p *simPlayer) answerBefore(ask simAsk) *simAnswer {
	if ask.answer != nil || ask.thread != "" {
		return ask.answer
	}
	var last *simAnswer
	for _, a := range p.asked {
		if a.thread == "" && a.n < ask.n && a.next != nil {
			last = a.next
		}
	}
	return last
}
