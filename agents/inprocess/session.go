package inprocess

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// patience is how long an ending waits for the program where it does not heed its context.
const patience = 5 * time.Second

// A Session is what a program is told of the session that it answers in.
type Session struct {
	// Setup is what the eval asks for.
	Setup agents.Setup
	// RawItself is set by a program that writes Setup.Record's raw stream itself. Else that is its events, as JSON, one a line.
	RawItself bool

	name   string
	answer Answer
	ctx    context.Context // done when the session is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	running *Turn
	closed  bool
	over    *agents.Error // the session has failed: there is no way on
	final   agents.Final
	closers []func() error

	closeOnce sync.Once
	closeErr  error
}

// Context is done when the session is closed.
func (s *Session) Context() context.Context { return s.ctx }

// OnClose has f called when the session is closed and nothing of a turn is under way, or when open fails: the last one first.
func (s *Session) OnClose(f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, f)
}

// Answered says which version of the program, and which model, the session has shown; "" leaves what was said before.
func (s *Session) Answered(version, model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version != "" {
		s.final.Version = version
	}
	if model != "" {
		s.final.Model = model
	}
}

// session is a Session as an eval sees it.
type session struct{ s *Session }

func (c *session) Send(ctx context.Context, prompt string) iter.Seq2[agents.Event, error] {
	s := c.s
	var ranged atomic.Bool
	return func(yield func(agents.Event, error) bool) {
		if ranged.Swap(true) {
			yield(agents.Event{}, agents.Errorf(agents.Harness, agents.FromHarness,
				"%s: send: ranged over a second time; call Send again for another message", s.name))
			return
		}
		t, err := s.begin(ctx, prompt)
		if err != nil {
			yield(agents.Event{}, err)
			return
		}
		defer s.end(t)
		t.deliver(yield)
	}
}

// begin starts a turn, unless there is a reason not to.
func (s *Session) begin(ctx context.Context, prompt string) (*Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "%s: send: the session is closed", s.name)
	case s.over != nil:
		return nil, s.over
	case s.running != nil:
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "%s: send: the message before is still being answered", s.name)
	case ctx.Err() != nil:
		return nil, agents.Errorf(agents.Interrupted, agents.FromHarness, "%s: send: %w", s.name, context.Cause(ctx))
	}
	t := newTurn(ctx, s, prompt)
	s.running = t
	go t.work()
	return t, nil
}

// end interrupts t where it is not done, and returns when it is; later only where the program does not heed its context.
func (s *Session) end(t *Turn) {
	t.cancel()
	if !t.wait(patience) {
		return // s.running stays: Close waits once more and reports it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == t {
		s.running = nil
	}
}

func (c *session) Close() (agents.Final, error) {
	s := c.s
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		t := s.running
		s.mu.Unlock()
		s.cancel()
		var errs []error
		if t != nil && !t.wait(patience) {
			errs = append(errs, fmt.Errorf("the agent, a tool or Setup.Permit has not returned %v after its context was done", patience))
		}
		errs = append(errs, s.release())
		if err := errors.Join(errs...); err != nil {
			s.closeErr = agents.Errorf(agents.Harness, agents.FromHarness, "%s: close session: %w", s.name, err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.final, s.closeErr
}

// release calls what was left for the end.
func (s *Session) release() error {
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	s.mu.Unlock()
	var errs []error
	for _, f := range slices.Backward(closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// tail keeps what came after the loop over Send was left.
func (s *Session) tail(e agents.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind == agents.EventUsage {
		s.final.Usage = s.final.Usage.Add(e.Usage)
	}
	s.final.Tail = append(s.final.Tail, e)
}

// spent adds what was yielded to the total.
func (s *Session) spent(u agents.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final.Usage = s.final.Usage.Add(u)
}
