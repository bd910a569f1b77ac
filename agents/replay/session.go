package replay

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

type session struct {
	*agent
	setup  agents.Setup
	ctx    context.Context // done when the session is closed
	cancel context.CancelFunc

	mu    sync.Mutex
	next  int // turn
	final agents.Final

	asking sync.WaitGroup // calls of Setup.Permit
}

func (s *session) Send(ctx context.Context, _ string) iter.Seq2[agents.Event, error] {
	var ranged atomic.Bool
	return func(yield func(agents.Event, error) bool) {
		if ranged.Swap(true) {
			yield(agents.Event{}, agents.Errorf(agents.Harness, agents.FromHarness,
				"replay: send: ranged over a second time; call Send again for another message"))
			return
		}
		if err := s.play(ctx, yield); err != nil {
			yield(agents.Event{}, err)
		}
	}
}

// play plays the next turn. It returns nil when the loop was left, too.
func (s *session) play(ctx context.Context, yield func(agents.Event, error) bool) *agents.Error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	defer context.AfterFunc(s.ctx, func() { cancel(errClosed) })()
	t, err := s.turn(ctx)
	if err != nil {
		return err
	}
	g := gate{s: s, ctx: ctx, answers: map[string]chan agents.Decision{}, out: map[string]bool{}}
	var last time.Time
	for _, e := range t.events {
		if !s.wait(ctx, last, e.Time) {
			return interrupted(ctx)
		}
		last = e.Time
		e, ok := g.pass(e)
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		if !ok {
			continue
		}
		s.account(e)
		if s.restamp {
			e.Time = time.Time{}
		}
		if !yield(e, nil) {
			return nil
		}
		if e.Kind == agents.EventCall && !t.denied[e.Call.ID] {
			g.ask(e.Call)
		}
	}
	return s.end(ctx, t, g, yield)
}

// end is what comes after a turn's events.
func (s *session) end(ctx context.Context, t turn, g gate, yield func(agents.Event, error) bool) *agents.Error {
	for _, e := range g.rest() {
		if ctx.Err() == nil && !yield(e, nil) {
			return nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case t.done:
		return nil
	case s.ends != nil:
		return s.ends
	}
	return agents.Errorf(agents.Interrupted, agents.FromHarness, "replay: send: the recording ends before the agent handed back")
}

func (s *session) turn(ctx context.Context) (turn, *agents.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return turn{}, agents.Errorf(agents.Harness, agents.FromHarness, "replay: send: the session is closed")
	case ctx.Err() != nil:
		return turn{}, interrupted(ctx)
	case s.next >= len(s.turns):
		return turn{}, agents.Errorf(agents.Harness, agents.FromHarness,
			"replay: send: the recording has answers to %d messages, and this is another one", len(s.turns))
	}
	s.next++
	return s.turns[s.next-1], nil
}

var errClosed = agents.Errorf(agents.Interrupted, agents.FromHarness, "the session was closed")

func interrupted(ctx context.Context) *agents.Error {
	return agents.Errorf(agents.Interrupted, agents.FromHarness, "replay: send: %w", context.Cause(ctx))
}

// wait lets as much time pass as was recorded, if asked to. It is false when interrupted.
func (s *session) wait(ctx context.Context, last, now time.Time) bool {
	if s.pace && !last.IsZero() && now.After(last) {
		t := time.NewTimer(now.Sub(last))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// account adds to the total, and writes the raw stream.
func (s *session) account(e agents.Event) {
	if e.Kind == agents.EventUsage {
		s.mu.Lock()
		s.final.Usage = s.final.Usage.Add(e.Usage)
		s.mu.Unlock()
	}
	if r := s.setup.Record; r != nil && r.Raw != nil {
		if line, err := json.Marshal(e); err == nil {
			_, _ = r.Raw.Write(append(line, '\n')) // whoever gave the writer knows of its errors
		}
	}
}

func (s *session) Close() (agents.Final, error) {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.asking.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.final, nil
}
