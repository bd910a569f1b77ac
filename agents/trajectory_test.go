package agents_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

// What was said of a trajectory when it was that long is what is said of the prefix, ever after.
func TestAPrefixSaysWhatTheTrajectoryDidAtThatLength(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		evs := events(r, 1+r.IntN(40))
		k := &named{"A"}
		live := new(agents.Trajectory)
		said := []string{answers(live, k)}
		for i, e := range evs {
			require.NoError(t, live.Append(e), "seed %d, event %d", seed, i)
			said = append(said, answers(live, k))
		}
		for _, n := range r.Perm(len(said)) {
			require.Empty(t, cmp.Diff(said[n], answers(live.Prefix(n), k)), "seed %d, prefix %d", seed, n)
			require.Empty(t, cmp.Diff(said[n], answers(agents.NewTrajectory(evs[:n]...), k)), "seed %d, made at once, %d", seed, n)
			with := live.Prefix(n / 2).With(evs[n/2 : n]...)
			require.Empty(t, cmp.Diff(said[n], answers(with, k)), "seed %d, With, %d", seed, n)
			longer := live.Prefix(n)
			require.Empty(t, cmp.Diff(said[n/2], answers(longer.Prefix(n/2), k)), "seed %d, prefix of a prefix, %d", seed, n)
		}
	}
}

func TestATallyIsThatOfTheCallsStatuses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		evs := events(r, 80)
		tr := new(agents.Trajectory)
		k := &named{"B"}
		asked := r.IntN(4) // how often a tally is asked for must not matter
		for n, e := range evs {
			require.NoError(t, tr.Append(e))
			if r.IntN(4) <= asked || n == len(evs)-1 {
				require.Equal(t, naive(evs[:n+1], k.match), tr.Tally(k, k.match), "seed %d, length %d", seed, n+1)
			}
		}
		total := tr.Tally(weightKey{}, func(agents.ToolCall) bool { return true })
		assert.Equal(t, total.Dispatched(), len(slices.Collect(tr.Calls())))
	}
}

func TestWithLeavesItsTrajectoryAlone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	tr := agents.NewTrajectory(events(r, 40)...)
	k := &named{"A"}
	before := answers(tr, k)
	with := tr.With(
		agents.Begin(agents.ToolCall{ID: "new", Name: "A"}), agents.Begin(agents.ToolCall{ID: "new", Name: "A"}),
		agents.End("nobody", agents.Completed, ""), agents.End("new", agents.Completed, "done"))
	assert.Equal(t, tr.Len()+2, with.Len(), "what Append would refuse is left out")
	assert.Equal(t, "done", with.Output("new"))
	assert.Empty(t, cmp.Diff(before, answers(tr, k)))
	require.NoError(t, with.Append(agents.Say("it can grow")))
}

func TestAppendRefusesWhatContradicts(t *testing.T) {
	t.Parallel()
	begin := agents.Begin(agents.ToolCall{ID: "a", Name: "Bash"})
	for _, c := range []struct {
		name   string
		before []agents.Event
		event  agents.Event
		err    string // "": taken
	}{
		{"a call without an id", nil, agents.Begin(agents.ToolCall{Name: "Bash"}), "call of Bash has no id"},
		{"a second call with the id", []agents.Event{begin}, begin, "a second call has the id a"},
		{"a status of nothing", nil, agents.End("a", agents.Completed, ""), `unknown call "a"`},
		{"a second end", []agents.Event{begin, agents.End("a", agents.Completed, "")}, agents.End("a", agents.Failed, ""), "completed already"},
		{"an end after a refusal", []agents.Event{begin, agents.End("a", agents.Denied, "")}, agents.End("a", agents.Completed, ""), "denied already"},
		{"the same status again", []agents.Event{begin, agents.End("a", agents.InProgress, "")}, agents.End("a", agents.InProgress, ""), "in_progress already"},
		{"the status that it begins with", []agents.Event{begin}, agents.End("a", agents.Pending, ""), "pending already"},
		{"no status", []agents.Event{begin}, agents.End("a", "", ""), "has no status"},
		{"an end after it was lost from sight", []agents.Event{begin, agents.End("a", agents.Unresolved, "")}, agents.End("a", agents.Completed, ""), ""},
		{"a kind of event that is not known", nil, agents.Event{Kind: "newer"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := agents.NewTrajectory(c.before...)
			err := tr.Append(c.event)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
			assert.Equal(t, len(c.before), tr.Len(), "nothing is added")
			assert.Panics(t, func() { agents.NewTrajectory(append(slices.Clone(c.before), c.event)...) })
		})
	}
	assert.ErrorContains(t, agents.NewTrajectory(begin).Prefix(1).Append(agents.Say("x")), "it is a prefix")
}

func TestTimesNeverRunBackwards(t *testing.T) {
	t.Parallel()
	before := time.Now()
	tr := agents.NewTrajectory(agents.Say("now"), agents.Say("early").At(noon.AddDate(-10, 0, 0)), agents.Say("late").At(noon.AddDate(100, 0, 0)), agents.Say("now"))
	assert.False(t, tr.Event(0).Time.Before(before), "a zero time is stamped")
	for i := 1; i < tr.Len(); i++ {
		assert.False(t, tr.Event(i).Time.Before(tr.Event(i-1).Time))
	}
	assert.Equal(t, tr.Event(0).Time, tr.Event(1).Time)
	assert.Equal(t, noon.AddDate(100, 0, 0), tr.Event(2).Time, "a later time is kept")
}

func TestBounds(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(agents.Say("a"))
	assert.Panics(t, func() { tr.Prefix(2) })
	assert.Panics(t, func() { tr.Prefix(-1) })
	assert.Panics(t, func() { tr.Event(1) })
	assert.Panics(t, func() { tr.Prefix(0).Event(0) })
	_, ok := new(agents.Trajectory).Call("a")
	assert.False(t, ok)
	assert.Empty(t, tr.Output("a"))
	assert.Zero(t, new(agents.Trajectory).Len())
}

// One goroutine appends; others ask the trajectory, its prefixes and views. It is for the race detector.
func TestATrajectoryIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	evs := events(r, 150)
	tr := new(agents.Trajectory)
	k := &named{"A"}
	var all sync.WaitGroup
	all.Go(func() {
		for _, e := range evs {
			assert.NoError(t, tr.Append(e))
		}
	})
	for g := range 3 {
		all.Go(func() {
			for tr.Len() < len(evs) {
				n := tr.Len()
				p := tr.Prefix(n)
				assert.Equal(t, naive(evs[:n], k.match), p.Tally(k, k.match))
				tr.Tally(k, k.match)
				agents.Fold(tr, foldKey{}, digest)
				agents.FoldPrefixes(tr, prefixesKey{k}, k.everRan)
				settledOnly(tr).Tally(k, k.match)
				for c := range tr.Calls() {
					_ = tr.Output(c.ID)
				}
				if g == 0 {
					_ = tr.With(agents.Say("x")).Len()
				}
			}
		})
	}
	all.Wait()
	assert.Empty(t, cmp.Diff(answers(agents.NewTrajectory(evs...), k), answers(tr, k)))
}
