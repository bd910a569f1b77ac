package criteriatest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/internal/randtraj"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// explore holds the criterion against all rules but concurrent.
func (s *session) explore() {
	s.guarded(func() {
		s.introduce()
		s.read()
		impressions := s.firstImpressions()
		s.learn()
		cases := s.makeCases()
		s.lastImpressions(impressions)
		s.purity(cases)
		if s.violation("pure") == nil {
			for n, events := range cases {
				s.judge(n, events)
			}
			s.reachable()
		}
		s.stillTheSame()
	})
	if s.name == "" {
		s.name = fmt.Sprintf("%T", s.c)
	}
	s.shortenPanic()
}

// makeCases makes the trajectories that the criterion is held against.
func (s *session) makeCases() [][]agents.Event {
	cases := [][]agents.Event{nil}
	for _, tr := range s.recorded {
		cases = append(cases, eventsOf(tr))
	}
	for _, w := range s.witnesses {
		cases = append(cases, newTape().all(w).events)
	}
	for n := range s.cases {
		rng := rand.New(rand.NewPCG(s.seed, uint64(100+n)))
		switch n % 4 {
		case 0:
			m := randtraj.NewMaker(rng)
			m.Words = s.vocabulary()
			for range 4 + rng.IntN(36) {
				m.Step()
			}
			cases = append(cases, eventsOf(m.Trajectory()))
		case 1:
			cases = append(cases, s.woven(rng, 1+rng.IntN(14)))
		case 2:
			cases = append(cases, s.woven(rng, 1+rng.IntN(4)))
		default:
			t := newTape()
			for range 1 + rng.IntN(3) {
				t.weave(rng, s.anyWitness(rng))
			}
			cases = append(cases, t.events)
		}
	}
	for i := range cases { // without what a trajectory refuses
		cases[i] = eventsOf(reel(cases[i]))
	}
	s.words = slices.Compact(s.words)
	return cases
}

// woven is a trajectory of n acts.
func (s *session) woven(rng *rand.Rand, n int) []agents.Event {
	acts := make([]act, n)
	for i := range acts {
		acts[i] = s.anyAct(rng)
	}
	t := newTape()
	t.weave(rng, acts)
	return t.events
}

func (s *session) anyAct(rng *rand.Rand) act {
	switch n := rng.IntN(10); {
	case n < 7:
		return pick(rng, s.relevant)
	case n < 8:
		return nothing
	}
	return pick(rng, s.acts)
}

func (s *session) anyWitness(rng *rand.Rand) []act {
	if len(s.witnesses) == 0 {
		return []act{s.anyAct(rng)}
	}
	return pick(rng, s.witnesses)
}

func (s *session) vocabulary() *randtraj.Vocabulary {
	return &randtraj.Vocabulary{Call: s.anyCall, Text: s.anyText, Spend: s.anyUsage}
}

func (s *session) anyCall(rng *rand.Rand) agents.ToolCall {
	for range 20 {
		if a := s.anyAct(rng); a.event.Kind == agents.EventCall {
			return a.event.Call
		}
	}
	return nothing.event.Call
}

func (s *session) anyText(rng *rand.Rand) string { return pick(rng, s.words) }

func (s *session) anyUsage(rng *rand.Rand) agents.Usage {
	for range 8 {
		if a := s.anyAct(rng); a.event.Kind == agents.EventUsage {
			return a.event.Usage
		}
	}
	return agents.Usage{InputTokens: int64(rng.IntN(300)), OutputTokens: int64(rng.IntN(100)), Cost: float64(rng.IntN(100)) / 1000}
}

// judge holds what the criterion says of one trajectory against the rules.
func (s *session) judge(n int, events []agents.Event) {
	rng := rand.New(rand.NewPCG(s.seed, uint64(1_000_000+n)))
	looks := s.watch(events)
	if len(looks) != len(events)+1 {
		return // it was changed: see the rule pure
	}
	tr := reel(events)
	turns := []int{0} // where what is known changes
	for i, k := range looks {
		s.noteReached(k)
		if k.fault != "" {
			return
		}
		sc := scene{events[:i], i}
		s.suspect(s.undeclaredIn(k), "declared", sc, s.undeclared)
		s.suspect(s.badBoundsIn(k), "bounds", sc, s.badBounds)
		if i == 0 || k.same(looks[i-1]) {
			continue
		}
		turns = append(turns, i)
		sc.at = i - 1
		s.suspect(s.reopenedIn(looks[i-1], k, sc.place()), "monotone", sc, s.reopened)
		s.suspect(s.widenedIn(looks[i-1], k, sc.place()), "bounds", sc, s.widened)
	}
	for range 2 {
		turns = append(turns, rng.IntN(len(events)+1))
	}
	turns = append(turns, len(events))
	slices.Sort(turns)
	turns = slices.Compact(turns)
	for _, i := range turns {
		if !s.look(tr.Prefix(i)).same(looks[i]) {
			s.find("incremental", scene{events[:i], i}, s.unlikeWatched)
		}
	}
	// What is known first leaves the most to come.
	if len(turns) > 5 {
		turns = append(turns[:4:4], len(events))
	}
	for n, at := range turns {
		again := n > 0 && looks[at].same(looks[turns[n-1]]) // nothing new is known
		s.complete(rng, events[:at], looks[at], again)
	}
}

// suspect has a breach that showed in what was seen looked at by itself.
func (s *session) suspect(saw, kind string, sc scene, b breach) {
	if saw != "" {
		s.find(kind, sc, b)
	}
}

// complete has a prefix go on and end in many ways, a few if it is to be short, and holds each against what was known.
func (s *session) complete(rng *rand.Rand, prefix []agents.Event, known look, short bool) {
	for n, tr := range s.completions(rng, prefix, known, short) {
		late, g := s.look(tr), s.gradeOf(tr)
		if late.fault+g.fault != "" {
			return
		}
		s.noteReached(late)
		s.graded = s.graded || g.given()
		at, end := place{len(prefix), tr.Len()}, place{tr.Len(), tr.Len()}
		sc := func(p place) scene { return scene{eventsOf(tr), p.at} }
		open := openCalls(tr)
		unsound := s.unsound
		if g.given() {
			unsound = s.misgraded
		} else if s.unsoundIn(known, g, at)+s.unsoundIn(late, g, end) != "" { // how it could have ended says more
			for _, ends := range resolutions(rng, open, 9) {
				settled := append(eventsOf(tr), together(ends, tr)...)
				s.find("sound", scene{settled, at.at}, s.misgraded)
				s.find("sound", scene{settled, end.at}, s.misgraded)
			}
		}
		for _, b := range []struct {
			saw, kind string
			at        place
			breach    breach
		}{
			{s.reopenedIn(known, late, at), "monotone", at, s.reopened},
			{s.unsoundIn(known, g, at), "sound", at, unsound},
			{s.unsoundIn(late, g, end), "sound", end, unsound},
			{s.undeclaredIn(late), "declared", end, s.undeclared},
			{s.badBoundsIn(late), "bounds", end, s.badBounds},
			{s.widenedIn(known, late, at), "bounds", at, s.widened},
			{s.outsideIn(known, g, at), "bounds", at, s.outside},
			{s.outsideIn(late, g, end), "bounds", end, s.outside},
		} {
			if b.saw != "" {
				s.find(b.kind, sc(b.at), b.breach)
			}
		}
		if s.broken("trajectory") {
			continue
		}
		if g.open() && len(open) == 0 || g.err == nil && !g.given() || n%12 == 0 {
			s.find("trajectory/score", sc(end), s.noScore)
		}
		if len(open) > 0 && g.given() && n%2 == 0 {
			for _, ends := range resolutions(rng, open, 3) {
				other := tr.With(together(ends, tr)...)
				if h := s.gradeOf(other); !h.same(g) {
					s.find("trajectory/open", scene{eventsOf(other), tr.Len()}, s.guessed)
				}
			}
		}
		if n == 0 && rng.IntN(3) == 0 {
			s.find("trajectory/elsewhere", sc(end), s.looksElsewhere)
		}
	}
}

// completions is prefix going on in many ways. Nobody has looked at them.
func (s *session) completions(rng *rand.Rand, prefix []agents.Event, known look, short bool) []*agents.Trajectory {
	tr := reel(prefix)
	open := openCalls(tr)
	var all []*agents.Trajectory
	add := func(more ...[]agents.Event) {
		all = append(all, reel(slices.Concat(append([][]agents.Event{prefix}, more...)...)))
	}
	many := 4
	if known.decided() && !short {
		many = 27
	}
	ways := resolutions(rng, open, many)
	for _, ends := range ways {
		add(together(ends, tr))
	}
	add() // cut here
	some := func() []agents.Event { return together(pick(rng, append(ways, nil)), tr) }
	tail := func(acts []act, weave bool) []agents.Event {
		t := resumed(nil, "d")
		if len(prefix) > 0 {
			t.now = prefix[len(prefix)-1].Time
		}
		if weave {
			t.weave(rng, acts)
		} else {
			t.all(acts)
		}
		return t.events
	}
	if short || known.same(look{i: verdict.Unknown}) { // with the latter nothing can be wrong
		add(some(), tail([]act{s.anyAct(rng), s.anyAct(rng)}, true))
		add(some(), tail(s.anyWitness(rng), false))
		return all
	}
	for _, w := range s.witnesses[:min(len(s.witnesses), 8)] {
		add(some(), tail(w, false))
	}
	for range min(len(s.relevant), 6) {
		a := pick(rng, s.relevant)
		add(some(), tail([]act{a}, false))
		add(tail([]act{a, nothing}, true), some())
	}
	for range 2 {
		add(some(), tail(append([]act{s.anyAct(rng)}, s.anyWitness(rng)...), true))
		m := randtraj.Resume(rng, tr)
		m.Words = s.vocabulary()
		all = append(all, reel(eventsOf(m.Finish())))
	}
	// The last, again: an agent that tries once more what failed.
	var last *agents.ToolCall
	for c := range tr.Calls() {
		if c.Status == agents.Failed || c.Status == agents.Denied {
			last = &c.ToolCall
		}
	}
	if last != nil {
		c := *last
		c.ID, c.Parent = "", ""
		add(some(), tail([]act{callAct(c)}, false))
	}
	return all
}

var endings = []agents.Status{agents.Completed, agents.Failed, agents.Denied}

// resolutions are ways in which the open calls may end: all of them, or limit of them at random.
func resolutions(rng *rand.Rand, open []string, limit int) [][]agents.Event {
	if len(open) == 0 {
		return nil
	}
	total := 1
	for range open {
		if total *= len(endings); total > limit {
			break
		}
	}
	var ways [][]agents.Event
	for n := range min(total, limit) {
		var ends []agents.Event
		for _, id := range open {
			var s agents.Status
			switch {
			case total <= limit:
				s = endings[n%len(endings)]
				n /= len(endings)
			case n < len(endings):
				s = endings[n]
			default:
				s = endings[rng.IntN(len(endings))]
			}
			ends = append(ends, agents.End(id, s, "ok"))
		}
		rng.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		ways = append(ways, ends)
	}
	return ways
}

// together is events at the time of the last event of tr.
func together(events []agents.Event, tr *agents.Trajectory) []agents.Event {
	out := slices.Clone(events)
	for i := range out {
		if n := tr.Len(); n > 0 {
			out[i] = out[i].At(tr.Event(n - 1).Time)
		}
	}
	return out
}

// reachable holds what was seen in all cases against what is declared.
func (s *session) reachable() {
	hint := "Either no path leads to it: do not declare it. Or the generator does not guess what the criterion looks at: " +
		"give it such calls with criteriatest.Calls, or what else decides with Texts or Transcripts"
	switch p := s.unreached(); {
	case p != 0 && s.bounded():
		s.report(&Violation{Rule: "reachable", Saw: fmt.Sprintf("StopPolarities is %v, and on %d trajectories and their prefixes the bounds never moved towards %v.\n%s", s.reach, s.cases, p, hint)})
	case p != 0:
		s.report(&Violation{Rule: "reachable", Saw: fmt.Sprintf("StopPolarities is %v, and on %d trajectories and their prefixes LiveVerdict never gave %v.\n%s", s.reach, s.cases, p, hint)})
	case !s.graded && s.violation("trajectory") == nil:
		s.report(&Violation{Rule: "reachable", Saw: "Grade gave no score for any trajectory"})
	}
}

func (s *session) bounded() bool {
	_, ok := s.c.(evaltest.BoundedCriterion)
	return ok
}
