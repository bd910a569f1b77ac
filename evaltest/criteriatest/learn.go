package criteriatest

import (
	"math/rand/v2"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// outcome is what a criterion makes of a trajectory, coarsely: the verdict, whether its bounds have moved, and what Grade says.
type outcome struct {
	v      evaltest.Verdict
	lo, hi bool // the bound has moved
	grade  string
}

func (s *session) outcomeOf(events []agents.Event) outcome {
	tr := reel(events)
	k := s.look(tr)
	s.noteReached(k)
	o := outcome{v: k.v, lo: k.i.Lo.Cmp(s.start.Lo) > 0, hi: k.i.Hi.Cmp(s.start.Hi) < 0}
	switch g := s.grade(trialOf(tr, s.emptyDir())); {
	case g.open():
		o.grade = "open"
	case !g.given():
		o.grade = "error"
	case g.score.Cmp(evaltest.PassIf(true)) == 0:
		o.grade = "1"
	case g.score.Cmp(evaltest.PassIf(false)) == 0:
		o.grade = "0"
	default:
		o.grade = "part"
	}
	return o
}

// noteReached notes which polarities have been seen to be reached.
func (s *session) noteReached(k look) {
	if k.fault != "" {
		return
	}
	if k.v == evaltest.Passed || k.i.Lo.Cmp(s.start.Lo) > 0 {
		s.passed = true
	}
	if k.v == evaltest.Failed || k.i.Hi.Cmp(s.start.Hi) < 0 {
		s.failed = true
	}
}

// unreached is what is declared and was not seen.
func (s *session) unreached() evaltest.Polarity {
	var p evaltest.Polarity
	if s.reach.Has(evaltest.Pass) && !s.passed {
		p |= evaltest.Pass
	}
	if s.reach.Has(evaltest.Fail) && !s.failed {
		p |= evaltest.Fail
	}
	return p
}

const (
	maxActs      = 1400
	perOutcome   = 6   // acts that are kept for one outcome
	soups        = 24  // random mixtures that are tried
	moreSoups    = 80  // when something declared was not reached
	maxSoup      = 260 // acts in one
	minimization = 250 // trajectories that are tried in order to shorten one
)

// read makes acts of the words that can be read off the criterion.
func (s *session) read() {
	w := wordsOf(s.c, s.said)
	s.moments, s.numbers = w.moments, w.numbers
	s.acts = actsFor(w, &s.config)
	s.acts = s.acts[:min(len(s.acts), maxActs)]
	s.words = slices.Concat(s.texts, w.texts, []string{"done", ""})
}

// learn finds out what the criterion looks at: which acts, alone or together, change what it says.
func (s *session) learn() {
	rng := rand.New(rand.NewPCG(s.seed, 3))
	l := &learner{session: s, base: s.outcomeOf(newTape().events), seen: map[outcome]int{}}
	for _, c := range s.calls {
		s.relevant = append(s.relevant, callAct(c))
	}
	for _, a := range s.acts {
		l.try([]act{a}, false)
		l.try([]act{a, a, a}, false)
	}
	for _, x := range s.numbers { // so many of something
		if n := int(x); n >= 3 && n <= 200 && s.unreached() != 0 {
			for _, a := range slices.Concat(s.relevant, s.acts[:min(len(s.acts), 24)]) {
				l.try(slices.Repeat([]act{a}, n+1), true)
			}
		}
	}
	for n := range soups + moreSoups {
		if n >= soups && s.unreached() == 0 {
			break
		}
		size := min([]int{maxSoup, 80, 24, 8}[n%4], len(s.acts))
		soup := make([]act, 0, size)
		for range size {
			if from := s.relevant; len(from) > 0 && rng.IntN(4) == 0 {
				soup = append(soup, pick(rng, from))
			} else {
				soup = append(soup, pick(rng, s.acts))
			}
		}
		l.try(soup, true)
	}
	if len(s.relevant) == 0 {
		s.relevant = append(s.relevant, s.acts[:min(len(s.acts), 12)]...)
	}
}

type learner struct {
	*session
	base outcome
	seen map[outcome]int // witnesses
}

func (l *learner) outcome(acts []act) outcome { return l.outcomeOf(newTape().all(acts).events) }

// try does the acts, and keeps the shortest part of them that comes to the same, if that is anything new.
func (l *learner) try(acts []act, shorten bool) {
	o := l.outcome(acts)
	if o == l.base || l.seen[o] >= perOutcome {
		return
	}
	if !shorten {
		for len(acts) > 1 && l.outcome(acts[1:]) == o {
			acts = acts[1:]
		}
	} else {
		acts = minimize(acts, minimization, func(acts []act) bool { return l.outcome(acts) == o })
	}
	l.seen[o]++
	l.witnesses = append(l.witnesses, acts)
	for _, a := range acts {
		if len(l.relevant) < 40 && !slices.ContainsFunc(l.relevant, func(b act) bool { return sameAct(a, b) }) {
			l.relevant = append(l.relevant, a)
		}
	}
}

func sameAct(a, b act) bool {
	c, d := a.event.Call, b.event.Call
	return a.event.Kind == b.event.Kind && a.event.Text == b.event.Text && a.event.Usage == b.event.Usage && a.output == b.output && a.wait == b.wait &&
		c.Kind == d.Kind && c.Name == d.Name && c.Skill == d.Skill && string(c.Input) == string(d.Input) &&
		slices.Equal(c.Commands, d.Commands) && slices.Equal(c.Paths, d.Paths)
}
