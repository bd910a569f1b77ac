package criteriatest_test

import (
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// What the criteria of these tests are made of: right by itself.

// runs matches calls that run a command with these words in it.
type runs struct{ words string }

func (r runs) in(c agents.ToolCall) bool {
	return c.Kind == agents.Execute && slices.ContainsFunc(c.Commands, func(s string) bool { return strings.Contains(s, r.words) })
}

func (r runs) tally(tr *agents.Trajectory) agents.Tally { return tr.Tally(r, r.in) }

var (
	rm   = runs{"rm -rf"}
	test = runs{"go test"}
)

func used(name string) func(agents.ToolCall) bool {
	return func(c agents.ToolCall) bool { return c.Kind == agents.Skill && c.Skill == name }
}

// atLeastOne grades what asks for one call that has run.
func atLeastOne(t agents.Tally) (evaltest.Score, error) {
	if t.Ran() == 0 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Ran() > 0), nil
}

// none grades what asks for no call that has run.
func none(t agents.Tally) (evaltest.Score, error) {
	s, err := atLeastOne(t)
	return s.Complement(), err
}

func passIf(ok bool) evaltest.Verdict {
	if ok {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

func failIf(bad bool) evaltest.Verdict {
	if bad {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// statuses is the last status of each call that matches, in the order of dispatch.
func statuses(tr *agents.Trajectory, match func(agents.ToolCall) bool) []agents.Status {
	var all []agents.Status
	for c := range tr.Calls() {
		if match(c.ToolCall) {
			all = append(all, c.Status)
		}
	}
	return all
}
