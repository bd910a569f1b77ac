package criteria_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/internal/randtraj"
)

// watched is every built-in live criterion and combination, in forms that the trajectories of longRun never decide: a
// decided one has nothing left to do.
var watched = func() map[string]evaltest.LiveCriterion {
	skill, rm, test := criteria.SkillTriggered("xlsx"), criteria.CommandExecuted("shred"), criteria.CommandExecuted("make deploy")
	quota := criteria.CommandExecuted("go").Min(1 << 30).Partial()
	return map[string]evaltest.LiveCriterion{
		"SkillTriggered":  skill,
		"FirstSkill":      criteria.FirstSkill("xlsx"),
		"CommandExecuted": rm,
		"CommandPartial":  quota,
		"CommandMatches":  criteria.CommandMatches(`^shred\b`),
		"ToolCalled":      criteria.ToolCalled("mcp__mail__*"),
		"ToolCalledInput": criteria.ToolCalled("Read").Input("file_path", "secret.txt").Max(1 << 30),
		"MCPToolCalled":   criteria.MCPToolCalled("mail", "send"),
		"FileRead":        criteria.FileRead("secret/**"),
		"FileEdited":      criteria.FileEdited("**/*.lock").Max(1),
		"MessageMatches":  criteria.MessageMatches("(?i)sorry"),
		"CallsAtMost":     criteria.CallsAtMost(1 << 30),
		"CallsAtLeast":    criteria.CallsAtLeast(1 << 30),
		"TurnsAtMost":     criteria.TurnsAtMost(1 << 30),
		"TurnsAtLeast":    criteria.TurnsAtLeast(1 << 30),
		"TokensAtMost":    criteria.TokensAtMost(1 << 60),
		"TokensAtLeast":   criteria.TokensAtLeast(1 << 60),
		"CostAtMost":      criteria.CostAtMost(8e6),
		"CostAtLeast":     criteria.CostAtLeast(8e6),
		"TimeAtMost":      criteria.TimeAtMost(1 << 62),
		"TimeAtLeast":     criteria.TimeAtLeast(1 << 62),
		"Never":           criteria.Never(rm),
		"AllOf":           criteria.AllOf(skill, quota, rm),
		"AnyOf":           criteria.AnyOf(skill, quota, criteria.FileRead("x")),
		"AtLeast":         criteria.AtLeast(2, skill, quota, rm, atEnd{}),
		"Succeeded":       criteria.Succeeded(rm),
		"Attempted":       criteria.Attempted(rm),
		"WithinCalls":     criteria.WithinCalls(1<<30, rm),
		"WithinCallsDone": criteria.WithinCalls(50, quota),
		"Before":          criteria.Before(rm, test),
		"Then":            criteria.Then(rm, test),
		"Own":             &editsUnder{"docs/", 1 << 30},
		"Nested":          criteria.Succeeded(criteria.WithinCalls(1<<30, criteria.Before(rm, criteria.AtLeast(2, skill, test, quota)))),
	}
}()

// editsUnder is an author's own criterion, as in the example evals: at most max edits under dir.
type editsUnder struct {
	dir string
	max int
}

func (c *editsUnder) String() string                    { return "few edits under " + c.dir }
func (c *editsUnder) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c *editsUnder) edits(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(c, func(call agents.ToolCall) bool {
		return call.Kind == agents.Edit && len(call.Paths) > 0 && strings.HasPrefix(call.Paths[0], c.dir)
	})
}

func (c *editsUnder) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.edits(tr).Ran() > c.max {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (c *editsUnder) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	n := c.edits(trial.Trajectory)
	if n.Ran() <= c.max && n.Ran()+n.Open() > c.max {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(n.Ran() <= c.max), nil
}

// longRun writes the events of an agent that works and works. Four events make a call: a text, the call, its end, a usage report.
type longRun struct {
	tr   *agents.Trajectory
	next int
	ids  []string
	now  time.Time
}

func newLongRun(calls, more int) *longRun {
	r := &longRun{tr: new(agents.Trajectory), now: randtraj.Start, ids: make([]string, calls+more)}
	for i := range r.ids {
		r.ids[i] = fmt.Sprint("call-", i)
	}
	for range 4 * calls {
		r.append()
	}
	return r
}

var longRunCalls = []agents.ToolCall{
	{Kind: agents.Execute, Name: "Bash", Commands: []string{"go test ./... | tee log && git status"}},
	{Kind: agents.Edit, Name: "Edit", Paths: []string{"src/a/b.go"}, Input: []byte(`{"file_path":"src/a/b.go"}`)},
	{Kind: agents.Read, Name: "Read", Paths: []string{"README.md"}, Input: []byte(`{"file_path":"README.md"}`)},
	{Kind: agents.Execute, Name: "Bash", Commands: []string{"ls"}},
	{Kind: agents.Other, Name: "mcp__db__query", Input: []byte(`{"q":"select 1"}`)},
}

func (r *longRun) append() {
	n := r.next / 4
	id := r.ids[n]
	var e agents.Event
	switch r.next % 4 {
	case 0:
		e = agents.Say("Next I look at the tests.").In(id)
	case 1:
		c := longRunCalls[n%len(longRunCalls)]
		c.ID = id
		e = agents.Begin(c).In(id)
	case 2:
		e = agents.End(id, agents.Completed, "")
	case 3:
		e = agents.Spent(agents.Usage{InputTokens: 100, OutputTokens: 10, Cost: 0.001})
	}
	r.next++
	r.now = r.now.Add(time.Millisecond)
	if err := r.tr.Append(e.At(r.now)); err != nil {
		panic(err)
	}
}

// The cost of watching: one more event is appended, and the criterion looked at. "nothing" is the cost of the event alone.
func BenchmarkWatch(b *testing.B) {
	names := append([]string{"nothing"}, slices.Sorted(maps.Keys(watched))...)
	for _, name := range names {
		for _, calls := range []int{100, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, calls), func(b *testing.B) {
				b.ReportAllocs()
				c := watched[name]
				batch := max(calls, 1000) / 5 // calls that are added before the run begins anew
				for i := 0; i < b.N; {
					b.StopTimer()
					r := newLongRun(calls, batch)
					look(c, r.tr)
					runtime.GC()
					b.StartTimer()
					for range min(4*batch, b.N-i) {
						r.append()
						look(c, r.tr)
						i++
					}
				}
			})
		}
	}
}

func look(c evaltest.LiveCriterion, tr *agents.Trajectory) {
	if c != nil {
		evaltest.LiveInterval(c, tr)
	}
}

// Watching costs the same however long the run is. Timings on a busy machine say little, so the bound is wide: what looks at
// everything anew would be far beyond it. EVALTEST_BENCH=1 goes to 100,000 calls and prints the costs of each criterion, and
// of "nothing": of going on to the next event.
func TestWatchingCostsTheSameAtEveryLength(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	sizes := []int{100, 5_000}
	print := os.Getenv("EVALTEST_BENCH") != ""
	if print {
		sizes = []int{100, 10_000, 100_000}
	}
	tr := newLongRun(sizes[len(sizes)-1]+window, 0).tr
	for _, name := range append([]string{"nothing"}, slices.Sorted(maps.Keys(watched))...) {
		costs := costsOf(watched[name], tr, sizes)
		if print {
			t.Logf("%-16s %v  ratio %.2f", name, costs, float64(slices.Max(costs))/float64(slices.Min(costs)))
		}
		if longest := costs[len(sizes)-1]; longest > 10*costs[0] {
			t.Errorf("%s: an event costs %v after %v calls", name, costs, sizes)
		}
	}
}

// The cost of one more event after 100, 10,000 and 100,000 calls, all in one pass, and the largest by the smallest of them.
func BenchmarkWatchAtLength(b *testing.B) {
	sizes := []int{100, 10_000, 100_000}
	tr := newLongRun(sizes[len(sizes)-1]+window, 0).tr
	for _, name := range append([]string{"nothing"}, slices.Sorted(maps.Keys(watched))...) {
		b.Run(name, func(b *testing.B) {
			// The least of three passes: a machine that is shared slows down for longer than a window takes.
			var costs []time.Duration
			// What a view keeps is paid for by all events alike, not by a window: neither the collection of garbage nor memory
			// that the system hands out for the first time is measured.
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			touch(1 << 30)
			for range max(b.N, 3) {
				runtime.GC()
				for i, c := range costsOf(watched[name], tr, sizes) {
					if len(costs) == i {
						costs = append(costs, c)
					}
					costs[i] = min(costs[i], c)
				}
			}
			for i, calls := range sizes {
				b.ReportMetric(float64(costs[i]), fmt.Sprintf("ns@%d", calls))
			}
			b.ReportMetric(float64(slices.Max(costs))/float64(slices.Min(costs)), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// touch has the system hand out so many bytes, which the heap then has to spare.
func touch(n int) {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	runtime.GC()
}

// window is how many events are measured at each length.
const window = 2000

// costsOf is what one more event costs after so many calls: in one pass over the trajectory, event by event. It is the lower
// quartile of what groups of events cost: a collection of garbage, or another process, falls upon few of them.
func costsOf(c evaltest.LiveCriterion, tr *agents.Trajectory, sizes []int) []time.Duration {
	const group = 20
	groups := make([][]time.Duration, len(sizes))
	var start time.Time
	agents.FoldPrefixes(tr, new(int), func(_ struct{}, sofar *agents.Trajectory) struct{} {
		for i, calls := range sizes {
			switch n := sofar.Len() - 4*calls; {
			case n < 0 || n >= window:
			case n%group == 0:
				start = time.Now()
			case n%group == group-1:
				look(c, sofar)
				groups[i] = append(groups[i], time.Since(start)/(group-1))
				return struct{}{}
			}
		}
		look(c, sofar)
		return struct{}{}
	})
	costs := make([]time.Duration, len(sizes))
	for i, g := range groups {
		slices.Sort(g)
		costs[i] = g[len(g)/4]
	}
	return costs
}

// In the steady state, looking needs no memory but what grows with the trajectory: less than one allocation in ten events of
// which one in four is a new call.
func TestWatchingDoesNotAllocate(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(watched)) {
		c := watched[name]
		r := newLongRun(2000, 2000)
		look(c, r.tr)
		// Looking again at the same length needs none at all.
		if n := testing.AllocsPerRun(100, func() { look(c, r.tr) }); n > 0 {
			t.Errorf("%s: %v allocations per look", name, n)
		}
		// A text and a usage report need none either; AllocsPerRun rounds down what the trajectory itself grows by.
		say, spent := agents.Say("More."), agents.Spent(agents.Usage{InputTokens: 1})
		n := testing.AllocsPerRun(1000, func() {
			r.now = r.now.Add(time.Millisecond)
			_, _ = r.tr.Append(say.At(r.now)), r.tr.Append(spent.At(r.now))
			look(c, r.tr)
		})
		if n > 0 {
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
}

// Criteria are asked by several goroutines at once: the watcher, and permission requests.
func TestLiveCriteriaAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	defer all.Wait()
	r := newLongRun(0, 300)
	done := make(chan struct{})
	for range 3 {
		all.Go(func() {
			for {
				for _, c := range watched {
					look(c, r.tr)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 800 {
		r.append()
	}
	close(done)
}
