package right

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

// Another function changes what they hold.
var (
	early   = helpers.Tested()
	changed = criteria.Never(criteria.CommandExecuted("rm"))
	table   = []row{{name: "a"}, {name: "b"}}
	current = &suite{}
	other   = []row{{name: "a"}}
	byName  = map[string]evaltest.LiveCriterion{"a": nil}

	// Rows are filled by other packages.
	Rows = []row{{name: "a"}}
)

func init() {
	changed = criteria.Never(criteria.Never(criteria.CommandExecuted("ls")))
	table[0] = row{"a", evaltest.Fail, criteria.CallsAtMost(3)}
	table[1] = row{"b", evaltest.Fail, criteria.CallsAtMost(3)}
	other = []row{{"a", evaltest.Fail, criteria.CallsAtMost(4)}}
	byName["a"] = criteria.CallsAtMost(5)
}

func TestGlobals(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, early)
	e.StopWhen(evaltest.Pass, changed)
	for _, tc := range table {
		e.StopWhen(tc.when, tc.c)
	}
	for _, tc := range other {
		e.StopWhen(tc.when, tc.c)
	}
	for _, tc := range Rows {
		e.StopWhen(tc.when, tc.c)
	}
	for _, c := range byName {
		e.StopWhen(evaltest.Fail, c)
	}
	e.Run("Go.")
}

// It looks first what it has, also around a function.
func TestGuards(t *testing.T) {
	e := evaltest.New(t)
	push := helpers.NoForcePush{}
	if push.StopPolarities().Has(evaltest.Pass) {
		e.StopWhen(evaltest.Pass, push)
	}
	if early.StopPolarities().Has(evaltest.Fail) {
		t.Run("subtest", func(*testing.T) { e.StopWhen(evaltest.Fail, early) })
	}
	e.Run("Go.")
}

// Rows of two tables, and of one.
func TestPairs(t *testing.T) {
	as := []row{{when: evaltest.Fail, c: helpers.Tested()}, {when: evaltest.Pass, c: helpers.NoForcePush{}}}
	bs := []row{{when: evaltest.Pass, c: helpers.NoForcePush{}}, {when: evaltest.Fail, c: helpers.Tested()}}
	for i := range as {
		e := evaltest.New(t)
		e.StopWhen(as[i].when, bs[i].c)
		e.Run("Go.")
	}
	for i := range as {
		e := evaltest.New(t)
		e.StopWhen(as[i].when, as[1-i].c)
		e.Run("Go.")
	}
	cs := []row{{name: "a", when: evaltest.Fail}, {name: "b", when: evaltest.Fail}}
	rest := cs[1:]
	rest[0].c = helpers.NoForcePush{}
	cs[0].c = helpers.NoForcePush{}
	for _, tc := range cs {
		e := evaltest.New(t)
		e.StopWhen(tc.when, tc.c)
		e.Run("Go.")
	}
}

// Bounds that fit, and Prevent on what is not known.
func TestFits(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("a").Partial())
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("b").Min(0).Min(2))
	e.StopWhen(evaltest.Fail, limited().Min(0))
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("c").Max(3).Min(3))
	e.StopWhen(evaltest.Decided, some(), evaltest.Prevent())
	e.StopWhen(evaltest.Pass, criteria.WithinCalls(3, criteria.AllOf(helpers.Tested(), criteria.FirstSkill("pdf"))))
	e.StopWhen(evaltest.Pass, criteria.Before(helpers.Tested(), criteria.FirstSkill("csv")))
	e.StopWhen(evaltest.Fail, criteria.CallsAtMost(0))
	e.StopWhen(evaltest.Pass, criteria.AtLeast(1, some()), evaltest.PassAt(1), evaltest.Weight(0.1))
	x, y := told{}, told{reach: evaltest.Pass}
	if testing.Short() {
		x.reach = evaltest.Pass
	}
	e.StopWhen(evaltest.Pass, x)
	e.StopWhen(evaltest.Pass, y)
	v, w := told{reach: evaltest.Pass}, told{reach: evaltest.Fail}
	v.reach = evaltest.Fail
	w.reach = evaltest.Pass
	e.StopWhen(evaltest.Fail, v)
	e.StopWhen(evaltest.Pass, w)
	e.Run("Go.")
}

func limited() *criteria.CommandCount { return criteria.CommandExecuted("d").Max(3) }

func some() evaltest.LiveCriterion {
	if testing.Short() {
		return criteria.FirstSkill("pdf")
	}
	return criteria.CallsAtMost(3)
}

// The suite of the package is this one, and gets another eval.
func (s *suite) renewed(t *testing.T) {
	current = s
	s.e.Run("Go.")
	renew(t)
	s.e.Expect(criteria.FileExists("a"))
	s.e.Run("Go on.")
	s.e.Helper()
	t.Cleanup(func() {})
}

func renew(t *testing.T) { current.e = evaltest.New(t) }

// Whoever runs twice hears that from another analyzer.
func TestTwice(t *testing.T) {
	e := evaltest.New(t)
	helpers.Check(t, e)
	helpers.Check(t, e)
}
