package criteriatest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Without the option Cases; looks cost several times as much under the race detector.
const (
	defaultCases     = 120
	defaultCasesRace = 30
)

// session is one check of a criterion.
type session struct {
	config
	*looker
	construct  func() evaltest.LiveCriterion
	constructs bool // construct makes a new value each time
	unused     evaltest.LiveCriterion
	said       string // by String
	name       string // that, fit for a line of a report
	reach      evaltest.Polarity
	start      evaltest.Interval // where its score lies before anything has happened
	site       callSite
	rng        *rand.Rand
	dir        string // holds the workspaces of trials; "": not made yet
	filled     bool   // one of them has files

	moments   bool     // the criterion holds a moment in time
	acts      []act    // what may matter to the criterion
	relevant  []act    // what has been seen to matter
	witnesses [][]act  // the shortest sequences that lead to each outcome that was found
	words     []string // what is said
	numbers   []float64

	mu     sync.Mutex
	found  map[string]*Violation
	passed bool // a live verdict, or bounds, on the way to Passed were seen
	failed bool
	graded bool
	over   bool // the criterion hangs, or ends goroutines: nothing more is called
}

func newSession(construct func() evaltest.LiveCriterion, constructs bool, opts []Option, site callSite) (*session, error) {
	s := &session{construct: construct, constructs: constructs, site: site, found: map[string]*Violation{}}
	s.config = config{seed: 1, cases: defaultCases, limit: 10 * time.Second}
	if raceEnabled {
		s.cases = defaultCasesRace
	}
	for _, o := range opts {
		if err := o.apply(&s.config); err != nil {
			return nil, err
		}
	}
	c, err := newCriterionOf(construct)
	if err != nil {
		return nil, err
	}
	s.looker = &looker{s, c, new(pulse), false}
	s.unused = copyOf(c)
	s.rng = rand.New(rand.NewPCG(s.seed, 0))
	return s, nil
}

func (s *session) close() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// emptyDir is the workspace of trials, with nothing in it.
func (s *session) emptyDir() string { return s.subdir("empty") }

func (s *session) subdir(name string) string {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "criteriatest-")
		if err != nil {
			return "" // a workspace that is not there does as well
		}
		s.dir = dir
	}
	dir := filepath.Join(s.dir, name)
	_ = os.MkdirAll(dir, 0o700)
	return dir
}

// fresh is a value of the criterion that has not judged anything, as far as that can be had; ok is false where it cannot.
func (s *session) fresh() (c evaltest.LiveCriterion, ok bool) {
	if s.constructs {
		return s.construct(), true
	}
	if s.unused == nil {
		return s.c, false
	}
	return copyOf(s.unused), true
}

// report takes a violation, the first of each rule.
func (s *session) report(v *Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found[v.Rule] == nil {
		v.Criterion = s.name
		s.found[v.Rule] = v
	}
}

func (s *session) violation(rule string) *Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found[rule]
}

func (s *session) broken(rule string) bool { return s.violation(rule) != nil }

// blocked reports whether the rule could not be judged, because others are broken.
func (s *session) blocked(r rule) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over || !r.alone && s.found["pure"] != nil
}

// introduce has the criterion say what it is, and holds that against the rules string and declared.
func (s *session) introduce() {
	name := s.stringOf()
	s.name = strings.TrimSpace(strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name), "\ufffd"))
	if s.name == "" {
		s.name = fmt.Sprintf("%T", s.c)
	}
	switch {
	case strings.TrimSpace(name) == "":
		s.report(&Violation{Rule: "string", Saw: fmt.Sprintf("String gives %q", name), Reproduction: s.reproduce("string", scene{})})
	case strings.ContainsFunc(name, unicode.IsControl):
		s.report(&Violation{Rule: "string", Saw: fmt.Sprintf("String gives %q, which is not one line of text", name), Reproduction: s.reproduce("string", scene{})})
	}
	s.reach = s.polaritiesOf()
	if extra := s.reach &^ (evaltest.Pass | evaltest.Fail); extra != 0 {
		s.report(&Violation{Rule: "declared", Saw: fmt.Sprintf("StopPolarities gives %#x: it is made of Pass and Fail; Decided is for StopWhen alone", uint8(s.reach))})
	}
	s.said = name
	s.start = verdict.Unknown
	c, _ := s.fresh()
	if k := s.with(c).on(nil); k.fault == "" && k.v == evaltest.Undecided && k.i.Valid() == nil {
		s.start = k.i
	}
}

// stillTheSame holds what the criterion says of itself, now that it has judged, against what it said before.
func (s *session) stillTheSame() {
	fresh, _ := s.fresh()
	for _, c := range []evaltest.LiveCriterion{s.c, fresh} {
		l := s.with(c)
		if name := l.stringOf(); name != s.said && name != "" {
			s.report(&Violation{Rule: "string", Saw: fmt.Sprintf("String gave %q, and now gives %q", s.said, name)})
		}
		if p := l.polaritiesOf(); p != s.reach {
			s.report(&Violation{Rule: "declared", Saw: fmt.Sprintf("StopPolarities gave %v, and now gives %v", s.reach, p)})
		}
	}
}

// scene is a trajectory, and the length of its prefix that a rule is about.
type scene struct {
	events []agents.Event
	at     int
}

func (sc scene) prefix() []agents.Event { return sc.events[:sc.at] }

// reel is a trajectory of these events; those that contradict others are left out.
func reel(events []agents.Event) *agents.Trajectory {
	tr := new(agents.Trajectory)
	for _, e := range events {
		_ = tr.Append(e)
	}
	return tr
}

// eventsOf is the events of a trajectory.
func eventsOf(tr *agents.Trajectory) []agents.Event {
	events := make([]agents.Event, 0, tr.Len())
	for _, e := range tr.Events() {
		events = append(events, e)
	}
	return events
}

func openCalls(tr *agents.Trajectory) []string {
	var open []string
	for c := range tr.Calls() {
		if c.Status.Open() {
			open = append(open, c.ID)
		}
	}
	return open
}
