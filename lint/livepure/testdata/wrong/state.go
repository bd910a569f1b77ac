package wrong

import (
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/livepure/testdata/helpers"
)

type counter struct {
	base
	n int
}

func (c *counter) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.n++ // want `counter.LiveVerdict is not pure: it writes to the field n; keep memory in the trajectory, with agents.Fold`
	return failIf(c.n > 3)
}

type latched struct {
	base
	failed bool
}

func (c *latched) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if calls(tr) > 3 {
		c.failed = true // want `writes to the field failed`
	}
	return failIf(c.failed)
}

// A map is shared, also by the copies of a value receiver.
type seen struct {
	base
	tools map[string]bool
}

func (c seen) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		c.tools[call.Name] = true // want `writes to the field tools`
	}
	return failIf(len(c.tools) > 5)
}

type guarded struct {
	base
	mu   sync.Mutex
	last int
}

func (c *guarded) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.mu.Lock()         // want `calls sync.Mutex.Lock on the field mu`
	defer c.mu.Unlock() // want `calls sync.Mutex.Unlock on the field mu`
	c.last = tr.Len()   // want `writes to the field last`
	return failIf(c.last > 100)
}

type atomically struct {
	base
	asked atomic.Int64
}

func (c *atomically) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(c.asked.Add(1) > 100) // want `calls atomic.Int64.Add on the field asked`
}

type flagged struct {
	base
	stop *atomic.Bool
}

func (c *flagged) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(c.stop.Load()) // want `calls atomic.Bool.Load on the field stop`
}

type helped struct {
	base
	stack helpers.Stack
}

func (c *helped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.stack.Push("x") // want `calls helpers.Stack.Push, which writes to the field words`
	return failIf(c.stack.Len() > 3)
}

type stats struct{ dispatched int }

func (s *stats) note(n int) { s.dispatched = max(s.dispatched, n) }

type noted struct {
	base
	stats stats
}

func (c *noted) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.stats.note(calls(tr)) // want `calls stats.note, which writes to the field dispatched`
	return failIf(c.stats.dispatched > 3)
}

// What a getter returns leads into the criterion.
type through struct {
	base
	stats *stats
}

func (c *through) state() *stats { return c.stats }

func (c *through) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	s := c.state()
	s.dispatched = calls(tr) // want `writes to the field dispatched`
	return failIf(s.dispatched > 3)
}

type sorting struct {
	base
	forbidden []string
}

func (c *sorting) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	slices.Sort(c.forbidden) // want `calls slices.Sort on the field forbidden`
	for call := range tr.Calls() {
		if _, found := slices.BinarySearch(c.forbidden, call.Name); found {
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}

type buffered struct {
	base
	buf []string
}

func (c *buffered) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	names := c.buf[:0]
	for call := range tr.Calls() {
		names = append(names, call.Name)
	}
	c.buf = names // want `writes to the field buf`
	return failIf(slices.Contains(names, "rm"))
}

type summed struct {
	base
	spent *big.Rat
}

func (c *summed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.spent.Add(c.spent, big.NewRat(1, 10)) // want `calls big.Rat.Add on the field spent`
	return failIf(c.spent.Cmp(big.NewRat(1, 1)) > 0)
}

// The first trajectory decides for all.
type memoised struct {
	base
	once    sync.Once
	verdict evaltest.Verdict
}

func (c *memoised) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.once.Do(func() { // want `calls sync.Once.Do on the field once`
		c.verdict = failIf(calls(tr) > 3) // want `writes to the field verdict`
	})
	return c.verdict
}

var total int

type global struct{ base }

func (c *global) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	total++ // want `writes to the variable total`
	return failIf(total > 3)
}

var cache sync.Map

type cached struct{ base }

func (c *cached) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if v, ok := cache.Load(c.name); ok { // want `calls sync.Map.Load on the variable cache`
		return v.(evaltest.Verdict)
	}
	v := failIf(calls(tr) > 3)
	cache.Store(c.name, v) // want `calls sync.Map.Store on the variable cache`
	return v
}

var limit = 3

// SetLimit changes a variable that a criterion reads.
func SetLimit(n int) { limit = n } // want SetLimit:"writes to the variable limit"

type limited struct{ base }

func (c *limited) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(calls(tr) > limit) // want `reads the variable limit, which SetLimit changes; make it a field of the criterion`
}

type limitedElsewhere struct{ base }

func (c *limitedElsewhere) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(calls(tr) > helpers.Limit) // want `reads the variable Limit, which SetLimit changes`
}

type countedElsewhere struct{ base }

func (c *countedElsewhere) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(helpers.Count(c.name) > 3) // want `calls helpers.Count, which writes to the variable counts`
}

type appending struct{ base }

func (c *appending) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	_ = tr.Append(agents.Event{Kind: agents.EventMessage}) // want `calls agents.Trajectory.Append, which appends to it`
	return evaltest.Undecided
}

type generic[T comparable] struct {
	base
	seen map[T]int
	of   func(agents.Call) T
}

func (c *generic[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		c.seen[c.of(call)]++ // want `writes to the field seen`
	}
	return failIf(len(c.seen) > 3)
}

// A comment for another linter.
type unrelated struct {
	base
	n int
}

func (c *unrelated) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { //nolint:revive,livepair // not about this
	c.n++ // want `unrelated.LiveVerdict is not pure`
	return failIf(c.n > 3)
}
