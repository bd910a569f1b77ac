package wrong

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

func TestRows(t *testing.T) {
	for _, tc := range []struct {
		name string
		when evaltest.Polarity
		c    evaltest.LiveCriterion
	}{
		{"tested", evaltest.Pass, criteria.CommandExecuted("go test")},
		{"built", evaltest.Fail, criteria.CommandExecuted("go build")}, // want `^stopwhen: criteria\.CommandExecuted\("go build"\) is armed for Fail, and can reach Pass alone; arm it for that, or use Expect$`
		{name: "clean", c: helpers.NoForcePush{}, when: evaltest.Pass}, // want `armed for Pass, and can reach Fail alone`
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := evaltest.New(t)
			e.StopWhen(tc.when, tc.c)
			e.Run("Go.")
		})
	}
}

func TestMap(t *testing.T) {
	cases := map[string]evaltest.LiveCriterion{
		"rm":   criteria.Never(criteria.CommandExecuted("rm")),
		"curl": criteria.CommandExecuted("curl"), // want `criteria\.CommandExecuted\("curl"\) is armed for Fail`
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := evaltest.New(t)
			e.StopWhen(evaltest.Fail, c)
			e.Run("Go.")
		})
	}
}

func TestList(t *testing.T) {
	e := evaltest.New(t)
	forbidden := []evaltest.LiveCriterion{
		criteria.Never(criteria.CommandExecuted("rm")),
		criteria.CommandExecuted("git push"), // want `criteria\.CommandExecuted\("git push"\) is armed for Fail`
		nil,                                  // want `the criterion is nil`
	}
	for i := range forbidden {
		e.StopWhen(evaltest.Fail, forbidden[i])
	}
	for _, words := range []string{"a", "b"} {
		e.StopWhen(evaltest.Fail, criteria.CommandExecuted(words)) // want `criteria\.CommandExecuted\(words\) is armed for Fail`
	}
	for _, when := range []evaltest.Polarity{
		evaltest.Pass,
		evaltest.Fail, // want `armed for Fail, and can reach Pass alone`
	} {
		e.StopWhen(when, criteria.CommandExecuted("c"))
	}
	e.Run("Go.")
}

// Rows that are pointers, a field that was forgotten, and a helper.
func TestPointers(t *testing.T) {
	type row struct {
		when evaltest.Polarity
		c    evaltest.LiveCriterion
	}
	rows := []*row{
		{evaltest.Fail, criteria.CommandExecuted("d")}, // want `criteria\.CommandExecuted\("d"\) is armed for Fail`
		{when: evaltest.Fail, c: helpers.NoForcePush{}},
	}
	for _, r := range rows {
		e := evaltest.New(t)
		helpers.Arm(e, r.when, r.c)
		e.Run("Go.")
	}
	for _, r := range []row{
		{c: criteria.FirstSkill("pdf")}, // want `the polarity neither is none`
		{when: evaltest.Decided},        // want `the criterion is nil`
		{},                              // want `the criterion is nil`
	} {
		e := evaltest.New(t)
		e.StopWhen(r.when, r.c)
		e.Run("Go.")
	}
}
