package evaltest_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/evaltest"
)

// simScript is all that a simulated agent is going to do, whatever the harness makes of it.
type simScript struct {
	gated    bool                         // the harness sees each of its requests before it is answered
	ids      bool                         // its events carry the ids of answers
	requests bool                         // its stream shows its requests
	bareness struct{ status, usage bool } // these events carry no id even so
	prompts  [][]*simAnswer
	drain    time.Duration
	dieAt    int // the session dies in place of the n-th event; 0: it does not
}

// simAnswer is one answer of the model: blocks that stream one after the other, while calls run already.
type simAnswer struct {
	id     string
	thread string // id of the sub-agent's call; "": main thread
	blocks []simBlock
	tail   time.Duration // from the last block to the end of the stream
	tokens int64         // reported at the end of the stream; 0: nothing is
}

type simBlock struct {
	gap    time.Duration // after the block before
	text   string        // of a message, when call is nil
	tokens int64         // reported with it
	call   *simCall
}

type simCall struct {
	agents.ToolCall
	progress bool // it is seen as in progress, too
	took     time.Duration
	end      agents.Status // "": its end is never shown
	hangs    bool          // it never ends
	sub      []*simAnswer  // what its sub-agent does
}

// simPlayer plays a script on a clock of its own into a trial. It is a session.
type simPlayer struct {
	script *simScript
	trial  *evaltest.Bare
	rand   *rand.Rand // decides what of the end is seen, and nothing else

	base  time.Time
	now   time.Duration
	queue []simItem
	seq   int
	turn  int
	yield func(agents.Event, error) bool

	emitted  []simEvent // all that the harness was shown, in order
	asked    []simAsk   // all requests, in order
	cut      int        // length of the trajectory when it was cut; -1: it was not
	timed    bool       // a drain ran out
	released int        // stops that did not hold at their boundary
	left     bool       // the harness has left the loop
	over     bool       // the turn is over: the agent hands back
	dead     error      // the session died
	tail     []agents.Event
	pending  []any
}

type simItem struct {
	at  time.Duration
	seq int
	run func()
}

// simEvent is an event with the answer that it is of, which the stream may not show.
type simEvent struct {
	agents.Event
	answer *simAnswer
}

// simAsk is a model request: where it fell, and after which answer.
type simAsk struct {
	n      int // length of the trajectory
	thread string
	answer *simAnswer // nil: the first of its thread
	next   *simAnswer // what comes then; nil: nothing
}

func newSimPlayer(script *simScript, trial *evaltest.Bare, seed uint64) *simPlayer {
	return &simPlayer{script: script, trial: trial, rand: rand.New(rand.NewPCG(seed, 7)), cut: -1}
}

// Close takes its time, on the clock that the harness goes by.
func (p *simPlayer) Close() (agents.Final, error) {
	if p.cut < 0 && p.trial.Ended() { // between two prompts
		p.cut = p.trial.Trial().Trajectory.Len()
	}
	time.Sleep(time.Minute)
	return agents.Final{Tail: p.tail}, nil
}

// Send plays one user turn.
func (p *simPlayer) Send(ctx context.Context, _ string) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) {
		if p.base.IsZero() {
			p.base = time.Now()
		}
		p.yield, p.over = yield, false
		p.answer(p.script.prompts[p.turn], 0, nil, func() { p.over = true })
		p.turn++
		for !p.over && !p.left && p.dead == nil && ctx.Err() == nil {
			if !p.step() {
				p.dead = agents.Errorf(agents.Timeout, agents.FromAgent, "nothing came any more")
				break
			}
			p.drains()
		}
		switch {
		case p.dead != nil && ctx.Err() == nil:
			yield(agents.Event{}, p.dead)
		case p.left || ctx.Err() != nil:
			p.cut = p.trial.Trial().Trajectory.Len()
			p.afterTheCut()
		}
	}
}

// afterTheCut is what the agent still does before it is gone: some of it is yielded, the rest comes with the session's end.
func (p *simPlayer) afterTheCut() {
	yielding, yield := !p.left && p.rand.IntN(2) == 0, p.yield
	p.left = true
	for n := p.rand.IntN(6); len(p.tail) < n && p.step(); {
	}
	if yielding && len(p.tail) > 0 {
		e := p.tail[0]
		p.tail = p.tail[1:]
		if yield(e, nil) {
			panic("the harness goes on after the cut")
		}
	} else if !yielding {
		return
	} else {
		yield(agents.Event{}, agents.Errorf(agents.Interrupted, agents.FromAgent, "interrupted"))
	}
}

func (p *simPlayer) at(d time.Duration, run func()) {
	p.seq++
	p.queue = append(p.queue, simItem{p.now + d, p.seq, run})
}

// step runs the next thing that is due.
func (p *simPlayer) step() bool {
	if len(p.queue) == 0 {
		return false
	}
	next := 0
	for i, it := range p.queue {
		if n := p.queue[next]; it.at < n.at || it.at == n.at && it.seq < n.seq {
			next = i
		}
	}
	it := p.queue[next]
	p.queue = append(p.queue[:next], p.queue[next+1:]...)
	p.now = it.at
	it.run()
	return true
}

// drains has the time run out for each stop that was decided just now.
func (p *simPlayer) drains() {
	for i, now := range p.trial.Pending() {
		for len(p.pending) <= i {
			p.pending = append(p.pending, nil)
		}
		if now != p.pending[i] && now != nil {
			p.at(p.script.drain, func() {
				if ps := p.trial.Pending(); !p.left && ps[i] == now {
					p.timed = true
					p.trial.Drained(i, now)
				}
			})
		}
		if now == nil && p.pending[i] != nil && !p.trial.Ended() && p.trial.Mode() != "shadow" {
			p.released++
		}
		p.pending[i] = now
	}
}

func (p *simPlayer) emit(e agents.Event, a *simAnswer) {
	e = e.At(p.base.Add(p.now))
	if p.script.ids && a != nil && e.Kind != agents.EventRequest {
		bare := p.script.bareness
		if !(e.Kind == agents.EventStatus && bare.status || e.Kind == agents.EventUsage && bare.usage) {
			e.Message = a.id
		}
	}
	switch {
	case p.dead != nil:
	case p.left:
		p.tail = append(p.tail, e)
	case len(p.emitted)+1 == p.script.dieAt:
		p.dead = agents.Errorf(agents.Crash, agents.FromAgent, "the agent died")
	default:
		p.emitted = append(p.emitted, simEvent{e, a})
		p.left = !p.yield(e, nil)
	}
}

// answer plays the i-th answer of a thread, then the ones after it.
func (p *simPlayer) answer(answers []*simAnswer, i int, before *simAnswer, done func()) {
	if p.left || p.dead != nil {
		return
	}
	thread := ""
	if len(answers) > 0 {
		thread = answers[0].thread
	}
	ask := simAsk{n: p.trial.Trial().Trajectory.Len(), thread: thread, answer: before}
	if i < len(answers) {
		ask.next = answers[i]
	}
	p.asked = append(p.asked, ask)
	if p.script.gated {
		r := gateway.Request{N: len(p.asked)}
		if before != nil {
			for _, b := range before.blocks {
				if b.call != nil {
					r.Results = append(r.Results, b.call.ID)
				}
			}
			r.Answer = before.id
		}
		if p.trial.Requested(r) {
			return // held for ever
		}
	}
	if p.script.requests {
		p.emit(agents.Request().Under(thread), nil)
	}
	if i == len(answers) {
		p.at(time.Millisecond, done) // an answer with nothing in it
		return
	}
	a := answers[i]
	streaming, open, calls := true, 0, 0
	next := func() {
		switch {
		case streaming || open > 0:
		case calls == 0:
			p.at(time.Millisecond, done)
		default:
			p.at(time.Millisecond, func() { p.answer(answers, i+1, a, done) })
		}
	}
	var at time.Duration
	for _, b := range a.blocks {
		at += b.gap
		p.at(at, func() {
			if b.call == nil {
				p.emit(agents.Say(b.text).Under(a.thread), a)
			} else {
				open++
				calls++
				p.emit(agents.Begin(b.call.ToolCall), a)
				p.run(a, b.call, func() { open--; next() })
			}
			if b.tokens > 0 {
				p.emit(agents.Spent(agents.Usage{OutputTokens: b.tokens}).Under(a.thread), a)
			}
		})
	}
	p.at(at+a.tail, func() {
		if a.tokens > 0 {
			p.emit(agents.Spent(agents.Usage{InputTokens: a.tokens}).Under(a.thread), a)
		}
		streaming = false
		next()
	})
}

// run carries out a call, and its sub-agent.
func (p *simPlayer) run(a *simAnswer, c *simCall, ended func()) {
	if c.hangs {
		return
	}
	end := func() {
		if c.end != "" {
			p.emit(agents.End(c.ID, c.end, "output of "+c.ID).Under(a.thread), a)
		}
		ended()
	}
	if c.progress {
		p.at(0, func() { p.emit(agents.End(c.ID, agents.InProgress, "").Under(a.thread), a) })
	}
	if len(c.sub) == 0 {
		p.at(c.took, end)
		return
	}
	p.at(time.Millisecond, func() { p.answer(c.sub, 0, nil, func() { p.at(c.took, end) }) })
}

func simLine(e agents.Event, base time.Time) string {
	var what string
	switch e.Kind {
	case agents.EventCall:
		what = fmt.Sprintf("%s %s", e.Call.ID, simSymbols[simSymbol(e.Call)].title)
	case agents.EventStatus:
		what = fmt.Sprintf("%s %s", e.CallID, e.Status)
	case agents.EventUsage:
		what = fmt.Sprint(e.Usage.Tokens())
	default:
		what = e.Text
	}
	return fmt.Sprintf("%6v thread=%-5q answer=%-4q %-8s %s", e.Time.Sub(base).Round(time.Millisecond), e.Parent, e.Message, e.Kind, what)
}
