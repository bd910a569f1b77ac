package criteria_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/internal/randtraj"
)

// leaves makes each live criterion that is no combination, in forms that random trajectories decide either way.
var leaves = map[string]func() evaltest.LiveCriterion{
	"SkillTriggered":           func() evaltest.LiveCriterion { return criteria.SkillTriggered("pdf") },
	"FirstSkill":               func() evaltest.LiveCriterion { return criteria.FirstSkill("csv") },
	"CommandExecuted":          func() evaltest.LiveCriterion { return criteria.CommandExecuted("go test") },
	"CommandExecuted twice":    func() evaltest.LiveCriterion { return criteria.CommandExecuted("rm").Min(2) },
	"CommandExecuted max":      func() evaltest.LiveCriterion { return criteria.CommandExecuted("rm").Max(0) },
	"CommandExecuted min max":  func() evaltest.LiveCriterion { return criteria.CommandExecuted("go test").Min(1).Max(2) },
	"CommandExecuted partial":  func() evaltest.LiveCriterion { return criteria.CommandExecuted("go").Min(3).Partial() },
	"CommandExecuted partial2": func() evaltest.LiveCriterion { return criteria.CommandExecuted("go").Min(2).Max(4).Partial() },
	"CommandMatches":           func() evaltest.LiveCriterion { return criteria.CommandMatches(`^(ls|tee log)$`) },
	"ToolCalled kind":          func() evaltest.LiveCriterion { return criteria.ToolCalled(agents.Edit).Min(2) },
	"ToolCalled name":          func() evaltest.LiveCriterion { return criteria.ToolCalled("mcp__db__*") },
	"ToolCalled input":         func() evaltest.LiveCriterion { return criteria.ToolCalled("*").Input("q.ids[1]", 2).Max(0) },
	"ToolCalled regexp":        func() evaltest.LiveCriterion { return criteria.ToolCalled("*").Input("url", regexp.MustCompile("go")) },
	"MCPToolCalled":            func() evaltest.LiveCriterion { return criteria.MCPToolCalled("db", "*").Min(2).Partial() },
	"FileRead":                 func() evaltest.LiveCriterion { return criteria.FileRead("**/*.go") },
	"FileEdited":               func() evaltest.LiveCriterion { return criteria.FileEdited("src/**").Max(1) },
	"MessageMatches":           func() evaltest.LiveCriterion { return criteria.MessageMatches("(?i)done") },
	"CallsAtMost":              func() evaltest.LiveCriterion { return criteria.CallsAtMost(3) },
	"CallsAtLeast":             func() evaltest.LiveCriterion { return criteria.CallsAtLeast(3) },
	"TurnsAtMost":              func() evaltest.LiveCriterion { return criteria.TurnsAtMost(3) },
	"TurnsAtLeast":             func() evaltest.LiveCriterion { return criteria.TurnsAtLeast(4) },
	"TokensAtMost":             func() evaltest.LiveCriterion { return criteria.TokensAtMost(300) },
	"TokensAtLeast":            func() evaltest.LiveCriterion { return criteria.TokensAtLeast(300) },
	"CostAtMost":               func() evaltest.LiveCriterion { return criteria.CostAtMost(0.1) },
	"CostAtLeast":              func() evaltest.LiveCriterion { return criteria.CostAtLeast(0.1) },
	"TimeAtMost":               func() evaltest.LiveCriterion { return criteria.TimeAtMost(time.Minute) },
	"TimeAtLeast":              func() evaltest.LiveCriterion { return criteria.TimeAtLeast(time.Minute) },
	"an author's own":          func() evaltest.LiveCriterion { return deniedShare{} },
}

// deniedShare is an author's criterion that no prefix decides: the share of calls that were not denied.
type deniedShare struct{}

func (deniedShare) String() string                                  { return "few denials" }
func (deniedShare) StopPolarities() evaltest.Polarity               { return 0 }
func (deniedShare) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }
func (d deniedShare) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := trial.Trajectory.Tally(d, func(agents.ToolCall) bool { return true })
	if t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	if t.Dispatched() == 0 {
		return evaltest.PassIf(true), nil
	}
	return evaltest.Ratio(t.Ran(), t.Dispatched()), nil
}

// atEnd stands for a criterion that looks at the workspace.
type atEnd struct {
	score evaltest.Score
	err   error
}

func (e atEnd) String() string { return fmt.Sprintf("at the end %v", e.score) }
func (e atEnd) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return e.score, e.err
}

var errGrader = errors.New("the grader is broken")

// maker makes random criteria.
type maker struct {
	*rand.Rand
	names []string // of leaves
}

func (m maker) leaf() (string, evaltest.LiveCriterion) {
	name := m.names[m.IntN(len(m.names))]
	return name, leaves[name]()
}

// any is a criterion that may look at the workspace.
func (m maker) any(depth int) evaltest.Criterion {
	switch m.IntN(6) {
	case 0:
		return atEnd{score: evaltest.Ratio(m.IntN(4), 3)}
	case 1:
		return atEnd{err: errGrader}
	}
	_, c := m.live(depth, m.any)
	return c
}

// onlyLive is a criterion that is live throughout.
func (m maker) onlyLive(depth int) evaltest.Criterion {
	_, c := m.live(depth, m.onlyLive)
	return c
}

// live is a criterion whose parts, where any will do, are made by part.
func (m maker) live(depth int, part func(int) evaltest.Criterion) (string, evaltest.LiveCriterion) {
	if depth == 0 {
		return m.leaf()
	}
	live := func() evaltest.LiveCriterion { return m.onlyLive(depth - 1).(evaltest.LiveCriterion) }
	passing := func() evaltest.LiveCriterion {
		for range 20 {
			if c := live(); c.StopPolarities().Has(evaltest.Pass) {
				return c
			}
		}
		return criteria.SkillTriggered("git")
	}
	parts := make([]evaltest.Criterion, 1+m.IntN(4))
	for i := range parts {
		parts[i] = part(depth - 1)
	}
	switch m.IntN(10) {
	case 0:
		return "Never", criteria.Never(parts[0])
	case 1:
		return "AllOf", criteria.AllOf(parts...)
	case 2:
		return "AnyOf", criteria.AnyOf(parts...)
	case 3:
		return "AtLeast", criteria.AtLeast(1+m.IntN(len(parts)), parts...)
	case 4:
		return "WithinCalls", criteria.WithinCalls(1+m.IntN(6), live())
	case 5:
		return "Succeeded", criteria.Succeeded(live())
	case 6:
		return "Attempted", criteria.Attempted(live())
	case 7:
		return "Before", criteria.Before(passing(), passing())
	case 8:
		return "Then", criteria.Then(passing(), passing())
	}
	return m.leaf()
}

// reached counts what was decided, by the name of a criterion.
type reached struct {
	sync.Mutex
	verdicts map[string]map[evaltest.Verdict]int
	declared map[string]evaltest.Polarity
}

// Every built-in criterion and combination keeps the contract of live criteria on every prefix of every trajectory, for
// whatever completion.
func TestLiveCriteriaKeepTheirContract(t *testing.T) {
	t.Parallel()
	const shards = 8
	cases := 20_000
	if testing.Short() {
		cases = 4_000
	}
	all := &reached{verdicts: map[string]map[evaltest.Verdict]int{}, declared: map[string]evaltest.Polarity{}}
	t.Run("cases", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < cases && !t.Failed(); i += shards {
					holdToContract(t, uint64(i), all)
				}
			})
		}
	})
	if t.Failed() || testing.Short() {
		return
	}
	// A test that never sees a verdict shows nothing about it.
	for name, p := range all.declared {
		t.Logf("%-26s %-10v %v", name, p, all.verdicts[name])
		if n := all.verdicts[name][evaltest.Passed]; p.Has(evaltest.Pass) && n < 10 {
			t.Errorf("%s declares Pass and passed %d times", name, n)
		}
		if n := all.verdicts[name][evaltest.Failed]; p.Has(evaltest.Fail) && n < 10 {
			t.Errorf("%s declares Fail and failed %d times", name, n)
		}
	}
}

func holdToContract(t *testing.T, seed uint64, all *reached) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := maker{Rand: rng}
	for name := range leaves {
		m.names = append(m.names, name)
	}
	slices.Sort(m.names)
	name, c := m.live(rng.IntN(4), m.any)
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("seed %d: %v: "+format, append([]any{seed, c}, args...)...)
	}
	if c, ok := c.(evaltest.Misuse); ok && c.Misuse() != nil {
		fail("misuse: %v", c.Misuse())
		return
	}
	reach := c.StopPolarities()

	traj := randtraj.NewMaker(rng)
	tr := traj.Trajectory()
	lengths := []int{0}
	known := []evaltest.Interval{evaltest.LiveInterval(c, tr)}
	verdicts := []evaltest.Verdict{c.LiveVerdict(tr)}
	steps := rng.IntN(40)
	if _, leaf := leaves[name]; leaf {
		steps = rng.IntN(120)
	}
	for range steps {
		traj.Step()
		v, i := c.LiveVerdict(tr), evaltest.LiveInterval(c, tr)
		was, before := verdicts[len(verdicts)-1], known[len(known)-1]
		switch {
		case i.Valid() != nil:
			fail("after %d events: %v", tr.Len(), i.Valid())
		case v == evaltest.Passed && !reach.Has(evaltest.Pass), v == evaltest.Failed && !reach.Has(evaltest.Fail):
			fail("says %v, declares %v", v, reach)
		case i.Lo.Float() > 0 && !reach.Has(evaltest.Pass), i.Hi.Float() < 1 && !reach.Has(evaltest.Fail):
			fail("its bounds are %v, it declares %v", i, reach)
		case v == evaltest.Passed && i.Lo.Float() < 1, v == evaltest.Failed && i.Hi.Float() > 0:
			fail("says %v with bounds %v", v, i)
		case was != evaltest.Undecided && v != was:
			fail("said %v and after %d events %v", was, tr.Len(), v)
		case !i.Within(before):
			fail("its bounds were %v and after %d events %v", before, tr.Len(), i)
		}
		lengths, known, verdicts = append(lengths, tr.Len()), append(known, i), append(verdicts, v)
	}
	all.Lock()
	if all.verdicts[name] == nil {
		all.verdicts[name] = map[evaltest.Verdict]int{}
	}
	all.verdicts[name][verdicts[len(verdicts)-1]]++
	if _, leaf := leaves[name]; leaf || name == "Before" || name == "Then" || name == "WithinCalls" {
		all.declared[name] = reach
	} else {
		all.declared[name] |= reach
	}
	all.Unlock()

	// Pure: what was seen event by event is what is seen at once.
	for range 2 {
		k := rng.IntN(len(lengths))
		if i := evaltest.LiveInterval(c, tr.Prefix(lengths[k])); !i.Equal(known[k]) {
			fail("the first %d events: %v when watched, %v when looked at later", lengths[k], known[k], i)
		}
	}
	for range 2 {
		k := rng.IntN(len(lengths))
		if rng.IntN(3) == 0 {
			k = len(lengths) - 1
		}
		end := randtraj.Complete(rng, tr.Prefix(lengths[k]))
		s, err := c.Grade(context.Background(), &evaltest.Trial{Trajectory: end})
		open := end.Tally(struct{ any int }{}, func(agents.ToolCall) bool { return true }).Open()
		late := evaltest.LiveInterval(c, end)
		if !late.Within(known[k]) {
			fail("its bounds were %v at %d events and %v at the end", known[k], lengths[k], late)
		}
		if err != nil {
			switch {
			case known[k].Point(), late.Point():
				fail("decided at %d events (%v, %v at the end), and its grade is %v", lengths[k], known[k], late, err)
			case errors.Is(err, evaltest.ErrOpen) && open == 0:
				fail("its grade is open where no call is")
			}
			continue
		}
		if exactly := (evaltest.Interval{Lo: s, Hi: s}); s.Err() != nil || !exactly.Within(known[k]) || !exactly.Within(late) {
			fail("its bounds were %v at %d events and %v at the end, its grade is %v\n%s", known[k], lengths[k], late, s, show(end))
		}
		// Of the trajectory: a score that was given does not depend on how open calls went.
		other := randtraj.Resolved(rng, end)
		if s2, err := c.Grade(context.Background(), &evaltest.Trial{Trajectory: other}); err != nil || s2.Cmp(s) != 0 {
			fail("its grade is %v with %d open calls, and %v (error %v) when they have settled\n%s", s, open, s2, err, show(other))
		}
	}
}

// show lists the events of a trajectory.
func show(tr *agents.Trajectory) string {
	text := ""
	for i, e := range tr.Events() {
		text += fmt.Sprintf("%3d %-8s in=%q under=%q %s%s %v %v %v %q\n", i, e.Kind, e.Message, e.Parent, e.CallID, e.Call.ID, e.Status, e.Call.Kind, e.Call.Commands, e.Call.Skill)
	}
	return text
}
