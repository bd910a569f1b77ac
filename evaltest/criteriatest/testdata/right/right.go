// Package right has criteria that look as if they broke their contract, and keep it: neither the analyzers, nor package criteriatest, nor
// the watcher finds fault with them.
//
//	for _, c := range right.Cases() {
//		fmt.Println(c.Name, "looks like", c.Looks)
//	}
package right

import (
	"context"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// A Case is a criterion that keeps its contract.
type Case struct {
	Name    string
	Looks   string // which mistake it looks like
	New     func() evaltest.LiveCriterion
	Options []criteriatest.Option
}

// Cases are all of them.
func Cases() []Case {
	return slices.Concat(plain, lazy, local, ordered, folds, polarities, shapes, partial)
}

// Acts are what an agent does to have most of them decide: it runs commands that succeed, fail, and are tried again, uses skills, has a
// sub-agent at work, and hands back in between.
func Acts() []script.Step {
	return []script.Step{
		script.Say("I shall look around, and run go test."), script.Read("notes.txt"), script.Write("notes.txt", "done\n"),
		script.Skill("csv"), script.Skill("none"), script.Run("false go test"), script.Run("true go test"), script.Say("Half is done."), script.HandBack(),
		script.Skill("pdf"), script.Agent("Clean up.", script.Run("true rm -rf build"), script.Say("It is clean.")), script.Run("true dd"), script.Run("true go test"),
		script.Say("Everything is done."),
	}
}

var (
	rm   = parts.Runs{Words: "rm -rf"}
	test = parts.Runs{Words: "go test"}
)

func same(c evaltest.LiveCriterion) func() evaltest.LiveCriterion {
	return func() evaltest.LiveCriterion { return c }
}

var plain = []Case{
	{Name: "a must-not", Looks: "nothing: here is what the others are made of", New: same(noRM{})},
	{Name: "a must", Looks: "nothing", New: same(tested{})},
	{Name: "nothing decided while the agent works", Looks: "a verdict still to be written", New: same(cautious{})},
	{Name: "a verdict later than it could be", Looks: "a budget that is not that of Grade", New: same(hesitant{})},
}

// noRM fails when rm -rf has run. It is what most criteria here come to.
type noRM struct{}

func (noRM) String() string                    { return "no rm -rf" }
func (noRM) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (noRM) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > 0)
}
func (noRM) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(rm.Tally(trial.Trajectory))
}

// tested passes when go test has run.
type tested struct{}

func (tested) String() string                    { return "go test is run" }
func (tested) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (tested) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(tr).Ran() > 0)
}
func (tested) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(test.Tally(trial.Trajectory))
}

// cautious declares nothing, and says nothing.
type cautious struct{ tested }

func (cautious) StopPolarities() evaltest.Polarity               { return 0 }
func (cautious) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// hesitant waits for a second rm before it says what the first has decided.
type hesitant struct{ noRM }

func (hesitant) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > 1)
}
