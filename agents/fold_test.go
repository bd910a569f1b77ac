package agents_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

func TestEachEventIsLookedAtOncePerKeyAndTrajectory(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(agents.Say("a"), agents.Say("b"))
	looked := 0
	count := func(n int, _ agents.Event) int { looked++; return n + 1 }
	type key struct{ n int }
	for range 3 {
		assert.Equal(t, 2, agents.Fold(tr, key{1}, count))
	}
	assert.Equal(t, 2, looked)
	require.NoError(t, tr.Append(agents.Say("c")))
	assert.Equal(t, 3, agents.Fold(tr, key{1}, count))
	assert.Equal(t, 3, looked)
	assert.Equal(t, 3, agents.Fold(tr, key{2}, count), "another key")
	assert.Equal(t, 6, looked)
	assert.Equal(t, 2, agents.Fold(tr.Prefix(2), key{1}, count), "memory is the trajectory's own")
	assert.Equal(t, 8, looked)
}

func TestFoldPrefixesSeesEachPrefixOnceWithItsNewEventLast(t *testing.T) {
	t.Parallel()
	type key struct{}
	tr := new(agents.Trajectory)
	var seen []string
	step := func(n int, p *agents.Trajectory) int {
		seen = append(seen, fmt.Sprint(p.Len(), p.Event(p.Len()-1).Text))
		return n + 1
	}
	assert.Zero(t, agents.FoldPrefixes(tr, key{}, step))
	for _, s := range []string{"a", "b", "c"} {
		require.NoError(t, tr.Append(agents.Say(s)))
		if s != "a" {
			agents.FoldPrefixes(tr, key{}, step)
		}
	}
	assert.Equal(t, 3, agents.FoldPrefixes(tr, key{}, step))
	assert.Equal(t, []string{"1a", "2b", "3c"}, seen)
}

// A criterion that panics is caught by whoever asks it, and asked again: no event may be passed over.
func TestAPanicOfAStepPassesNothingOver(t *testing.T) {
	t.Parallel()
	type key struct{}
	tr := agents.NewTrajectory(agents.Say("a"), agents.Say("b"))
	armed := true
	may := func() {
		if armed {
			armed = false
			panic("step")
		}
	}
	for name, ask := range map[string]func() int{
		"Fold": func() int { return agents.Fold(tr, key{}, func(n int, _ agents.Event) int { may(); return n + 1 }) },
		"FoldPrefixes": func() int {
			return agents.FoldPrefixes(tr, key{}, func(n int, _ *agents.Trajectory) int { may(); return n + 1 })
		},
		"View": func() int {
			return tr.View(viewKey{}, func() func(agents.Event, func(agents.Event)) {
				return func(e agents.Event, emit func(agents.Event)) { may(); emit(e) }
			}).Len()
		},
	} {
		armed = true
		assert.Panics(t, func() { ask() }, name)
		assert.Equal(t, 2, ask(), name)
	}
}

func TestAViewHasAMemoryOfItsOwnAndGrowsAlong(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(agents.Begin(agents.ToolCall{ID: "a", Name: "A"}))
	k := &named{"A"}
	v := settledOnly(tr)
	assert.Zero(t, v.Tally(k, k.match))
	assert.Equal(t, agents.Tally{Pending: 1}, tr.Tally(k, k.match))
	require.NoError(t, tr.Append(agents.End("a", agents.Failed, "")))
	assert.Same(t, v, settledOnly(tr), "it is kept")
	assert.Equal(t, agents.Tally{Failed: 1}, v.Tally(k, k.match))
	assert.Equal(t, 2, v.Len(), "the second end was left out")
}

// asks are the ways to ask a trajectory, with a key that is a pointer.
var asks = map[string]func(tr *agents.Trajectory, k *named){
	"Tally":        func(tr *agents.Trajectory, k *named) { tr.Tally(k, k.match) },
	"Weigh":        func(tr *agents.Trajectory, k *named) { tr.Weigh(k, weight) },
	"Fold":         func(tr *agents.Trajectory, k *named) { agents.Fold(tr, k, digest) },
	"FoldPrefixes": func(tr *agents.Trajectory, k *named) { agents.FoldPrefixes(tr, k, everLong) },
	"View":         func(tr *agents.Trajectory, k *named) { settledOnly(tr).Tally(k, k.match) },
	"Turns":        func(tr *agents.Trajectory, _ *named) { tr.Turns() },
	"MainCalls":    func(tr *agents.Trajectory, _ *named) { tr.MainCalls() },
	"Usage":        func(tr *agents.Trajectory, _ *named) { tr.Usage() },
	"Reply":        func(tr *agents.Trajectory, _ *named) { tr.Reply() },
}

func everLong(n int, tr *agents.Trajectory) int { return max(n, tr.Len()) }

func TestAskingAgainAllocatesNothing(t *testing.T) {
	for name, ask := range asks {
		tr := agents.NewTrajectory(events(rand.New(rand.NewPCG(5, 5)), 200)...)
		k := &named{"A"}
		ask(tr, k)
		if n := testing.AllocsPerRun(100, func() { ask(tr, k) }); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// The prefixes of FoldPrefixes are one trajectory that grows, so this is what watching a run does.
func TestTheNextEventAllocatesNothing(t *testing.T) {
	evs := events(rand.New(rand.NewPCG(6, 6)), 4000)
	for name, ask := range asks {
		if name == "View" || name == "Reply" {
			continue // they keep events and text
		}
		tr := agents.NewTrajectory(evs...)
		k := &named{"A"}
		type key struct{}
		allocs := testing.AllocsPerRun(1, func() {
			p := tr.Prefix(tr.Len())
			agents.FoldPrefixes(p, key{}, func(n int, q *agents.Trajectory) int { ask(q, k); return n })
		})
		if per := allocs / float64(len(evs)); per > 0.01 {
			t.Errorf("%s allocates %.3f times an event", name, per)
		}
	}
}

// The cost of one more event is the same at every length: compare the times an event.
func BenchmarkEvent(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		tr := agents.NewTrajectory(events(rand.New(rand.NewPCG(7, 7)), n)...)
		for _, name := range []string{"Tally", "Fold", "FoldPrefixes", "View", "Turns"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				type key struct{}
				k := &named{"A"}
				b.ReportAllocs()
				asked := 0
				for asked < b.N {
					agents.FoldPrefixes(tr.Prefix(n), key{}, func(_ int, q *agents.Trajectory) int {
						asks[name](q, k)
						return 0
					})
					asked += n
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(asked), "ns/event")
			})
		}
	}
}
