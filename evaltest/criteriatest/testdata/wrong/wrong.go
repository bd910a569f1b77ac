// Package wrong has criteria that break their contract, each by a mistake that one makes. Three look for it: the analyzers, when the
// code is written; package criteriatest, when it is tested; and the watcher, when it judges a run.
//
//	for _, c := range wrong.Cases() {
//		fmt.Println(c.Name)
//	}
//
// Where a method is not the mistake, it comes from one of the criteria of this file, which are right.
package wrong

import (
	"context"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// A Case is a criterion with one mistake.
type Case struct {
	Name string // the mistake
	// New makes the criterion, as its author would. It is a LiveCriterion, but where it is the mistake that it is none.
	New func() evaltest.Criterion

	// Rules of criteriatest that always find it, in one string: first the one that it breaks. "": none does.
	Rules string
	// Also has those that may find it as well, according to how many trajectories are tried.
	Also    string
	Options []criteriatest.Option
	// Made: what New makes is another value each time, and that is the mistake.
	Made bool

	// Steps are what the agent does to provoke it; nil: it runs go test and rm -rf, and reads a lot.
	Steps   []script.Step
	Prompts []string // nil: one
	Denied  bool     // all commands of the agent are denied

	Chance bool // what comes of it in a run is a matter of chance, but for what a full run always shows
	Global bool // it is a mistake of all its values: what one has judged, others know
	Hangs  bool // it does not return
}

// Cases are all of them, by what they break.
func Cases() []Case {
	return slices.Concat(pairs, says, states, worlds, finals, opens, grades, bounds, names, ends)
}

// Acts are the steps of the agent.
func (c Case) Acts() []script.Step {
	if c.Steps != nil {
		return c.Steps
	}
	return acts(looks, tests, removes)
}

// live is New of a criterion that can be used again and again.
func live(c evaltest.LiveCriterion) func() evaltest.Criterion {
	return func() evaltest.Criterion { return c }
}

var (
	rm   = parts.Runs{Words: "rm -rf"}
	test = parts.Runs{Words: "go test"}
)

// What the agent does. The words are what counts: nothing is removed, nothing is tested.
var (
	removes   = script.Run("true rm -rf build")
	tests     = script.Run("true go test")
	testsFail = script.Run("false go test")
	looks     = script.Read("notes.txt") // which is not there
)

// acts are steps, and after them a lot that does not matter.
func acts(steps ...script.Step) []script.Step {
	return append(steps, slices.Repeat([]script.Step{looks}, 16)...)
}

// long is more of what does not matter, for what a die or the order of a map decides.
func long(steps ...script.Step) []script.Step {
	return append(acts(steps...), slices.Repeat(acts(), 5)...)
}

// noRM is right: rm -rf must not run.
type noRM struct{}

func (noRM) String() string                    { return "no rm -rf" }
func (noRM) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (noRM) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > 0)
}
func (noRM) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(rm.Tally(trial.Trajectory))
}

// tested is right: go test must run.
type tested struct{}

func (tested) String() string                    { return "go test is run" }
func (tested) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (tested) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(tr).Ran() > 0)
}
func (tested) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(test.Tally(trial.Trajectory))
}

// three is right: a third for each test that was run, up to three.
type three struct{}

func (three) String() string                    { return "go test is run three times" }
func (three) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (three) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(tr).Ran() >= 3)
}
func (three) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.Ratio(min(test.Tally(tr).Ran(), 3), 3), evaltest.PassIf(true)
}
func (three) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.Tally(trial.Trajectory)
	if t.Ran() < 3 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.Ratio(min(t.Ran(), 3), 3), nil
}
