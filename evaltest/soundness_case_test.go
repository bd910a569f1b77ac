package evaltest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// simCase is one case of the property: what is asked, of which agent, in which mode.
type simCase struct {
	seed    uint64
	mode    evaltest.Mode
	gate    *simGate
	script  *simScript
	options []evaltest.Option // of the gate
	ends    []evaltest.Option // the limits
	limits  struct{ turns, calls, tokens, budget int }
}

func newSimCase(seed uint64) *simCase {
	r := rand.New(rand.NewPCG(seed, 0))
	c := &simCase{seed: seed, script: randomScript(r)}
	switch n := r.IntN(20); {
	case n < 9:
		c.mode = "sound"
	case n < 18:
		c.mode = "armed"
	case n < 19:
		c.mode = "shadow"
	default:
		c.mode = "off"
	}
	c.randomGate(r)
	c.randomLimits(r)
	return c
}

// ask tells an eval what the case asks for.
func (c *simCase) ask(e *evaltest.T) {
	for _, s := range c.gate.specs {
		var both []evaltest.CriterionOption
		if s.weight != 0 {
			both = append(both, evaltest.Weight(s.weight))
		}
		if s.passAt != 0 {
			both = append(both, evaltest.PassAt(s.passAt))
		}
		if s.required && !s.advisory {
			both = append(both, evaltest.Required())
		}
		if s.armed != 0 {
			var opts []evaltest.ArmOption
			for _, o := range both {
				opts = append(opts, o)
			}
			e.StopWhen(s.armed, s.live(), opts...)
			continue
		}
		var opts []evaltest.ExpectOption
		for _, o := range both {
			opts = append(opts, o)
		}
		if s.advisory {
			opts = append(opts, evaltest.Advisory())
		}
		e.Expect(s.criterion, opts...)
	}
}

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

func (c *simCase) randomGate(r *rand.Rand) {
	n := 1 + r.IntN(5)
	if r.IntN(20) == 0 {
		n = 10
	}
	var specs []simSpec
	gating := false
	for i := range n {
		s := simSpec{criterion: randomCriterion(r, i)}
		_, s.fickle = s.criterion.(simFickle)
		if r.IntN(3) == 0 {
			s.weight = pick(r, 0.1, 0.2, 0.3, 0.4, 0.7, 0.25, 1.5, 2, 3, 1.0/3)
		}
		if r.IntN(3) == 0 {
			s.passAt = pick(r, 0.1, 0.5, 0.7, 0.3, 0.9, 1.0/3, 2.0/3, 0.75)
		}
		s.required = r.IntN(6) == 0
		if l := s.live(); l != nil && r.IntN(100) < 65 {
			reach := l.StopPolarities()
			switch both := reach == evaltest.Pass|evaltest.Fail; {
			case reach == 0:
			case r.IntN(2) == 0:
				s.armed = evaltest.Decided
			case both && r.IntN(2) == 0:
				s.armed = pick(r, evaltest.Pass, evaltest.Fail)
			default:
				s.armed = reach
			}
		}
		if s.armed == 0 && (gating || i < n-1) {
			s.advisory = r.IntN(6) == 0
		}
		gating = gating || !s.advisory
		specs = append(specs, s)
	}
	minScore := 0.0
	switch r.IntN(5) {
	case 0:
		minScore = pick(r, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.0/3, 2.0/3, 0.55, 0.25)
	case 1, 2:
		minScore = tie(r, specs)
	}
	if minScore != 0 {
		c.options = append(c.options, evaltest.MinScore(minScore))
	}
	c.gate = newSimGate(minScore, specs)
}

// tie gives the specs weights that add up to ten of something and a threshold that some of them reach exactly.
func tie(r *rand.Rand, specs []simSpec) float64 {
	var gating []int
	for i := range specs {
		if !specs[i].advisory {
			gating = append(gating, i)
		}
	}
	left, reached := 10, 0
	unit := pick(r, 10.0, 100, 1)
	for k, i := range gating {
		w := max(1, 1+r.IntN(max(1, left-(len(gating)-k-1))))
		if k == len(gating)-1 {
			w = max(1, left)
		}
		left -= w
		specs[i].weight = float64(w) / unit
		if r.IntN(2) == 0 {
			reached += w
		}
	}
	return float64(min(max(reached, 1), 10)) / 10
}

func (c *simCase) randomLimits(r *rand.Rand) {
	if r.IntN(5) > 0 {
		return
	}
	l := &c.limits
	switch r.IntN(4) {
	case 0:
		l.turns = 1 + r.IntN(6)
		c.ends = append(c.ends, evaltest.MaxTurns(l.turns))
	case 1:
		l.calls = 1 + r.IntN(8)
		c.ends = append(c.ends, evaltest.MaxToolCalls(l.calls))
	case 2:
		l.tokens = 1 + r.IntN(100)
		c.ends = append(c.ends, evaltest.MaxTokens(int64(l.tokens)))
	case 3:
		l.budget = 1 + r.IntN(6)
		c.ends = append(c.ends, evaltest.StepBudget(l.budget))
	}
}

func (c *simCase) limited() bool {
	return c.limits.turns+c.limits.calls+c.limits.tokens+c.limits.budget > 0
}

func randomMask(r *rand.Rand) simMask {
	m := simMask(1) << r.IntN(len(simSymbols))
	for range r.IntN(3) {
		m |= simMask(1) << r.IntN(len(simSymbols))
	}
	return m
}

var errJudge = agents.Errorf(agents.Judge, agents.FromGrader, "the judge is out")

func randomCriterion(r *rand.Rand, i int) evaltest.Criterion {
	switch n := r.IntN(100); {
	case n < 14:
		return simCount{i, randomMask(r), 1 + r.IntN(3), atLeast}
	case n < 28:
		return simCount{i, randomMask(r), r.IntN(3), atMost}
	case n < 38:
		return simPartial{simCount{i, randomMask(r), pick(r, 1, 2, 3, 3, 5, 10), upTo}}
	case n < 45:
		return simPartial{simCount{i, randomMask(r), pick(r, 1, 2, 3, 3, 5, 10), downFrom}}
	case n < 55:
		m := randomMask(r)
		return simFirst{i, m, randomMask(r) &^ m}
	case n < 65:
		m := randomMask(r)
		return simShare{simFirst{i, m, randomMask(r) &^ m}, pick(r, 1, 2, 3, 3, 4)}
	case n < 69:
		return simSays{i, pick(r, "done", "hello")}
	case n < 73:
		return simTokens{i, int64(r.IntN(120))}
	case n < 74:
		return simFickle{i, randomMask(r)}
	case n < 86:
		return simFile{i: i, score: pick(r, evaltest.PassIf(true), evaltest.PassIf(true), evaltest.PassIf(false), evaltest.Ratio(1, 3), evaltest.Ratio(2, 3), evaltest.Points(0.1), evaltest.Points(0.7))}
	case n < 88:
		return simFile{i: i, err: pick[error](r, errJudge, errors.New("no idea"))}
	default:
		return simNamed(i, randomBuiltin(r, 2))
	}
}

func randomScript(r *rand.Rand) *simScript {
	s := &simScript{ids: r.IntN(5) > 0, requests: r.IntN(2) == 0}
	s.gated = r.IntN(5) < 3
	s.bareness.status, s.bareness.usage = r.IntN(2) == 0, r.IntN(2) == 0
	s.drain = time.Duration(20+r.IntN(200)) * time.Millisecond
	if r.IntN(2) == 0 {
		s.drain = time.Hour
	}
	if r.IntN(25) == 0 {
		s.dieAt = 1 + r.IntN(20)
	}
	g := &scriptMaker{r: r}
	for range 1 + max(0, r.IntN(6)-4) {
		s.prompts = append(s.prompts, g.thread("", 2+r.IntN(5), 0))
	}
	return s
}

// scriptMaker makes answers, with ids that are unique in a script.
type scriptMaker struct {
	r              *rand.Rand
	answers, calls int
}

func (g *scriptMaker) thread(id string, n, depth int) (answers []*simAnswer) {
	for i := range n {
		a := &simAnswer{id: fmt.Sprintf("a%d", g.answers), thread: id}
		g.answers++
		blocks := 1 + g.r.IntN(3)
		if i == n-1 && g.r.IntN(3) > 0 {
			a.blocks = append(a.blocks, simBlock{text: g.words()}) // the last words
			blocks = 0
		}
		for k := range blocks {
			b := simBlock{}
			if g.r.IntN(3) > 0 {
				b.gap = time.Duration(g.r.IntN(40)) * time.Millisecond
			}
			if g.r.IntN(6) == 0 {
				b.tokens = int64(g.r.IntN(20))
			}
			if k > 0 && g.r.IntN(6) == 0 || k == 0 && blocks > 1 && g.r.IntN(4) == 0 {
				b.text = g.words()
			} else {
				b.call = g.call(id, depth)
			}
			a.blocks = append(a.blocks, b)
		}
		a.tail = time.Duration(g.r.IntN(3)*g.r.IntN(20)) * time.Millisecond
		if g.r.IntN(3) == 0 {
			a.tokens = int64(1 + g.r.IntN(30))
		}
		answers = append(answers, a)
	}
	return answers
}

func (g *scriptMaker) words() string {
	return pick(g.r, "hello there", "done", "working", "working on it")
}

func (g *scriptMaker) call(thread string, depth int) *simCall {
	sym := g.r.IntN(len(simSymbols))
	if sym == simSub && depth > 0 && g.r.IntN(2) == 0 {
		sym = g.r.IntN(simSub)
	}
	c := &simCall{
		ToolCall: simSymbols[sym].call,
		progress: g.r.IntN(4) == 0,
		took:     time.Duration(g.r.IntN(3)*g.r.IntN(30)) * time.Millisecond,
	}
	c.ID, c.Parent = fmt.Sprintf("t%d.%d", g.calls, sym), thread
	g.calls++
	switch n := g.r.IntN(40); {
	case n < 24:
		c.end = agents.Completed
	case n < 31:
		c.end = agents.Failed
	case n < 37:
		c.end = agents.Denied
	case n < 38:
		c.end = agents.Unresolved
	case n < 39:
		// never shown
	default:
		c.hangs = g.r.IntN(3) == 0
		c.end = agents.Completed
	}
	if sym == simSub && c.end != agents.Denied && depth < 2 {
		c.sub = g.thread(c.ID, 1+g.r.IntN(3), depth+1)
	}
	return c
}

// simTB is the test that an eval of the property believes to be in.
type simTB struct{ testing.TB }

func (simTB) Failed() bool      { return false }
func (simTB) Helper()           {}
func (simTB) Name() string      { return "TestSimulated" }
func (simTB) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// run plays the script in a mode, with the limits that the options set.
func (c *simCase) run(mode evaltest.Mode, opts ...evaltest.Option) (*evaltest.Bare, *simPlayer) {
	prompts := make([]string, len(c.script.prompts))
	for i := range prompts {
		prompts[i] = "go on"
	}
	opts = append(append(opts, c.options...), evaltest.DrainTimeout(1000*time.Hour)) // the player calls the timers
	trial := evaltest.NewBare(simTB{}, mode, c.script.gated, c.ask, prompts, opts...)
	player := newSimPlayer(c.script, trial, c.seed)
	trial.Run(background, player)
	return trial, player
}

func (c *simCase) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s, min score %v, limits %+v, gated %v, ids %v, requests %v, drain %v, dies at %d\n",
		c.mode, c.gate.minScore, c.limits, c.script.gated, c.script.ids, c.script.requests, c.script.drain, c.script.dieAt)
	for _, s := range c.gate.specs {
		fmt.Fprintf(&b, "  %v", s.criterion)
		if s.armed != 0 {
			fmt.Fprintf(&b, ", armed for %v", s.armed)
		}
		if s.weight != 0 {
			fmt.Fprintf(&b, ", weight %v", s.weight)
		}
		if s.passAt != 0 {
			fmt.Fprintf(&b, ", passes at %v", s.passAt)
		}
		if s.required {
			b.WriteString(", required")
		}
		if s.advisory {
			b.WriteString(", advisory")
		}
		b.WriteString("\n")
	}
	return b.String()
}
