// Package parts is what the criteria of the packages wrong and right are made of: right by itself.
//
//	var rm = parts.Runs{Words: "rm -rf"}
//
//	func (noRM) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
//		return parts.FailIf(rm.Tally(tr).Ran() > 0)
//	}
package parts

import (
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// Runs matches calls that run a command with these words in it.
type Runs struct{ Words string }

// In reports whether c is one.
func (r Runs) In(c agents.ToolCall) bool {
	return c.Kind == agents.Execute && slices.ContainsFunc(c.Commands, func(s string) bool { return strings.Contains(s, r.Words) })
}

// Tally counts them.
func (r Runs) Tally(tr *agents.Trajectory) agents.Tally { return tr.Tally(r, r.In) }

// Used matches calls that use the skill of this name.
func Used(name string) func(agents.ToolCall) bool {
	return func(c agents.ToolCall) bool { return c.Kind == agents.Skill && c.Skill == name }
}

// AtLeastOne grades what asks for one call that has run.
func AtLeastOne(t agents.Tally) (evaltest.Score, error) {
	if t.Ran() == 0 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Ran() > 0), nil
}

// None grades what asks for no call that has run.
func None(t agents.Tally) (evaltest.Score, error) {
	s, err := AtLeastOne(t)
	return s.Complement(), err
}

// PassIf passes when ok, and else decides nothing.
func PassIf(ok bool) evaltest.Verdict {
	if ok {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// FailIf fails when bad, and else decides nothing.
func FailIf(bad bool) evaltest.Verdict {
	if bad {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// Statuses is the last status of each call that matches, in the order of dispatch.
func Statuses(tr *agents.Trajectory, match func(agents.ToolCall) bool) []agents.Status {
	var all []agents.Status
	for c := range tr.Calls() {
		if match(c.ToolCall) {
			all = append(all, c.Status)
		}
	}
	return all
}
