package agents_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// noon is when made-up events happen.
var noon = time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)

// events are n random events that a trajectory takes: calls of every fate, nested, in parallel, and what lies between.
func events(r *rand.Rand, n int) []agents.Event {
	var out []agents.Event
	var open []string // calls that are not settled
	var subs []string
	status := map[string]agents.Status{}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	for i := 0; len(out) < n; i++ {
		var e agents.Event
		switch k := r.IntN(10); {
		case k < 4:
			id := fmt.Sprint("c", i)
			c := agents.ToolCall{ID: id, Kind: agents.Kinds[r.IntN(len(agents.Kinds))], Name: pick([]string{"A", "B", "C"})}
			c.Commands = strings.Fields(strings.Repeat("x ", r.IntN(3)))
			e = agents.Begin(c).In(fmt.Sprint("m", i/3))
			if len(subs) > 0 && r.IntN(3) == 0 {
				e = e.Under(pick(subs))
			}
			if c.Kind == agents.Sub {
				subs = append(subs, id)
			}
			open, status[id] = append(open, id), agents.Pending
		case k < 8 && len(open) > 0:
			id := pick(open)
			s := []agents.Status{agents.InProgress, agents.Completed, agents.Failed, agents.Denied, agents.Unresolved}[r.IntN(5)]
			if s == status[id] {
				continue
			}
			e, status[id] = agents.End(id, s, fmt.Sprint("out", i)), s
			if s.Settled() {
				open = without(open, id)
			}
		case k == 8:
			e = agents.Spent(agents.Usage{InputTokens: int64(r.IntN(100)), Cost: r.Float64()})
		default:
			e = []agents.Event{agents.Say(fmt.Sprint("text", i)), agents.Request(), agents.Prompt("p"), {Kind: "newer"}}[r.IntN(4)]
		}
		out = append(out, e.At(noon.Add(time.Duration(len(out))*time.Second)))
	}
	return out
}

func without(ids []string, id string) []string {
	var out []string
	for _, x := range ids {
		if x != id {
			out = append(out, x)
		}
	}
	return out
}

// naive is the tally of events worked out from the beginning, without any memory: what Tally has to say.
func naive(events []agents.Event, match func(agents.ToolCall) bool) agents.Tally {
	var t agents.Tally
	for _, c := range events {
		if c.Kind != agents.EventCall || !match(c.Call) {
			continue
		}
		last := agents.Pending
		for _, e := range events {
			if e.Kind == agents.EventStatus && e.CallID == c.Call.ID {
				last = e.Status
			}
		}
		switch last {
		case agents.Completed:
			t.Completed++
		case agents.Failed:
			t.Failed++
		case agents.Denied:
			t.Denied++
		case agents.Unresolved:
			t.Unresolved++
		default:
			t.Pending++
		}
	}
	return t
}

// named is a criterion's key and what it looks for: a pointer, so that each is a key of its own.
type named struct{ name string }

func (n *named) match(c agents.ToolCall) bool { return c.Name == n.name }

// answers is everything that can be asked of a trajectory, as text.
func answers(tr *agents.Trajectory, k *named) string {
	var b strings.Builder
	fmt.Fprintln(&b, "len", tr.Len())
	fmt.Fprintln(&b, "tally", tr.Tally(k, k.match))
	fmt.Fprintln(&b, "weigh", tr.Weigh(weightKey{}, weight))
	fmt.Fprintln(&b, "fold", agents.Fold(tr, foldKey{}, digest))
	fmt.Fprintln(&b, "prefixes", agents.FoldPrefixes(tr, prefixesKey{k}, k.everRan))
	fmt.Fprintln(&b, "view", settledOnly(tr).Tally(k, k.match), settledOnly(tr).Len())
	fmt.Fprintln(&b, "turns", tr.Turns(), tr.MainCalls(), tr.Usage(), tr.Reply())
	for c := range tr.Calls() {
		fmt.Fprintln(&b, c.ID, c.Parent, c.Message, c.Index, c.Began, c.Ended, c.Status, tr.Output(c.ID))
		again, ok := tr.Call(c.ID)
		fmt.Fprintln(&b, ok, again.Status, again.Index, again.Ended)
	}
	for i, e := range tr.Events() {
		fmt.Fprintln(&b, i, e.Kind, e.Time.UnixNano(), tr.Event(i).Text)
	}
	return b.String()
}

type (
	weightKey   struct{}
	foldKey     struct{}
	prefixesKey struct{ *named }
	viewKey     struct{}
)

func weight(c agents.ToolCall) int { return len(c.Commands) }

// digest depends on every event and on their order.
func digest(h uint64, e agents.Event) uint64 {
	for _, b := range []byte(string(e.Kind) + e.CallID + e.Call.ID + string(e.Status)) {
		h = h*1099511628211 + uint64(b)
	}
	return h
}

// everRan counts the prefixes in which something of n had run.
func (n *named) everRan(ran int, tr *agents.Trajectory) int {
	if tr.Tally(n, n.match).Ran() > 0 {
		ran++
	}
	return ran
}

// settledOnly is the trajectory with each call announced when it is settled, and some that contradict: those are left out.
func settledOnly(tr *agents.Trajectory) *agents.Trajectory {
	return tr.View(viewKey{}, func() func(agents.Event, func(agents.Event)) {
		calls := map[string]agents.Event{}
		return func(e agents.Event, emit func(agents.Event)) {
			switch {
			case e.Kind == agents.EventCall:
				calls[e.Call.ID] = e
			case e.Kind == agents.EventStatus && e.Status.Settled():
				emit(calls[e.CallID])
				emit(e)
				emit(e)
			}
		}
	})
}
