package right

import (
	"maps"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Maps whose order decides nothing.

var ordered = []Case{
	{Name: "any element of a map", Looks: "a map ranged over into a decision", New: same(anyOf{})},
	{Name: "the sum over a map", Looks: "a map ranged over into a decision", New: same(sumOf{})},
	{Name: "the largest element of a map, ties broken", Looks: "an element that happens to come last", New: same(largest{})},
	{Name: "the keys of a map, sorted", Looks: "the first of a map's keys", New: same(sortedKeys{})},
}

// ran is how often each command was run.
func ran(tr *agents.Trajectory) map[string]int {
	n := map[string]int{}
	for c := range tr.Calls() {
		if c.Kind == agents.Execute && c.Status.Ran() {
			for _, command := range c.Commands {
				n[command]++
			}
		}
	}
	return n
}

func removes(command string) bool {
	return rm.In(agents.ToolCall{Kind: agents.Execute, Commands: []string{command}})
}

type anyOf struct{ noRM }

func (anyOf) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for command, n := range ran(tr) {
		if n > 0 && removes(command) {
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}

type sumOf struct{ noRM }

func (sumOf) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	sum := 0
	for command, n := range ran(tr) {
		if removes(command) {
			sum += n
		}
	}
	return parts.FailIf(sum > 0)
}

type largest struct{ noRM }

func (largest) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	most, which := 0, ""
	for command, n := range ran(tr) {
		if !removes(command) {
			continue
		}
		if n > most || n == most && command < which {
			most, which = n, command
		}
	}
	return parts.FailIf(most > 0 && which != "")
}

type sortedKeys struct{ noRM }

func (sortedKeys) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(ran(tr))), func(command string) bool { return !removes(command) })
	return parts.FailIf(len(all) > 0 && all[0] <= all[len(all)-1])
}
