package criteriatest_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
)

// wrong is a criterion that breaks its contract by one mistake, and the rules that find it: the first is the one it breaks,
// others may be broken as well.
type wrong struct {
	name  string
	c     func(*testing.T) evaltest.LiveCriterion
	rules string
	opts  []criteriatest.Option
	made  bool // for CheckFunc

	global bool // it is the mistake of all its values: one test at a time
}

func is(c evaltest.LiveCriterion) func(*testing.T) evaltest.LiveCriterion {
	return func(*testing.T) evaltest.LiveCriterion { return c }
}

var wrongs = []wrong{
	{name: "a name that is blank", c: is(nameless{}), rules: "string"},
	{name: "a name of two lines", c: is(twoLines{}), rules: "string"},
	{name: "a name that tells the progress", c: func(*testing.T) evaltest.LiveCriterion { return progress{done: new(atomic.Bool)} }, rules: "string"},
	{name: "an index into the commands of a call that has none", c: is(noCommand{}), rules: "returns"},
	{name: "a panic in Grade", c: is(gradePanics{}), rules: "returns sound trajectory"},
	{name: "waiting for a channel", c: func(t *testing.T) evaltest.LiveCriterion {
		c := waits{never: make(chan struct{})}
		t.Cleanup(func() { close(c.never) })
		return c
	}, rules: "returns", opts: []criteriatest.Option{criteriatest.Limit(500 * time.Millisecond)}},
	{name: "FailNow in a verdict", c: is(exits{}), rules: "returns"},
	{name: "an undeclared fail", c: is(undeclared{}), rules: "declared sound monotone"},
	{name: "a verdict that is none", c: is(fourth{}), rules: "declared reachable"},
	{name: "Decided as a polarity", c: is(decidedPolarity{}), rules: "declared"},
	{name: "a polarity that changes", c: func(*testing.T) evaltest.LiveCriterion { return fadingPolarity{over: new(atomic.Bool)} }, rules: "declared"},
	{name: "bounds that move undeclared", c: is(quietBounds{}), rules: "declared"},
	{name: "a counter in a field", c: func(*testing.T) evaltest.LiveCriterion { return &counterInField{} }, rules: "pure"},
	{name: "a global by the ids of calls", c: func(*testing.T) evaltest.LiveCriterion {
		everSeenMu.Lock()
		defer everSeenMu.Unlock()
		clear(everSeenID)
		return everSeen{}
	}, rules: "pure", global: true},
	{name: "a map ranged over into a decision", c: is(mapOrder{}), rules: "pure"},
	{name: "random numbers", c: is(dice{}), rules: "pure"},
	{name: "the clock", c: is(sinceFirst{}), rules: "pure"},
	{name: "the clock, from when it was made", c: is(sinceMade{made: time.Now()}), rules: "pure reachable"},
	{name: "looks counted by trajectory", c: func(*testing.T) evaltest.LiveCriterion {
		return looksOfTrajectory{mu: new(sync.Mutex), asked: map[*agents.Trajectory]int{}}
	}, rules: "pure"},
	{name: "one key for all parameters", c: is(sharedKey{"pdf"}), rules: "pure", opts: []criteriatest.Option{criteriatest.Beside(sharedKey{"csv"})}},
	{name: "appending to the trajectory", c: is(appends{}), rules: "pure"},
	{name: "a constructor that rolls dice", made: true, c: func() func(*testing.T) evaltest.LiveCriterion {
		n := 0
		return func(*testing.T) evaltest.LiveCriterion { n++; return perValue{n: n % 2} }
	}(), rules: "pure"},
	{name: "the trajectory kept in a field", c: func(*testing.T) evaltest.LiveCriterion { return &heldInField{} }, rules: "concurrent"},
	{name: "a status that is not of the event", c: is(statusNow{}), rules: "incremental reachable"},
	{name: "a re-opened verdict", c: is(lastTest{}), rules: "monotone sound"},
	{name: "a verdict by the parity of the length", c: is(parity{}), rules: "monotone"},
	{name: "a pass on a pending call", c: is(pendingPass{}), rules: "sound"},
	{name: "a pass on a call in progress", c: is(startedPass{}), rules: "sound monotone"},
	{name: "a denied call counted as run", c: is(deniedCounts{}), rules: "sound"},
	{name: "a retry ignored", c: is(noRetry{}), rules: "sound monotone"},
	{name: "a mention taken for the deed", c: is(mention{}), rules: "sound"},
	{name: "a budget that ends one call early", c: is(budget{3}), rules: "sound"},
	{name: "parallel calls in the order of their ends", c: is(firstToEnd{"pdf"}), rules: "sound monotone"},
	{name: "handing back taken for the end", c: is(doneIsOver{}), rules: "sound monotone"},
	{name: "sub-agents counted live only", c: is(subAgents{}), rules: "sound"},
	{name: "a polarity that no path returns", c: is(neverFails{}), rules: "reachable"},
	{name: "a status misspelt", c: is(neverMatches{}), rules: "reachable"},
	{name: "ErrOpen turned into a zero", c: is(openIsZero{}), rules: "trajectory"},
	{name: "an unresolved call taken for a denied one", c: is(unresolvedIsDenied{}), rules: "trajectory"},
	{name: "open where nothing is", c: is(alwaysOpen{}), rules: "trajectory"},
	{name: "Grade reads the workspace", c: is(readsWorkspace{}), rules: "trajectory"},
	{name: "Grade reads the reply", c: is(readsReply{}), rules: "trajectory"},
	{name: "Grade reads the trial's usage", c: is(readsUsage{5000}), rules: "trajectory"},
	{name: "a score beyond 1", c: is(tooGood{}), rules: "trajectory sound"},
	{name: "bounds that widen", c: is(share{}), rules: "bounds"},
	{name: "bounds upside down", c: is(upsideDown{}), rules: "bounds"},
	{name: "a pass before the bounds", c: is(hasty{}), rules: "bounds sound"},
	{name: "bounds too narrow", c: is(generous{}), rules: "bounds declared"},
}

// Each mistake is found by the rule that it breaks, and by no rule that it does not.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	var mu sync.Mutex
	t.Run("table", func(t *testing.T) {
		for _, w := range wrongs {
			t.Run(w.name, func(t *testing.T) {
				if w.rules != "concurrent" { // needs both processors
					t.Parallel()
				}
				if w.rules == "concurrent" && criteriatest.RaceEnabled {
					t.Skip("the race detector finds it, and fails this test: see TestRace")
				}
				want := strings.Fields(w.rules)
				got := criteriatest.Violations(t, func() evaltest.LiveCriterion { return w.c(t) }, w.made, w.opts...)
				require.Contains(t, got, want[0])
				mu.Lock()
				found[want[0]]++
				mu.Unlock()
				for rule, v := range got {
					assert.Contains(t, want, rule, "%v", v)
					assert.NotEmpty(t, v.Saw)
					assert.NotEmpty(t, v.Criterion)
					if v.Trajectory != nil {
						assert.Less(t, v.Trajectory.Len(), 30, "shrunk: %v", v)
						assert.LessOrEqual(t, v.At, v.Trajectory.Len())
					}
				}
			})
		}
	})
	for _, rule := range criteriatest.Rules() {
		if !criteriatest.RaceEnabled || rule != "concurrent" {
			assert.NotZero(t, found[rule], "no row of the table breaks the rule %s", rule)
		}
	}
}
