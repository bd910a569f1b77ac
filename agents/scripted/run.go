package scripted

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// run is the answering of one message. Goroutines work (the main thread, each call, each sub-agent); the one that ranges over
// Send delivers. They meet at every event: whoever emits one goes on when the loop's body is done with it.
type run struct {
	s      *session
	ctx    context.Context // done when interrupted: by break, cancellation, Close or a fault
	cancel context.CancelFunc
	events chan *message
	fault  atomic.Pointer[agents.Error] // why ctx is done, when it was none of the others
	done   chan struct{}                // closed when nothing of the run is under way
	unhook func() bool
}

// message is an event on its way. It is taken by whoever delivers or withdrawn by whoever emitted it, never both.
type message struct {
	agents.Event
	claimed atomic.Bool
	ack     chan bool
}

func newRun(ctx context.Context, s *session) *run {
	r := &run{s: s, events: make(chan *message), done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.unhook = context.AfterFunc(s.ctx, r.cancel)
	return r
}

// work carries out answers until one hands back.
func (r *run) work() {
	defer close(r.done)
	defer r.unhook()
	r.guarded(func() { r.talk(r.s.main) })
}

// guarded runs a function of the run's; its panic is a fault of the harness, and ends the session, not the test binary.
func (r *run) guarded(f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.fail(agents.Errorf(agents.Harness, agents.FromHarness, "scripted: panic: %v\n%s", v, debug.Stack()))
		}
	}()
	f()
}

// fail ends the session with err.
func (r *run) fail(err *agents.Error) {
	if r.fault.CompareAndSwap(nil, err) {
		r.s.mu.Lock()
		r.s.over = err
		r.s.mu.Unlock()
		r.cancel()
	}
}

// wait returns when nothing of the run is under way, or false after d.
func (r *run) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.done:
		return true
	case <-t.C:
		return false
	}
}

// deliver yields what is emitted until the run is done or interrupted.
func (r *run) deliver(yield func(agents.Event, error) bool) {
	for {
		select {
		case m := <-r.events:
			if r.ctx.Err() != nil || !m.claimed.CompareAndSwap(false, true) {
				continue // the emitter sees the same and withdraws it
			}
			r.said(m.Event)
			goOn := yield(m.Event, nil)
			if !goOn {
				r.cancel()
			}
			m.ack <- goOn
			if !goOn {
				return
			}
		case <-r.done:
			if r.fault.Load() == nil && r.ctx.Err() == nil {
				return
			}
			r.interrupted(yield)
			return
		case <-r.ctx.Done():
			r.interrupted(yield)
			return
		}
	}
}

// interrupted yields why the run has ended, once it has.
func (r *run) interrupted(yield func(agents.Event, error) bool) {
	r.wait(patience)
	err := r.fault.Load()
	switch {
	case err != nil:
	case r.s.ctx.Err() != nil:
		err = agents.Errorf(agents.Interrupted, agents.FromHarness, "scripted: send: the session was closed")
	default:
		err = agents.Errorf(agents.Interrupted, agents.FromHarness, "scripted: send: %w", context.Cause(r.ctx))
	}
	r.record(map[string]any{"kind": "error", "error": err})
	yield(agents.Event{}, err)
}

// emit hands e over. yielded: it was. goOn: and the loop goes on.
func (r *run) emit(e agents.Event) (yielded, goOn bool) {
	if r.ctx.Err() != nil {
		return false, false
	}
	e.Time = time.Now()
	m := &message{Event: e, ack: make(chan bool, 1)}
	select {
	case r.events <- m:
	case <-r.ctx.Done():
		return false, false
	}
	select {
	case goOn = <-m.ack:
		return true, goOn
	case <-r.ctx.Done():
		// Unless it can be withdrawn, the loop's body has it, and interrupted us.
		return !m.claimed.CompareAndSwap(false, true), false
	}
}

// report is emit for what must not be lost: when the loop was left, it is in the tail.
func (r *run) report(e agents.Event) (goOn bool) {
	yielded, goOn := r.emit(e)
	if !yielded {
		e.Time = time.Now()
		r.s.tail(e)
		r.record(e)
	}
	return goOn
}

// said accounts for an event that is about to be yielded.
func (r *run) said(e agents.Event) {
	if e.Kind == agents.EventUsage {
		r.s.spent(e.Usage)
	}
	r.record(e)
}

// record writes a line of the raw stream.
func (r *run) record(v any) {
	if rec := r.s.setup.Record; rec != nil && rec.Raw != nil {
		line, err := json.Marshal(v)
		if err != nil {
			line, _ = json.Marshal(map[string]string{"kind": "unencodable", "error": err.Error()})
		}
		_, _ = rec.Raw.Write(append(line, '\n')) // whoever gave the writer knows of its errors
	}
}

// sleep returns false when interrupted.
func (r *run) sleep(d time.Duration) bool {
	if d <= 0 {
		return r.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}
