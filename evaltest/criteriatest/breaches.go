package criteriatest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// A breach looks at a scene and says what in it breaks a rule; "": nothing does. It must say the same again, so that the scene can
// be shortened.
type breach func(scene) string

// find reports what breaks a rule in this scene, if that was not found to be broken before, in the shortest scene that still
// shows it. kind is the rule, or rule/what of it, as reproduce knows it.
func (s *session) find(kind string, sc scene, b breach) {
	rule, _, _ := strings.Cut(kind, "/")
	if s.broken(rule) {
		return
	}
	saw := b(sc)
	if saw == "" {
		return
	}
	short := s.shorten(sc, b, rule == "monotone" || rule == "sound" || rule == "bounds")
	for range again { // what is random does not show each time
		if now := b(short); now != "" {
			saw, sc = now, short
			break
		}
	}
	s.reportScene(kind, saw, sc)
}

func (s *session) reportScene(kind, saw string, sc scene) {
	rule, _, _ := strings.Cut(kind, "/")
	v := &Violation{Rule: rule, Saw: saw, Trajectory: reel(sc.events), At: sc.at, Reproduction: s.reproduce(kind, sc)}
	c, _ := s.fresh()
	for _, k := range s.with(c).watch(sc.events) {
		v.says = append(v.says, k.String())
	}
	s.report(v)
}

// What follows compares what was seen. was is the look at the prefix of a scene, is that at the whole, g the grade of the whole.

func (s *session) undeclaredIn(k look) string {
	switch {
	case k.fault != "":
	case k.v != evaltest.Undecided && k.v != evaltest.Passed && k.v != evaltest.Failed:
		return fmt.Sprintf("LiveVerdict gives %s, which is no verdict", nameOf(k.v))
	case k.v == evaltest.Passed && !s.reach.Has(evaltest.Pass), k.v == evaltest.Failed && !s.reach.Has(evaltest.Fail):
		return fmt.Sprintf("LiveVerdict says %v, and StopPolarities is %v", k.v, s.reach)
	case k.i.Valid() != nil:
	case k.i.Lo.Cmp(s.start.Lo) > 0 && !s.reach.Has(evaltest.Pass), k.i.Hi.Cmp(s.start.Hi) < 0 && !s.reach.Has(evaltest.Fail):
		return fmt.Sprintf("LiveBounds says %v, and StopPolarities is %v: Pass in it means that the lower bound can rise, Fail that the upper can fall", ends(k.i), s.reach)
	}
	return ""
}

func (s *session) badBoundsIn(k look) string {
	if k.fault != "" || !s.bounded() {
		return ""
	}
	if err := k.i.Valid(); err != nil {
		return fmt.Sprintf("LiveBounds gives no interval of scores: %v", err)
	}
	if k.v == evaltest.Passed && k.i.Lo.Cmp(one) != 0 || k.v == evaltest.Failed && k.i.Hi.Cmp(zero) != 0 {
		return fmt.Sprintf("LiveVerdict says %v where LiveBounds says %v", k.v, ends(k.i))
	}
	return ""
}

func (s *session) reopenedIn(was, is look, sc place) string {
	if was.fault+is.fault != "" || was.v == evaltest.Undecided || is.v == was.v {
		return ""
	}
	return fmt.Sprintf("%s after %s, %s after %d", nameOf(was.v), counted(sc.at, "event"), nameOf(is.v), sc.whole)
}

func (s *session) widenedIn(was, is look, sc place) string {
	if was.fault+is.fault != "" || !s.bounded() || was.i.Valid() != nil || is.i.Valid() != nil || is.i.Within(was.i) || was.v != evaltest.Undecided {
		return ""
	}
	return fmt.Sprintf("bounds %v after %s, %v after %d", ends(was.i), counted(sc.at, "event"), ends(is.i), sc.whole)
}

func (s *session) unsoundIn(was look, g grade, sc place) string {
	if was.fault+g.fault != "" || was.v != evaltest.Passed && was.v != evaltest.Failed || g.given() && g.score.Cmp(evaltest.PassIf(was.v == evaltest.Passed)) == 0 {
		return ""
	}
	return fmt.Sprintf("%v after %s, and Grade of the whole is %v", was.v, counted(sc.at, "event"), g)
}

// outsideIn: the grade of a completion lies outside of bounds that decide nothing.
func (s *session) outsideIn(was look, g grade, sc place) string {
	if was.fault+g.fault != "" || !s.bounded() || was.v != evaltest.Undecided || was.i.Valid() != nil ||
		g.given() && verdict.Exactly(g.score).Within(was.i) || !g.given() && !was.i.Point() {
		return ""
	}
	return fmt.Sprintf("bounds %v after %s, and Grade of the whole is %v", ends(was.i), counted(sc.at, "event"), g)
}

// place is the lengths of a scene: of its prefix, and of the whole.
type place struct{ at, whole int }

func (sc scene) place() place { return place{sc.at, len(sc.events)} }

var zero, one = evaltest.PassIf(false), evaltest.PassIf(true)

// ends is an interval with both of its ends.
func ends(i evaltest.Interval) string { return fmt.Sprintf("[%v, %v]", i.Lo, i.Hi) }

// What follows is the same as breaches: they look for themselves.

func (s *session) undeclared(sc scene) string { return s.undeclaredIn(s.on(sc.prefix())) }
func (s *session) badBounds(sc scene) string  { return s.badBoundsIn(s.on(sc.prefix())) }

func (s *session) reopened(sc scene) string {
	tr := reel(sc.events)
	return s.reopenedIn(s.look(tr.Prefix(sc.at)), s.look(tr), sc.place())
}

func (s *session) widened(sc scene) string {
	tr := reel(sc.events)
	return s.widenedIn(s.look(tr.Prefix(sc.at)), s.look(tr), sc.place())
}

func (s *session) unsound(sc scene) string {
	tr := reel(sc.events)
	return s.unsoundIn(s.look(tr.Prefix(sc.at)), s.gradeOf(tr), sc.place())
}

// misgraded is unsound where Grade gives a score: that says more than an answer that is open.
func (s *session) misgraded(sc scene) string {
	tr := reel(sc.events)
	if g := s.gradeOf(tr); g.given() {
		return s.unsoundIn(s.look(tr.Prefix(sc.at)), g, sc.place())
	}
	return ""
}

func (s *session) outside(sc scene) string {
	tr := reel(sc.events)
	return s.outsideIn(s.look(tr.Prefix(sc.at)), s.gradeOf(tr), sc.place())
}

// gradeOf is the grade of a trial with this trajectory.
func (s *session) gradeOf(tr *agents.Trajectory) grade { return s.grade(trialOf(tr, s.emptyDir())) }

// unlikeWatched: what is said of the whole depends on whether its prefixes were judged before.
func (s *session) unlikeWatched(sc scene) string {
	looks := s.watch(sc.events)
	watched, at := looks[len(looks)-1], s.on(sc.events)
	if at.fault+watched.fault != "" || at.same(watched) {
		return ""
	}
	return fmt.Sprintf("%v where it was judged after each event, %v where it is judged for the first time after %d", watched, at, len(sc.events))
}

func (s *session) noScore(sc scene) string {
	tr := reel(sc.events)
	g := s.gradeOf(tr)
	switch h := s.gradeOf(tr.Prefix(tr.Len())); {
	case g.fault+h.fault != "":
	case g.open() && len(openCalls(tr)) == 0:
		return "Grade answers ErrOpen, and every call has settled"
	case g.err == nil && g.score.Err() != nil:
		return fmt.Sprintf("Grade gives %v", g.score)
	case !g.same(h):
		return fmt.Sprintf("Grade of the same trajectory is %v, and then %v", g, h)
	}
	return ""
}

// guessed: the prefix, which has open calls, has a score, and with those calls settled, as the rest of the scene does, another.
func (s *session) guessed(sc scene) string {
	after := reel(sc.events)
	before := after.Prefix(sc.at)
	if len(openCalls(before)) == 0 || len(openCalls(after)) > 0 ||
		slices.ContainsFunc(sc.events[sc.at:], func(e agents.Event) bool {
			return e.Kind != agents.EventStatus || !e.Time.Equal(sc.events[sc.at-1].Time)
		}) {
		return ""
	}
	g, h := s.gradeOf(before), s.gradeOf(after)
	if !g.given() || h.fault != "" || h.given() && h.score.Cmp(g.score) == 0 {
		return ""
	}
	return fmt.Sprintf("Grade is %v where %s may have run, and %v when it is known how they ended: it should have answered ErrOpen",
		g, counted(len(openCalls(before)), "call"), h)
}

// looksElsewhere: the grade changes with what is not the trajectory.
func (s *session) looksElsewhere(sc scene) string {
	tr := reel(sc.events)
	g := s.gradeOf(tr)
	if g.fault != "" {
		return ""
	}
	for _, e := range elsewhere {
		if s.violation("returns") != nil {
			return ""
		}
		t := trialOf(tr, s.emptyDir())
		e.change(s, t)
		if h := s.grade(t); h.fault == "" && !h.same(g) {
			return fmt.Sprintf("Grade is %v, and %v %s", g, h, e.what)
		}
	}
	return ""
}

// elsewhere is what a trial has beside its trajectory.
var elsewhere = []struct {
	what   string
	change func(*session, *evaltest.Trial)
}{
	{"without a workspace", func(_ *session, t *evaltest.Trial) { t.Dir = "" }},
	{"with files in the workspace", func(s *session, t *evaltest.Trial) { t.Dir = s.fullDir() }},
	{"with another Trial.Reply", func(_ *session, t *evaltest.Trial) { t.Reply = "Something else." }},
	{"without a Trial.Reply", func(_ *session, t *evaltest.Trial) { t.Reply = "" }},
	{"with the words of the criterion as Trial.Reply", func(s *session, t *evaltest.Trial) { t.Reply = strings.Join(s.words, "\n") }},
	{"without Trial.Prompts", func(_ *session, t *evaltest.Trial) { t.Prompts = nil }},
	{"with another Trial.Usage", func(_ *session, t *evaltest.Trial) {
		t.Usage = agents.Usage{InputTokens: 7_000_000, OutputTokens: 7_000_000, Cost: 1000}
	}},
	{"without Trial.Usage", func(_ *session, t *evaltest.Trial) { t.Usage = agents.Usage{} }},
	{"with other Trial.Changes", func(s *session, t *evaltest.Trial) {
		for _, w := range s.words {
			t.Changes = append(t.Changes, evaltest.Change{Path: w})
		}
	}},
	{"in a trial that was stopped", func(_ *session, t *evaltest.Trial) { t.Stop = &evaltest.Stop{} }},
	{"in a trial that met a limit", func(_ *session, t *evaltest.Trial) { t.Limit = "turns: 9 of 9" }},
	{"in a later trial and attempt", func(_ *session, t *evaltest.Trial) { t.Number, t.Attempt = 3, 2 }},
}

// fullDir is a workspace in which what the criterion may look for is found.
func (s *session) fullDir() string {
	full := s.subdir("full")
	if s.filled {
		return full
	}
	s.filled = true
	text := []byte(strings.Join(s.words, "\n") + "\n")
	for n, w := range s.words {
		if n > 100 || !fs.ValidPath(w) || w == "." || len(w) > 60 {
			continue
		}
		p := filepath.Join(full, filepath.FromSlash(w))
		if filepath.IsLocal(filepath.FromSlash(w)) { // what cannot be made is left out
			_ = os.MkdirAll(filepath.Dir(p), 0o700)
			_ = os.WriteFile(p, text, 0o600)
		}
	}
	return full
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
