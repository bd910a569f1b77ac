package criteriatest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/right"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/wrong"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// violations is what Run would report of a wrong criterion, by rule. It is looked for once, for all tests.
func violations(t *testing.T, c wrong.Case) map[string]*criteriatest.Violation {
	t.Helper()
	once, _ := violationsOf.LoadOrStore(c.Name, sync.OnceValue(func() map[string]*criteriatest.Violation {
		newCriterion := func() evaltest.LiveCriterion { return c.New().(evaltest.LiveCriterion) }
		if !c.Made {
			one := newCriterion()
			newCriterion = func() evaltest.LiveCriterion { return one }
		}
		return criteriatest.Violations(t, newCriterion, c.Made, append(effort(60, 20), c.Options...)...)
	}))
	return once.(func() map[string]*criteriatest.Violation)()
}

var violationsOf sync.Map

// effort is how many trajectories are made: so many, or a few where there is little time, or the race detector takes it.
func effort(many, few int) []criteriatest.Option {
	if testing.Short() || criteriatest.RaceEnabled {
		return []criteriatest.Option{criteriatest.Cases(few)}
	}
	return []criteriatest.Option{criteriatest.Cases(many)}
}

// row is what comes of a wrong criterion.
type row struct {
	wrong.Case
	analyzers []string
	full      *standIn
	smoke     *standIn // nil: there is no smoke check to make of it
}

// Each mistake is found by an analyzer, by a rule of criteriatest, or by the watcher; and what is right is found fault with by none
// of them. docs/contract.md says which finds what.
func TestContract(t *testing.T) {
	t.Parallel()
	var (
		mu   sync.Mutex
		rows []*row
		fine []*standIn // runs of what is right
		kept int
	)
	cases, rights := wrong.Cases(), right.Cases()
	t.Run("group", func(t *testing.T) {
		t.Run("wrong", func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					if c.Rules != "concurrent" { // needs both processors
						t.Parallel()
					}
					r := judge(t, c)
					mu.Lock()
					defer mu.Unlock()
					rows = append(rows, r)
				})
			}
		})
		t.Run("right", func(t *testing.T) {
			for _, c := range rights {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					runs := keeps(t, c)
					mu.Lock()
					defer mu.Unlock()
					fine = append(fine, runs...)
					kept++
				})
			}
		})
	})
	if t.Failed() || len(rows) < len(cases) || kept < len(rights) {
		return // only some were asked for
	}
	slices.SortFunc(rows, func(a, b *row) int {
		place := func(r *row) int { return slices.IndexFunc(cases, func(c wrong.Case) bool { return c.Name == r.Name }) }
		return place(a) - place(b)
	})
	found, types := findings(t, "./testdata/wrong", "./testdata/right"), map[string]bool{}
	for _, r := range rows {
		name := typeName(r.New())
		assert.False(t, types[name], "two mistakes in one type: %s", name)
		types[name] = true
		r.analyzers = found[name]
		delete(found, name)
	}
	assert.Empty(t, found, "analyzers find fault with what is right")
	trials, decided := recorded(t), 0
	for _, tb := range fine {
		assert.Empty(t, breach(t, tb, trials), "%s", tb.text())
		assert.True(t, trials[tb.name].Verdict.Measured, "%s: %s", tb.name, tb.text())
		decided += min(trials[tb.name].Criteria[0].DecidedAt, 1)
	}
	assert.Greater(t, decided, len(rights), "too little of what is right decides while the agent works")
	golden(t, filepath.Join("..", "..", "docs", "contract.md"), page(t, rows, rights, trials))
}

// noticed is what the watcher noticed in its runs, and in which if not in both.
func (r *row) noticed(t *testing.T, trials map[string]*journal.TrialRecord) string {
	t.Helper()
	full := breach(t, r.full, trials)
	if r.smoke == nil {
		return full
	}
	switch smoke := breach(t, r.smoke, trials); {
	case full == smoke:
		return full
	case smoke == "":
		return full + " (full run)"
	case full == "":
		return smoke + " (smoke check)"
	default:
		return full + " (full run), " + smoke + " (smoke check)"
	}
}

// judge holds a wrong criterion against the rules, and runs it.
func judge(t *testing.T, c wrong.Case) *row {
	r := &row{Case: c}
	if _, live := c.New().(evaltest.LiveCriterion); live && (c.Rules != "concurrent" || !criteriatest.RaceEnabled) { // TestRace has that
		want := strings.Fields(c.Rules)
		got := violations(t, c)
		for _, rule := range want {
			assert.Contains(t, got, rule)
		}
		for rule, v := range got {
			assert.Contains(t, append(want, strings.Fields(c.Also)...), rule, "%v", v)
			assert.NotEmpty(t, v.Saw)
			assert.NotEmpty(t, v.Criterion)
			if v.Trajectory != nil {
				assert.Less(t, v.Trajectory.Len(), 30, "shrunk: %v", v)
				assert.LessOrEqual(t, v.At, v.Trajectory.Len())
			}
		}
	} else if !live {
		assert.Empty(t, c.Rules+c.Also)
	}
	a := act{c.Acts(), c.Prompts, c.Denied, c.Hangs}
	r.full = a.run(t, c.New(), false)
	if l, live := c.New().(evaltest.LiveCriterion); live && l.StopPolarities() != 0 && !c.Chance && !c.Hangs {
		r.smoke = a.run(t, c.New(), true)
	}
	return r
}

// keeps has a right criterion checked, and runs it.
func keeps(t *testing.T, c right.Case) (runs []*standIn) {
	for _, v := range criteriatest.Violations(t, c.New, true, append(effort(120, 15), c.Options...)...) {
		assert.Fail(t, "a violation", "%v", v)
	}
	a := act{steps: right.Acts(), prompts: []string{"Do it.", "Go on."}}
	runs = append(runs, a.run(t, c.New(), false))
	if c.New().StopPolarities() != 0 {
		runs = append(runs, a.run(t, c.New(), true))
	}
	return runs
}
