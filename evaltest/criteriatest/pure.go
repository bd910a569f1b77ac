package criteriatest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// purity holds the criterion against the rule pure: looks at the same events must agree.
func (s *session) purity(cases [][]agents.Event) {
	var before []look
	for n, events := range cases {
		if s.violation("pure") != nil {
			return
		}
		c, _ := s.fresh()
		first := s.with(c).watch(events)
		for i, k := range first {
			if i <= len(events) {
				s.suspect(s.undeclaredIn(k), "declared", scene{events[:i], i}, s.undeclared)
			}
		}
		if i := differ(first, s.watch(events)); i >= 0 {
			s.impure(scene{events[:i], i}, fmt.Sprintf("%v by a value that had judged other trajectories, %v by one that had not", s.on(events[:i]), first[i]))
		}
		if n%3 == 0 || n < len(s.witnesses) {
			s.find("pure", scene{events, len(events)}, s.fickle)
			s.find("pure", scene{events[:len(events)/2], len(events) / 2}, s.fickle)
		}
		if !s.moments {
			s.find("pure/clock", scene{events, len(events)}, s.readsTheClock)
		}
		if len(s.beside) > 0 {
			s.find("pure/beside", scene{events, len(events)}, s.disturbed)
		}
		if n > 0 { // two at once
			s.sideBySide(cases[n-1], events, before, first)
		}
		before = first
	}
}

// impression is what was said of a trajectory before much was judged.
type impression struct {
	events []agents.Event
	looks  []look
}

// firstImpressions looks at a few trajectories. What a criterion keeps, it has not seen much of yet.
func (s *session) firstImpressions() (all []impression) {
	for n := range 16 {
		rng := rand.New(rand.NewPCG(s.seed, uint64(10+n)))
		acts := make([]act, 1+n/2)
		for i := range acts {
			acts[i] = pick(rng, s.acts[:min(len(s.acts), 200)])
		}
		t := newTape()
		t.weave(rng, acts)
		events := eventsOf(reel(t.events))
		all = append(all, impression{events, s.watch(events)})
	}
	return all
}

// lastImpressions holds what is said now against what was said then.
func (s *session) lastImpressions(all []impression) {
	for _, then := range all {
		if i := differ(then.looks, s.watch(then.events)); i >= 0 && !s.broken("pure") {
			s.impure(scene{then.events[:i], i}, fmt.Sprintf("%v, and %v when many other trajectories had been judged", then.looks[i], s.on(then.events[:i])))
		}
	}
}

// differ is the index of the first looks that are not the same; -1: all are. Looks that ended in a panic are no looks.
func differ(a, b []look) int {
	for i := range min(len(a), len(b)) {
		if a[i].fault == "" && b[i].fault == "" && !a[i].same(b[i]) {
			return i
		}
	}
	return -1
}

// impure reports a difference that was seen once, shortened if it can be had again.
func (s *session) impure(sc scene, saw string) {
	s.find("pure", sc, s.fickle)
	s.find("pure/once", sc, s.worn)
	if !s.broken("pure") {
		s.reportScene("pure/once", saw, sc)
	}
}

// sideBySide judges two trajectories in turn.
func (s *session) sideBySide(a, b []agents.Event, wantA, wantB []look) {
	trA, trB := new(agents.Trajectory), new(agents.Trajectory)
	var gotA, gotB []look
	step := func(tr *agents.Trajectory, events []agents.Event, got *[]look, i int) {
		if i <= len(events) {
			if i > 0 {
				_ = tr.Append(events[i-1])
			}
			*got = append(*got, s.look(tr))
		}
	}
	for i := range max(len(a), len(b)) + 1 {
		step(trA, a, &gotA, i)
		step(trB, b, &gotB, i)
	}
	if i := differ(wantA, gotA); i >= 0 {
		s.impure(scene{a[:i], i}, fmt.Sprintf("%v where it was judged in turn with another trajectory, %v by itself", gotA[i], wantA[i]))
	}
	if i := differ(wantB, gotB); i >= 0 {
		s.impure(scene{b[:i], i}, fmt.Sprintf("%v where it was judged in turn with another trajectory, %v by itself", gotB[i], wantB[i]))
	}
}

const again = 24 // looks: a map of two is ranged over in either order

// worn: the same events are judged in another way by a value that has judged a lot.
func (s *session) worn(sc scene) string {
	c, unused := s.fresh()
	k, first := s.on(sc.events), s.with(c).on(sc.events)
	if k.fault+first.fault != "" || k.same(first) || !unused {
		return ""
	}
	return fmt.Sprintf("%v, and %v by a value that had judged other trajectories", first, k)
}

// fickle: the same events are judged in one way and then in another, by one value that judges nothing else, or by several that
// do.
func (s *session) fickle(sc scene) string {
	c, _ := s.fresh()
	l := s.with(c)
	all := reel(sc.events)
	fresh := func() *agents.Trajectory { return all.Prefix(all.Len()) } // with a memory of its own
	first := l.look(fresh())
	if first.fault != "" {
		return ""
	}
	for n := range again {
		if k := l.look(fresh()); k.fault == "" && !k.same(first) {
			return fmt.Sprintf("%v, and when the same events were judged again (look %d), %v", first, n+2, k)
		}
	}
	tr := fresh()
	once := l.look(tr)
	for range 6 {
		if more := l.look(tr); more.fault == "" && !more.same(once) {
			return fmt.Sprintf("%v, and when the same trajectory was judged again, %v", once, more)
		}
	}
	for i := range all.Len() {
		l.look(all.Prefix(i))
	}
	if k := l.look(fresh()); k.fault == "" && !k.same(first) {
		return fmt.Sprintf("%v, and %v when its prefixes had been judged in between", first, k)
	}
	for range 6 {
		if !s.constructs {
			break
		}
		if k := s.with(s.construct()).look(fresh()); k.fault == "" && !k.same(first) {
			return fmt.Sprintf("%v by one value of the constructor, %v by another", first, k)
		}
	}
	return ""
}

// readsTheClock: what is said depends on the year in which the events lie.
func (s *session) readsTheClock(sc scene) string {
	now := s.on(sc.events)
	for _, by := range []time.Duration{-50 * 365 * 24 * time.Hour, 50 * 365 * 24 * time.Hour} {
		moved := slices.Clone(sc.events)
		for i := range moved {
			moved[i] = moved[i].At(moved[i].Time.Add(by))
		}
		if k := s.on(moved); now.fault+k.fault == "" && !k.same(now) {
			return fmt.Sprintf("%v, and %v when all events lie %d years %s: does it read the clock? Times are to be taken from events",
				now, k, 50, map[bool]string{true: "earlier", false: "later"}[by < 0])
		}
	}
	return ""
}

// disturbed: what is said depends on which other criteria have judged the trajectory.
func (s *session) disturbed(sc scene) string {
	alone := s.watch(sc.events)
	tr := new(agents.Trajectory)
	var looks []look
	for i := range len(sc.events) + 1 {
		if i > 0 {
			_ = tr.Append(sc.events[i-1])
		}
		for _, c := range s.beside {
			_ = s.with(c).look(tr)
		}
		looks = append(looks, s.look(tr))
	}
	if i := differ(alone, looks); i >= 0 {
		return fmt.Sprintf("%v after %s, and %v where another criterion had judged the same trajectory: do they share a key?", alone[i], counted(i, "event"), looks[i])
	}
	return ""
}

// letTimePass has years go by between two looks at the same events.
func (s *session) letTimePass(t *testing.T) {
	s.mu.Lock()
	skip := s.over || s.found["pure"] != nil || s.found["returns"] != nil
	s.mu.Unlock()
	if skip {
		return
	}
	var cases [][]agents.Event
	for _, w := range s.witnesses[:min(len(s.witnesses), 12)] {
		cases = append(cases, newTape().all(w).events)
	}
	cases = append(cases, newTape().events)
	synctest.Test(t, func(*testing.T) {
		first := make([]look, len(cases))
		for i, events := range cases {
			first[i] = s.on(events)
		}
		for _, d := range []time.Duration{time.Second, time.Hour, 40 * 24 * time.Hour, 60 * 365 * 24 * time.Hour} {
			time.Sleep(d)
			for i, events := range cases {
				if k := s.on(events); first[i].fault+k.fault == "" && !k.same(first[i]) {
					s.reportScene("pure/clock", fmt.Sprintf("%v, and %v when the same events are judged %v later", first[i], k, d), scene{events, len(events)})
					return
				}
			}
		}
	})
}
