package inprocess

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// A Turn is the answering of one user message. Goroutines of the program work; the one that ranges over Send delivers. They meet at
// every event: whoever emits one goes on when the loop's body is done with it. All methods are safe for concurrent use.
type Turn struct {
	Prompt string // the user's message

	s      *Session
	ctx    context.Context // done when interrupted: by break, cancellation, Close or a fault
	cancel context.CancelFunc
	events chan *message
	fault  atomic.Pointer[agents.Error] // why ctx is done, when it was none of the others
	done   chan struct{}                // closed when nothing of the turn is under way
	unhook func() bool
}

// message is an event on its way. It is taken by whoever delivers or withdrawn by whoever emitted it, never both.
type message struct {
	agents.Event
	claimed atomic.Bool
	ack     chan bool
}

func newTurn(ctx context.Context, s *Session, prompt string) *Turn {
	t := &Turn{Prompt: prompt, s: s, events: make(chan *message), done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.unhook = context.AfterFunc(s.ctx, t.cancel)
	return t
}

// Context is done when the agent is interrupted, or has failed.
func (t *Turn) Context() context.Context { return t.ctx }

// work has the program answer.
func (t *Turn) work() {
	defer close(t.done)
	defer t.unhook()
	t.Guard(func() {
		err := t.s.answer(t)
		if agents.NoError(err) || t.ctx.Err() != nil {
			return // it was interrupted, and says so
		}
		t.Fail(agents.AsError(err, agents.Crash, agents.FromAgent))
	})
}

// Guard runs f on a goroutine of the program's own: its panic is a crash of the agent's, and ends the session, not the test binary.
func (t *Turn) Guard(f func()) {
	defer func() {
		if v := recover(); v != nil {
			t.Fail(agents.Errorf(agents.Crash, agents.FromAgent, "%s: panic: %v\n%s", t.s.name, v, debug.Stack()))
		}
	}()
	f()
}

// Fail ends the session with err. The first one counts.
func (t *Turn) Fail(err *agents.Error) {
	if t.fault.CompareAndSwap(nil, err) {
		t.s.mu.Lock()
		t.s.over = err
		t.s.mu.Unlock()
		t.cancel()
	}
}

// wait returns when nothing of the turn is under way, or false after d.
func (t *Turn) wait(d time.Duration) bool {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-t.done:
		return true
	case <-over.C:
		return false
	}
}

// deliver yields what is emitted until the turn is done or interrupted.
func (t *Turn) deliver(yield func(agents.Event, error) bool) {
	for {
		select {
		case m := <-t.events:
			if t.ctx.Err() != nil || !m.claimed.CompareAndSwap(false, true) {
				continue // the emitter sees the same and withdraws it
			}
			t.said(m.Event)
			goOn := yield(m.Event, nil)
			if !goOn {
				t.cancel()
			}
			m.ack <- goOn
			if !goOn {
				return
			}
		case <-t.done:
			if t.fault.Load() == nil && t.ctx.Err() == nil {
				return
			}
			t.interrupted(yield)
			return
		case <-t.ctx.Done():
			t.interrupted(yield)
			return
		}
	}
}

// interrupted yields why the turn has ended, once it has.
func (t *Turn) interrupted(yield func(agents.Event, error) bool) {
	t.wait(patience)
	err := t.fault.Load()
	switch {
	case err != nil:
	case t.s.ctx.Err() != nil:
		err = agents.Errorf(agents.Interrupted, agents.FromHarness, "%s: send: the session was closed", t.s.name)
	default:
		err = agents.Errorf(agents.Interrupted, agents.FromHarness, "%s: send: %w", t.s.name, context.Cause(t.ctx))
	}
	t.record(map[string]any{"kind": "error", "error": err})
	yield(agents.Event{}, err)
}

// Emit tells what the agent does, and returns when the loop over Send is done with the event. False: the agent is interrupted, and has
// to return. A status and a usage are never lost: what comes too late for the loop is in Final.Tail. What else comes too late is dropped.
func (t *Turn) Emit(e agents.Event) (goOn bool) {
	if e.Kind == agents.EventStatus || e.Kind == agents.EventUsage {
		return t.Report(e)
	}
	_, goOn = t.emit(e)
	return goOn
}

// emit hands e over. yielded: it was. goOn: and the loop goes on.
func (t *Turn) emit(e agents.Event) (yielded, goOn bool) {
	if t.ctx.Err() != nil {
		return false, false
	}
	e.Time = time.Now()
	m := &message{Event: e, ack: make(chan bool, 1)}
	select {
	case t.events <- m:
	case <-t.ctx.Done():
		return false, false
	}
	select {
	case goOn = <-m.ack:
		return true, goOn
	case <-t.ctx.Done():
		// Unless it can be withdrawn, the loop's body has it, and interrupted us.
		return !m.claimed.CompareAndSwap(false, true), false
	}
}

// Report is Emit for what has happened already, of whatever kind: when the loop was left, it is in Final.Tail.
func (t *Turn) Report(e agents.Event) (goOn bool) {
	yielded, goOn := t.emit(e)
	if !yielded {
		t.Late(e)
	}
	return goOn
}

// Late tells what came to be known after the agent was interrupted: it is in Final.Tail.
func (t *Turn) Late(e agents.Event) {
	e.Time = time.Now()
	t.s.tail(e)
	t.record(e)
}

// said accounts for an event that is about to be yielded.
func (t *Turn) said(e agents.Event) {
	if e.Kind == agents.EventUsage {
		t.s.spent(e.Usage)
	}
	t.record(e)
}

// record writes a line of the raw stream.
func (t *Turn) record(v any) {
	if rec := t.s.Setup.Record; rec != nil && rec.Raw != nil && !t.s.RawItself {
		line, err := json.Marshal(v)
		if err != nil {
			line, _ = json.Marshal(map[string]string{"kind": "unencodable", "error": err.Error()})
		}
		_, _ = rec.Raw.Write(append(line, '\n')) // whoever gave the writer knows of its errors
	}
}

// Sleep returns false when interrupted.
func (t *Turn) Sleep(d time.Duration) bool {
	if d <= 0 {
		return t.ctx.Err() == nil
	}
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}
