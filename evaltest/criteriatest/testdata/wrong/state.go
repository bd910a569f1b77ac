package wrong

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria that remember, or that let the order of a map decide: the same events are not always judged alike.

var states = []Case{
	{Name: "a counter in a field", New: func() evaltest.Criterion { return &CounterInField{} }, Rules: "pure"},
	{Name: "a latch in a field", New: func() evaltest.Criterion { return &latch{} }, Rules: "pure"},
	{Name: "a map in a field", New: func() evaltest.Criterion { return toolsSeen{seen: map[string]bool{}} }, Rules: "pure"},
	{Name: "the first verdict kept for ever", New: func() evaltest.Criterion { return &firstForEver{} }, Rules: "reachable"},
	{Name: "a verdict cached by the length", New: func() evaltest.Criterion { return &cachedByLength{cache: map[int]evaltest.Verdict{}} }, Rules: "pure"},
	{Name: "a global by the ids of calls", New: newEverSeen, Rules: "pure", Global: true},
	{Name: "looks counted by trajectory", New: func() evaltest.Criterion {
		return looksOfTrajectory{mu: new(sync.Mutex), asked: map[*agents.Trajectory]int{}}
	}, Rules: "pure"},
	{Name: "a variable that a step of Fold captures", New: live(captured{}), Rules: "pure"},
	{Name: "one key for all parameters", New: live(sharedKey{"pdf"}), Rules: "pure", Options: []criteriatest.Option{criteriatest.Beside(sharedKey{"csv"})}},
	{Name: "appending to the trajectory", New: live(appends{}), Rules: "pure"},
	{Name: "the trajectory kept in a field", New: func() evaltest.Criterion { return &HeldInField{} }, Rules: "concurrent"},
	{Name: "a field sorted while judging", New: func() evaltest.Criterion { return &sorts{forbidden: []string{"rm", "dd"}} }},
	{Name: "a variable that a function changes", New: live(limited{})},
	{Name: "a status that is not of the event", New: live(statusNow{}), Rules: "incremental", Also: "reachable"},
	{Name: "a map ranged over into a decision", New: live(MapOrder{}), Rules: "pure", Steps: long(tests, removes), Chance: true},
	{Name: "the first of a map's keys", New: live(firstKey{}), Rules: "pure", Steps: long(removes), Chance: true},
}

// CounterInField counts what it has seen in itself.
type CounterInField struct {
	noRM
	seen int
}

// LiveVerdict counts by the last event.
func (c *CounterInField) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if n := tr.Len(); n > 0 && tr.Event(n-1).Kind == agents.EventCall && rm.In(tr.Event(n-1).Call) {
		c.seen++
	}
	return parts.FailIf(c.seen > 0)
}

// latch stays failed, for every trajectory that comes.
type latch struct {
	noRM
	failed bool
}

func (c *latch) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		c.failed = true
	}
	return parts.FailIf(c.failed)
}

// toolsSeen keeps what it saw in a map, which its copies share.
type toolsSeen struct {
	noRM
	seen map[string]bool
}

func (c toolsSeen) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		c.seen[call.Name] = true
	}
	return parts.FailIf(len(c.seen) > 1 && rm.Tally(tr).Ran() > 0)
}

// firstForEver looks once.
type firstForEver struct {
	noRM
	once    sync.Once
	verdict evaltest.Verdict
}

func (c *firstForEver) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.once.Do(func() { c.verdict = c.noRM.LiveVerdict(tr) })
	return c.verdict
}

// cachedByLength takes trajectories of one length for the same one.
type cachedByLength struct {
	noRM
	mu    sync.Mutex
	cache map[int]evaltest.Verdict
}

func (c *cachedByLength) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.cache[tr.Len()]
	if !ok {
		v = c.noRM.LiveVerdict(tr)
		c.cache[tr.Len()] = v
	}
	return v
}

// everSeen remembers by the ids of calls, in a global, which calls were rm: ids begin anew with each session.
type everSeen struct{ noRM }

var (
	everSeenMu sync.Mutex
	everSeenID = map[string]bool{}
)

func newEverSeen() evaltest.Criterion {
	everSeenMu.Lock()
	defer everSeenMu.Unlock()
	clear(everSeenID)
	return everSeen{}
}

func (everSeen) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	everSeenMu.Lock()
	defer everSeenMu.Unlock()
	failed := false
	for c := range tr.Calls() {
		if rm.In(c.ToolCall) {
			everSeenID[c.ID] = true
		}
		failed = failed || everSeenID[c.ID] && c.Status.Ran()
	}
	return parts.FailIf(failed)
}

// looksOfTrajectory counts how often it was asked about a trajectory.
type looksOfTrajectory struct {
	noRM
	mu    *sync.Mutex
	asked map[*agents.Trajectory]int
}

func (c looksOfTrajectory) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[tr]++
	return parts.FailIf(c.asked[tr] > 2 && rm.Tally(tr).Ran() > 0)
}

// captured counts in a variable of its own what Fold shows it, once.
type captured struct{ noRM }

type capturedKey struct{}

func (captured) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	ran := 0
	agents.Fold(tr, capturedKey{}, func(removing map[string]bool, e agents.Event) map[string]bool {
		if removing == nil {
			removing = map[string]bool{}
		}
		switch {
		case e.Kind == agents.EventCall && rm.In(e.Call):
			removing[e.Call.ID] = true
		case e.Kind == agents.EventStatus && removing[e.CallID] && e.Status.Ran():
			ran++
		}
		return removing
	})
	return parts.FailIf(ran > 0)
}

// sharedKey uses one key for whatever skill is asked for.
type sharedKey struct{ skill string }

type usesKey struct{}

func (c sharedKey) String() string                  { return "uses " + c.skill }
func (sharedKey) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c sharedKey) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(tr.Tally(usesKey{}, parts.Used(c.skill)).Ran() > 0)
}
func (c sharedKey) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(trial.Trajectory.Tally(usesKey{}, parts.Used(c.skill)))
}

// appends writes what it found into the trajectory.
type appends struct{ noRM }

func (c appends) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := c.noRM.LiveVerdict(tr)
	if v == evaltest.Failed {
		_ = tr.Append(agents.Say("rm was run"))
	}
	return v
}

// HeldInField keeps the trajectory in a field, so that its methods need not be given it.
type HeldInField struct {
	noRM
	tr *agents.Trajectory
}

// LiveVerdict leaves the trajectory to another method.
func (c *HeldInField) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.tr = tr
	runtime.Gosched()
	return parts.FailIf(c.removed() > 0)
}

func (c *HeldInField) removed() int { return rm.Tally(c.tr).Ran() }

// sorts has what it searches in sorted by whoever comes first.
type sorts struct {
	noRM
	forbidden []string
}

func (c *sorts) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	slices.Sort(c.forbidden)
	if _, found := slices.BinarySearch(c.forbidden, "rm"); !found {
		return evaltest.Undecided
	}
	return c.noRM.LiveVerdict(tr)
}

var allowed = 0

// Allow is how often rm may run, from now on.
func Allow(n int) { allowed = n }

// limited goes by a variable that anyone may set while it judges.
type limited struct{ noRM }

func (limited) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > allowed)
}

// statusNow folds with the status that a call has now, not the one that it had at the event.
type statusNow struct{ noRM }

type statusNowKey struct{}

func (statusNow) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(agents.Fold(tr, statusNowKey{}, func(n int, e agents.Event) int {
		if e.Kind == agents.EventCall && rm.In(e.Call) {
			if c, _ := tr.Call(e.Call.ID); c.Status.Ran() {
				n++
			}
		}
		return n
	}) > 0)
}

// MapOrder takes the call that a map happens to give first.
type MapOrder struct{ noRM }

// LiveVerdict looks at one call.
func (MapOrder) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	byKind := map[agents.Kind]agents.Call{}
	for c := range tr.Calls() {
		byKind[c.Kind] = c
	}
	for _, c := range byKind {
		return parts.FailIf(rm.In(c.ToolCall) && c.Status.Ran())
	}
	return evaltest.Undecided
}

// firstKey takes the first of keys that are in no order.
type firstKey struct{ noRM }

func (c firstKey) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	kinds := map[agents.Kind]int{}
	for call := range tr.Calls() {
		kinds[call.Kind]++
	}
	all := slices.Collect(maps.Keys(kinds))
	if len(all) == 0 || all[0] != agents.Execute {
		return evaltest.Undecided
	}
	return c.noRM.LiveVerdict(tr)
}
