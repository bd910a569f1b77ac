package criteriatest_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
)

// Criteria that look as if they broke their contract, and keep it.

// memoised compiles its pattern when it is first needed.
type memoised struct {
	noRM
	once *sync.Once
	re   **regexp.Regexp
}

type memoisedKey struct{}

func (c memoised) pattern() *regexp.Regexp {
	c.once.Do(func() { *c.re = regexp.MustCompile(`rm -rf\b`) })
	return *c.re
}
func (c memoised) tally(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(memoisedKey{}, func(call agents.ToolCall) bool {
		return call.Kind == agents.Execute && c.pattern().MatchString(strings.Join(call.Commands, "\n"))
	})
}
func (c memoised) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(c.tally(tr).Ran() > 0)
}
func (c memoised) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return none(c.tally(trial.Trajectory))
}

// deadline compares the times of events with a moment that it was given.
type deadline struct{ at time.Time }

func (deadline) String() string                    { return "done in time" }
func (deadline) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c deadline) late(tr *agents.Trajectory) bool {
	return agents.Fold(tr, c, func(late bool, e agents.Event) bool { return late || e.Time.After(c.at) })
}
func (c deadline) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return failIf(c.late(tr)) }
func (c deadline) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(!c.late(trial.Trajectory)), nil
}

// polarities are looked up in a table.
type byTable struct{ mode string }

var (
	tablePolarities = map[string]evaltest.Polarity{"must": evaltest.Pass, "must not": evaltest.Fail}
	tableVerdicts   = map[string]evaltest.Verdict{"must": evaltest.Passed, "must not": evaltest.Failed}
)

func (c byTable) String() string                    { return c.mode + " run rm -rf" }
func (c byTable) StopPolarities() evaltest.Polarity { return tablePolarities[c.mode] }
func (c byTable) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.tally(tr).Ran() > 0 {
		return tableVerdicts[c.mode]
	}
	return evaltest.Undecided
}
func (c byTable) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.mode == "must" {
		return atLeastOne(rm.tally(trial.Trajectory))
	}
	return none(rm.tally(trial.Trajectory))
}

// generic is one for every kind of setting.
type generic[T ~string] struct{ skill T }

func (c generic[T]) String() string                  { return "uses " + string(c.skill) }
func (generic[T]) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c generic[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(tr.Tally(c, used(string(c.skill))).Ran() > 0)
}
func (c generic[T]) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return atLeastOne(trial.Trajectory.Tally(c, used(string(c.skill))))
}

// overMap ranges over a map, and its order does not matter.
type overMap struct{ noRM }

func (overMap) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	bad := map[string]bool{}
	for c := range tr.Calls() {
		bad[c.ID] = rm.in(c.ToolCall) && c.Status.Ran()
	}
	for _, b := range bad {
		if b {
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}

// embeds takes everything from what it embeds.
type embeds struct{ *three }

// byPointer has its own pointer as the key.
type byPointer struct{ noRM }

func (c *byPointer) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(tr.Tally(c, rm.in).Ran() > 0)
}

// cautious never decides while the agent works.
type cautious struct{ tested }

func (cautious) StopPolarities() evaltest.Polarity               { return 0 }
func (cautious) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

var rights = map[string]evaltest.LiveCriterion{
	"a must-not":                           noRM{},
	"a must":                               tested{},
	"partial credit":                       three{},
	"a pattern compiled when it is needed": memoised{once: new(sync.Once), re: new(*regexp.Regexp)},
	"a moment that was given":              deadline{time.Date(2030, 1, 1, 12, 0, 30, 0, time.UTC)},
	"polarity by a table: must":            byTable{"must"},
	"polarity by a table: must not":        byTable{"must not"},
	"a generic type":                       generic[agents.Kind]{"pdf"},
	"a map whose order does not matter":    overMap{},
	"embedding":                            embeds{&three{}},
	"its own pointer as a key":             &byPointer{},
	"nothing decided live":                 cautious{},
	"a key for each parameter":             generic[string]{"pdf"},
}

// What is right is not found fault with.
func TestRightCriteria(t *testing.T) {
	t.Parallel()
	for name, c := range rights {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, v := range criteriatest.Violations(t, func() evaltest.LiveCriterion { return c }, false) {
				assert.Fail(t, "a violation", "%v", v)
			}
			assert.NoError(t, criteriatest.CheckFunc(func() evaltest.LiveCriterion { return c }, criteriatest.Cases(20),
				criteriatest.Beside(generic[string]{"csv"}, noRM{})))
		})
	}
}
