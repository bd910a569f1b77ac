package wrong

import (
	"maps"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

func perTool(tr *agents.Trajectory) map[string]int {
	return agents.Fold(tr, key{"per tool"}, func(s map[string]int, e agents.Event) map[string]int {
		if s == nil {
			s = map[string]int{}
		}
		if e.Kind == agents.EventCall {
			s[e.Call.Name]++
		}
		return s
	})
}

type either struct{ base }

func (c *either) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for tool, n := range perTool(tr) { // want `ranges over a map and lets the element that happens to come first decide between results; go over the keys in order`
		if tool == "rm" && n > 2 {
			return evaltest.Failed
		}
		if n > 5 {
			return evaltest.Passed
		}
	}
	return evaltest.Undecided
}

type favourite struct{ base }

func (c *favourite) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(busiest(perTool(tr)) == "rm") // want `calls busiest, which ranges over a map and takes the element that happens to come first`
}

func busiest(m map[string]int) string {
	for tool, n := range m {
		if n > 3 {
			return tool
		}
	}
	return ""
}

type lastTool struct{ base }

func (c *lastTool) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	last := ""
	for tool := range perTool(tr) { // want `ranges over a map and keeps the element that happens to come last`
		last = tool
	}
	return failIf(last == "rm")
}

type lastBusy struct{ base }

func (c *lastBusy) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	last := ""
	for tool, n := range perTool(tr) { // want `keeps the element that happens to come last`
		if n > 1 {
			last = tool
		}
	}
	return failIf(last == "rm")
}

type firstOfKeys struct{ base }

func (c *firstOfKeys) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var tools []string
	for tool := range perTool(tr) { // want `takes elements by their place without sorting them`
		tools = append(tools, tool)
	}
	return failIf(len(tools) > 0 && tools[0] == "rm")
}

type joined struct{ base }

func (c *joined) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var tools []string
	for tool := range perTool(tr) { // want `takes elements by their place without sorting them`
		tools = append(tools, tool)
	}
	return failIf(strings.Join(tools, ",") == "read,write")
}

// The loop never comes to a second element.
type some struct{ base }

func (c *some) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for tool := range perTool(tr) { // want `ranges over a map and takes the element that happens to come first`
		return failIf(tool == "rm")
	}
	return evaltest.Undecided
}

type someThenLook struct{ base }

func (c *someThenLook) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	first := ""
	for tool := range perTool(tr) { // want `takes the element that happens to come first`
		first = tool
		break
	}
	return failIf(first == "rm")
}

type someOrOther struct{ base }

func (c *someOrOther) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for _, n := range perTool(tr) { // want `decide between results`
		if n > 3 {
			return evaltest.Failed
		}
		return evaltest.Undecided
	}
	return evaltest.Undecided
}

// Which result it is depends on the element by a condition further in.
type nested struct{ base }

func (c *nested) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for _, n := range perTool(tr) { // want `decide between results`
		if n > 3 {
			if n > 5 {
				return evaltest.Failed
			}
			return evaltest.Passed
		}
	}
	return evaltest.Undecided
}

// Package maps gives the elements in the same order as the language.
type firstCollected struct{ base }

func (c *firstCollected) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	tools := slices.Collect(maps.Keys(perTool(tr))) // want `goes over a map and takes elements by their place without sorting them`
	return failIf(len(tools) > 0 && tools[0] == "rm")
}

type firstIterated struct{ base }

func (c *firstIterated) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for tool, n := range maps.All(perTool(tr)) { // want `goes over a map and takes the element that happens to come first`
		if n > 3 {
			return failIf(tool == "rm")
		}
	}
	return evaltest.Undecided
}

type eitherIterated struct{ base }

func (c *eitherIterated) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for n := range maps.Values(perTool(tr)) { // want `decide between results`
		if n > 5 {
			return evaltest.Failed
		}
		if n > 3 {
			return evaltest.Passed
		}
	}
	return evaltest.Undecided
}
