package criteria

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// view judges by its part on a trajectory that is derived from the real one, event by event: what is certain of the part there
// is certain here.
type view struct {
	live
	part evaltest.LiveCriterion
	of   func(*agents.Trajectory) *agents.Trajectory
}

func newView(constructor, words string, c evaltest.LiveCriterion, of func(*agents.Trajectory) *agents.Trajectory) view {
	return view{live{words + ": " + nameOf(c), allNeeds(c), livePartsMisuse(constructor, c)}, c, of}
}

func (c *view) components() []evaltest.Criterion { return []evaltest.Criterion{c.part} }

func (c *view) interval(tr *agents.Trajectory) evaltest.Interval {
	if c.err != nil {
		return verdict.Unknown
	}
	return evaltest.LiveInterval(c.part, c.of(tr))
}

// StopPolarities is that of the part.
func (c *view) StopPolarities() evaltest.Polarity { return reach(c.part) }

// LiveBounds says between which scores the final one will lie.
func (c *view) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	i := c.interval(tr)
	return i.Lo, i.Hi
}

// LiveVerdict judges the trajectory so far.
func (c *view) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return verdictOf(c.interval(tr))
}

// Grade scores the finished trial.
func (c *view) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	seen := *trial
	seen.Trajectory = c.of(trial.Trajectory)
	return c.part.Grade(ctx, &seen)
}

// timePasses stands for an event that a view leaves out: of it, only that time has passed until then.
func timePasses(e agents.Event) agents.Event {
	return agents.Event{Kind: agents.EventUsage, Time: e.Time}
}

// Success judges only what succeeded. See [Succeeded].
type Success struct{ view }

type succeededKey struct{}

var succeededCell any = succeededKey{}

// Succeeded judges c as if each call that failed had been denied at that moment: Succeeded(CommandExecuted("go test")) asks for
// go test to end well. c must be live throughout.
//
// It reaches what c reaches.
func Succeeded(c evaltest.LiveCriterion) *Success {
	return &Success{newView("Succeeded", "succeeded", c, func(tr *agents.Trajectory) *agents.Trajectory {
		return tr.View(succeededCell, startSucceeded)
	})}
}

func startSucceeded() func(agents.Event, func(agents.Event)) {
	return func(e agents.Event, emit func(agents.Event)) {
		if e.Kind == agents.EventStatus && e.Status == agents.Failed {
			e.Status = agents.Denied
		}
		emit(e)
	}
}

// Attempt judges what was tried, too. See [Attempted].
type Attempt struct{ view }

type attemptedKey struct{}

var attemptedCell any = attemptedKey{}

// Attempted judges c as if each call completed the moment it was dispatched: a call that is denied later, and one whose end is
// never seen, count too. Never(Attempted(CommandExecuted("rm"))) fails an agent that only tries. What the tools answered is
// not seen. c must be live throughout.
//
// It reaches what c reaches.
func Attempted(c evaltest.LiveCriterion) *Attempt {
	return &Attempt{newView("Attempted", "attempted", c, func(tr *agents.Trajectory) *agents.Trajectory {
		return tr.View(attemptedCell, startAttempted)
	})}
}

func startAttempted() func(agents.Event, func(agents.Event)) {
	return func(e agents.Event, emit func(agents.Event)) {
		if e.Kind == agents.EventStatus {
			emit(timePasses(e))
			return
		}
		emit(e)
		if e.Kind == agents.EventCall {
			emit(agents.Event{Kind: agents.EventStatus, CallID: e.Call.ID, Status: agents.Completed, Time: e.Time, Message: e.Message, Parent: e.Parent})
		}
	}
}
