package right

import (
	"os"
	"slices"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

type row struct {
	name string
	when evaltest.Polarity
	c    evaltest.LiveCriterion
}

// A row that arms nothing is asked first.
func TestOptionalRows(t *testing.T) {
	for _, tc := range []row{
		{"smoke", evaltest.Pass, criteria.CommandExecuted("go test")},
		{name: "whole"},
		{name: "known", when: evaltest.Fail, c: helpers.Tested()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := evaltest.New(t)
			if tc.when != 0 && tc.c.StopPolarities().Has(tc.when) {
				e.StopWhen(tc.when, tc.c)
			}
			e.Expect(criteria.FileExists("a"))
			e.Run("Go.")
		})
	}
}

// A row that is skipped.
func TestSkippedRows(t *testing.T) {
	for _, tc := range []row{
		{"a", evaltest.Pass, criteria.CommandExecuted("go test")},
		{name: "to come"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.c == nil {
				t.Skip("to come")
			}
			e := evaltest.New(t)
			e.StopWhen(tc.when, tc.c)
			e.Run("Go.")
		})
	}
	for _, tc := range []row{{"a", evaltest.Pass, nil}} {
		if tc.c == nil {
			continue
		}
		e := evaltest.New(t)
		e.StopWhen(tc.when, tc.c)
		e.Run("Go.")
	}
}

// Rows that are written to later.
func TestRowsThatChange(t *testing.T) {
	rows := []row{{name: "a"}, {name: "b", when: evaltest.Pass, c: criteria.CommandExecuted("b")}}
	rows[0].when, rows[0].c = evaltest.Fail, criteria.CallsAtMost(3)
	for i := range rows {
		rows[i].c = criteria.FirstSkill("pdf")
	}
	for _, tc := range rows {
		e := evaltest.New(t)
		e.StopWhen(tc.when, tc.c)
		e.Run("Go.")
	}

	filled := []*row{{name: "a"}}
	fill(filled)
	for _, tc := range filled {
		e := evaltest.New(t)
		e.StopWhen(tc.when, tc.c)
		e.Run("Go.")
	}

	defaults := []row{{name: "a", c: criteria.CallsAtMost(3)}}
	for _, tc := range defaults {
		if tc.when == 0 {
			tc.when = evaltest.Fail
		}
		e := evaltest.New(t)
		e.StopWhen(tc.when, tc.c)
		e.Run("Go.")
	}

	made := map[string]evaltest.LiveCriterion{"a": nil}
	made["a"] = criteria.CallsAtMost(3)
	for _, c := range made {
		e := evaltest.New(t)
		e.StopWhen(evaltest.Fail, c)
		e.Run("Go.")
	}

	sorted := []row{{name: "a"}}
	slices.SortFunc(sorted, func(a, b row) int { return 0 })
	for _, tc := range sorted {
		e := evaltest.New(t)
		e.StopWhen(tc.when, tc.c)
		e.Run("Go.")
	}
}

func fill(rows []*row) {
	for _, r := range rows {
		r.when, r.c = evaltest.Fail, criteria.CallsAtMost(3)
	}
}

// One table says for what, the other one what; and two rows of one.
func TestTwoTables(t *testing.T) {
	whens := []evaltest.Polarity{evaltest.Fail, evaltest.Pass}
	cs := []evaltest.LiveCriterion{criteria.CallsAtMost(3), criteria.CommandExecuted("a")}
	for i := range whens {
		e := evaltest.New(t)
		e.StopWhen(whens[i], cs[i])
		e.Run("Go.")
	}
	for i, when := range whens {
		for j, c := range cs {
			if i == j {
				e := evaltest.New(t)
				e.StopWhen(when, c)
				e.Run("Go.")
			}
		}
	}
}

// What is done depends on the row.
func TestKinds(t *testing.T) {
	for _, tc := range []struct {
		kind string
		c    evaltest.LiveCriterion
	}{
		{"must", criteria.CommandExecuted("go test")},
		{"must not", criteria.CallsAtMost(4)},
	} {
		e := evaltest.New(t)
		switch tc.kind {
		case "must":
			e.StopWhen(evaltest.Pass, tc.c)
		case "must not":
			e.StopWhen(evaltest.Fail, tc.c)
		}
		helpers.Either(e, tc.kind, criteria.FirstSkill(tc.kind))
		e.Run("Go.")
	}
}

// A helper that looks at what it is given, and a condition that does.
func TestCareful(t *testing.T) {
	e := evaltest.New(t)
	tested := helpers.Tested()
	helpers.Careful(e, tested, helpers.NoForcePush{})
	helpers.Either(e, "must", tested)
	if tested.StopPolarities().Has(evaltest.Fail) {
		e.StopWhen(evaltest.Fail, tested)
	}
	if reach := vetted.StopPolarities(); reach&evaltest.Fail != 0 {
		t.Run("subtest", func(*testing.T) { e.StopWhen(evaltest.Fail, vetted) })
	}
	local(e, evaltest.Fail, tested)
	local(e, 0, nil)
	each(e, tested, helpers.NoForcePush{})
	e.Run("Go.")
}

var vetted = criteria.CommandExecuted("go vet")

func local(e *evaltest.T, when evaltest.Polarity, c evaltest.LiveCriterion) {
	if c == nil || when&c.StopPolarities() == 0 {
		return
	}
	e.StopWhen(when, c)
}

func each(e *evaltest.T, cs ...evaltest.LiveCriterion) {
	for _, c := range cs {
		if c.StopPolarities() == evaltest.Pass {
			continue
		}
		e.StopWhen(evaltest.Fail, c)
	}
}

// What is known when the test runs only.
func TestRunTime(t *testing.T) {
	e := evaltest.New(t)
	when := evaltest.Polarity(len(os.Args))
	e.StopWhen(when, criteria.CommandExecuted("a"))
	var c evaltest.LiveCriterion
	if os.Getenv("A") != "" {
		c = criteria.CallsAtMost(3)
	} else {
		c = helpers.Tested()
	}
	e.StopWhen(evaltest.Fail, c)
	e.StopWhen(evaltest.Fail, criteria.AllOf(parts()...))
	e.StopWhen(evaltest.Pass, criteria.AtLeast(len(os.Args), c, criteria.CommandExecuted("b")))
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("c").Max(len(os.Args)).Min(5), evaltest.Weight(float64(len(os.Args))))
	e.Run("Go.")
}

func parts() []evaltest.Criterion { return nil }
