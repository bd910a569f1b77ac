package criteria

import (
	"context"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// CallWindow judges the first calls only. See [WithinCalls].
type CallWindow struct {
	view
	n    int
	memo any // key of what the part came to
}

type windowKey struct{ n int }

// WithinCalls judges c on the first n calls of the main thread, in the order of their dispatch, denied ones included, with what
// sub-agents did inside them and what was said, both until the last of those n settled. A call of a sub-agent that is under
// way then still counts as it ends. If fewer calls come, all of them are judged. c must be live throughout.
//
// It reaches Pass and Fail, whatever c reaches: with the n-th call c's score is fixed, as if the agent were done. So it is the step
// budget of a criterion: WithinCalls(5, SkillTriggered("pdf")) fails if the skill is not used by the first five calls.
func WithinCalls(n int, c evaltest.LiveCriterion) *CallWindow {
	var key any = windowKey{n}
	start := func() func(agents.Event, func(agents.Event)) { return (&callFilter{n: n}).step }
	w := &CallWindow{n: n, view: newView("WithinCalls", "within "+counted(n, "call"), c, func(tr *agents.Trajectory) *agents.Trajectory {
		return tr.View(key, start)
	})}
	w.memo = w
	if n < 1 {
		w.err = misuse("WithinCalls", "%d calls; ask for one at least", n)
	}
	return w
}

// callFilter lets through what belongs to the first n calls of the main thread.
type callFilter struct {
	n          int
	dispatched int // calls of the main thread so far, n at most
	open       int // of those, the ones that have not settled
	closed     time.Time
	inside     map[string]bool // calls that were let through; true: of the main thread
}

func (w *callFilter) step(e agents.Event, emit func(agents.Event)) {
	closed := !w.closed.IsZero()
	outside := func() {
		if !closed {
			emit(timePasses(e))
		}
	}
	switch e.Kind {
	case agents.EventCall:
		if closed || !w.admits(e.Call.Parent) || e.Call.Parent == "" && w.dispatched == w.n {
			outside()
			return
		}
		if w.inside == nil {
			w.inside = map[string]bool{}
		}
		w.inside[e.Call.ID] = e.Call.Parent == ""
		if e.Call.Parent == "" {
			w.dispatched++
			w.open++
		}
	case agents.EventStatus:
		main, ok := w.inside[e.CallID]
		if !ok {
			outside()
			return
		}
		if closed {
			e.Time = w.closed
		}
		if main && e.Status.Settled() {
			w.open--
		}
	default:
		if closed || !w.admits(e.Parent) {
			outside()
			return
		}
	}
	emit(e)
	if !closed && w.dispatched == w.n && w.open == 0 {
		w.closed = e.Time
	}
}

// admits reports whether what happens under this parent belongs to the window.
func (w *callFilter) admits(parent string) bool {
	if parent == "" {
		return true
	}
	_, ok := w.inside[parent]
	return ok
}

type anyCallKey struct{}

var anyCallCell any = anyCallKey{}

// complete reports whether nothing can come into the view any more.
func (c *CallWindow) complete(seen *agents.Trajectory) bool {
	return seen.MainCalls().Dispatched() == c.n && seen.Tally(anyCallCell, func(agents.ToolCall) bool { return true }).Open() == 0
}

// StopPolarities is Pass|Fail.
func (c *CallWindow) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

// fixed is what the part came to on a complete window. It is found out once, and belongs to the trajectory of the window.
type fixed struct {
	once  sync.Once
	score evaltest.Interval
	known bool
}

func (c *CallWindow) interval(tr *agents.Trajectory) evaltest.Interval {
	if c.err != nil {
		return verdict.Unknown
	}
	seen := c.of(tr)
	if c.complete(seen) {
		f := agents.Fold(seen, c.memo, func(f *fixed, _ agents.Event) *fixed {
			if f == nil {
				f = new(fixed)
			}
			return f
		})
		f.once.Do(func() {
			// A live criterion's grade depends on the trajectory alone.
			if s, err := c.part.Grade(context.Background(), &evaltest.Trial{Trajectory: seen}); err == nil && s.Err() == nil {
				s.Reason = ""
				f.score, f.known = verdict.Exactly(s), true
			}
		})
		if f.known {
			return f.score
		}
	}
	return evaltest.LiveInterval(c.part, seen)
}

// LiveBounds says between which scores the final one will lie.
func (c *CallWindow) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	i := c.interval(tr)
	return i.Lo, i.Hi
}

// LiveVerdict judges the trajectory so far.
func (c *CallWindow) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return verdictOf(c.interval(tr))
}
