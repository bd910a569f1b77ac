package evaltest_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// checkCompletions: the gate over the grades of each completion comes to the same verdict.
func (c *simCase) checkCompletions(cut *agents.Trajectory, known simKnown, want evaltest.Verdict, stats *simStats) *simFault {
	r := rand.New(rand.NewPCG(c.seed, 1))
	burst := r.IntN(len(simSymbols))
	for n, completion := range []func() []agents.Event{
		func() []agents.Event { return resolve(cut, r, agents.Completed) },
		func() []agents.Event { return resolve(cut, r, agents.Denied) },
		func() []agents.Event { return append(resolve(cut, r, agents.Failed), bursts(r, burst)...) },
		func() []agents.Event { return append(resolve(cut, r, ""), bursts(r, burst+1, burst+2)...) },
		func() []agents.Event { return append(resolve(cut, r, ""), randomRest(r)...) },
		func() []agents.Event { return append(resolve(cut, r, ""), randomRest(r)...) },
	} {
		more := completion()
		tr := cut.With(more...)
		if tr.Len() != cut.Len()+len(more) {
			return fault("a completion is possible", "%d events of %d", tr.Len()-cut.Len(), len(more))
		}
		stats.completions++
		graded, f := c.grades(tr, known)
		if f == nil {
			f = c.checkGrades(r, graded, want)
		}
		if f != nil {
			f.how += fmt.Sprintf("\ncompletion %d:\n", n)
			for _, e := range more {
				f.how += "     " + simLine(e, e.Time) + "\n"
			}
			return f
		}
	}
	// What is known leaves nothing open: each undecided criterion may come out either way.
	if v := c.gate.full(known); v != want {
		return fault("the verdict at a stop is that of every score that is left", "stopped as %v; what is known comes to %v", want, v)
	}
	return nil
}

// grades are the scores on a finished trajectory; nil for what no trajectory decides.
func (c *simCase) grades(tr *agents.Trajectory, known simKnown) ([]*big.Rat, *simFault) {
	scores := make([]*big.Rat, len(c.gate.specs))
	for i, s := range c.gate.specs {
		if s.live() == nil {
			continue
		}
		score, err := s.criterion.Grade(background, &evaltest.Trial{Trajectory: tr})
		switch {
		case errors.Is(err, evaltest.ErrOpen) || score.Err() != nil:
			return nil, fault("where every call has settled a live criterion has a score", "%v: %v %v", s.criterion, score, err)
		case err != nil:
			continue // a part of it has no score
		}
		if scores[i] = score.Rat(); scores[i].Cmp(known.lo[i]) < 0 || scores[i].Cmp(known.hi[i]) > 0 {
			return nil, fault("the score of every completion lies within the bounds", "%v: %v, known was [%v, %v]",
				s.criterion, score, known.lo[i].RatString(), known.hi[i].RatString())
		}
	}
	return scores, nil
}

// checkGrades fills in what no trajectory decides: all lost, all won, and at random.
func (c *simCase) checkGrades(r *rand.Rand, graded []*big.Rat, want evaltest.Verdict) *simFault {
	for n := range 4 {
		scores := make([]*big.Rat, len(graded))
		for i, s := range graded {
			switch {
			case s != nil:
				scores[i] = s
			case n == 0:
				scores[i] = new(big.Rat)
			case n == 1:
				scores[i] = big.NewRat(1, 1)
			default:
				scores[i] = big.NewRat(int64(r.IntN(7)), 6)
			}
		}
		if got := c.gate.passes(scores, nil); got != (want == evaltest.Passed) {
			return fault("the verdict at a stop is that of every completion", "stopped as %v; with scores %v the gate says %v", want, scores, got)
		}
	}
	return nil
}

// resolve ends all open calls, in this way; "": each in its own.
func resolve(tr *agents.Trajectory, r *rand.Rand, end agents.Status) []agents.Event {
	at := tr.Event(tr.Len() - 1).Time
	var events []agents.Event
	for call := range tr.Calls() {
		if !call.Status.Open() {
			continue
		}
		s := end
		if s == "" {
			s = pick(r, agents.Completed, agents.Failed, agents.Denied)
		}
		events = append(events, agents.End(call.ID, s, "").At(at))
	}
	r.Shuffle(len(events), func(i, k int) { events[i], events[k] = events[k], events[i] })
	return events
}

// bursts does the same over and over.
func bursts(r *rand.Rand, symbols ...int) []agents.Event {
	var events []agents.Event
	for _, s := range symbols {
		s %= len(simSymbols)
		for n := range 10 {
			call := simSymbols[s].call
			call.ID = fmt.Sprintf("z%d.%d", n, s)
			answer := fmt.Sprintf("z%d%d", n, s)
			events = append(events, agents.Begin(call).In(answer), agents.End(call.ID, pick(r, agents.Completed, agents.Failed), "").In(answer))
		}
	}
	if r.IntN(2) == 0 {
		events = append(events, agents.Say("hello, done").In("last"), agents.Spent(agents.Usage{OutputTokens: 1000}).In("last"))
	}
	return stamped(events)
}

// randomRest is something that the agent could go on with.
func randomRest(r *rand.Rand) []agents.Event {
	maker := &scriptMaker{r: r, answers: 1000, calls: 1000}
	var events []agents.Event
	for _, a := range maker.thread("", 1+r.IntN(4), 1) {
		var ends []agents.Event
		for _, b := range a.blocks {
			if b.call == nil {
				events = append(events, agents.Say(b.text).In(a.id))
				continue
			}
			end := b.call.end
			if !end.Settled() {
				end = agents.Failed
			}
			events = append(events, agents.Begin(b.call.ToolCall).In(a.id))
			if e := agents.End(b.call.ID, end, ""); r.IntN(2) == 0 {
				events = append(events, e)
			} else {
				ends = append(ends, e)
			}
		}
		events = append(events, ends...)
		if a.tokens > 0 {
			events = append(events, agents.Spent(agents.Usage{InputTokens: a.tokens}).In(a.id))
		}
	}
	return stamped(events)
}

// stamped has each event come a while after the one before, long after the cut.
func stamped(events []agents.Event) []agents.Event {
	at := time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range events {
		at = at.Add(7 * time.Millisecond)
		events[i] = events[i].At(at)
	}
	return events
}
