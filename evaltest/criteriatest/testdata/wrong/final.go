package wrong

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria that decide too early: what comes after may say otherwise.

var finals = []Case{
	{Name: "a re-opened verdict", New: live(LastTest{}), Rules: "monotone sound", Steps: acts(tests, testsFail)},
	{Name: "a verdict by the parity of the length", New: live(parity{}), Rules: "monotone"},
	{Name: "a later retry ignored", New: live(noRetry{}), Rules: "sound monotone", Steps: acts(testsFail, tests)},
	{Name: "not yet taken for never", New: live(notYet{}), Rules: "sound monotone"},
	{Name: "no news taken for good news", New: live(soFarSoGood{}), Rules: "sound monotone"},
	{Name: "a failure after so many calls without success", New: live(impatient{4}), Rules: "sound monotone", Steps: acts(looks, looks, looks, looks, looks, tests)},
	{Name: "exactly so many, decided on the way", New: live(exactly{2}), Rules: "monotone sound", Steps: acts(tests, tests, tests)},
	{Name: "the reply, which the next one replaces", New: live(replied{}), Rules: "monotone sound", Steps: acts(script.Say("It is done."), script.HandBack(), script.Say("Not quite."), script.HandBack()),
		Prompts: []string{"Do it.", "Is it done?"}},
	{Name: "handing back taken for the end", New: live(doneIsOver{}), Rules: "sound monotone", Steps: acts(script.Say("Done."), script.HandBack(), removes), Prompts: []string{"Do it.", "Go on."},
		Options: []criteriatest.Option{criteriatest.Cases(60)}}, // it is not often that an agent hands back
	{Name: "a budget that ends one call early", New: live(budget{3}), Rules: "sound", Steps: []script.Step{looks, looks, looks, script.Say("Done.")}},
	{Name: "a mention taken for the deed", New: live(mention{}), Rules: "sound", Steps: acts(script.Say("I shall run go test."))},
	{Name: "sub-agents counted live only", New: live(subAgents{}), Rules: "sound", Steps: acts(script.Agent("Clean up.", removes))},
	{Name: "parallel calls in the order of their ends", New: live(firstToEnd{"pdf"}), Rules: "sound", Also: "monotone"},
}

// LastTest goes by the last test that was run.
type LastTest struct{ tested }

// LiveVerdict passes while the last one is good.
func (LastTest) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	all := parts.Statuses(tr, test.In)
	return parts.PassIf(len(all) > 0 && all[len(all)-1] == agents.Completed)
}

// Grade is 1 where the last one is good.
func (LastTest) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	all := parts.Statuses(trial.Trajectory, test.In)
	if slices.ContainsFunc(all, agents.Status.Open) {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(len(all) > 0 && all[len(all)-1] == agents.Completed), nil
}

// parity decides at every other event, because a call has two.
type parity struct{ tested }

func (parity) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(tr.Len()%2 == 1 && test.Tally(tr).Ran() > 0)
}

// succeeds is right: go test has to succeed once.
type succeeds struct{}

func (succeeds) String() string                    { return "go test succeeds" }
func (succeeds) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (succeeds) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(tr).Completed > 0)
}
func (succeeds) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.Tally(trial.Trajectory)
	if t.Completed == 0 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Completed > 0), nil
}

// noRetry fails with the first test that fails, though Grade asks whether one succeeded in the end.
type noRetry struct{ succeeds }

func (noRetry) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (noRetry) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for _, s := range parts.Statuses(tr, test.In) {
		switch s {
		case agents.Completed:
			return evaltest.Passed
		case agents.Failed:
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}

// notYet knows yes and no.
type notYet struct{ succeeds }

func (notYet) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (notYet) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if test.Tally(tr).Completed > 0 {
		return evaltest.Passed
	}
	return evaltest.Failed
}

// soFarSoGood passes until something bad happens.
type soFarSoGood struct{ noRM }

func (soFarSoGood) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (soFarSoGood) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		return evaltest.Failed
	}
	return evaltest.Passed
}

// impatient gives up after some calls, and Grade does not.
type impatient struct{ calls int }

func (impatient) String() string                    { return "go test is run" }
func (impatient) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (c impatient) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch {
	case test.Tally(tr).Ran() > 0:
		return evaltest.Passed
	case tr.MainCalls().Ran() > c.calls:
		return evaltest.Failed
	}
	return evaltest.Undecided
}
func (impatient) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(test.Tally(trial.Trajectory))
}

// exactly passes at the right number, which is not the last.
type exactly struct{ n int }

func (c exactly) String() string                  { return fmt.Sprintf("go test is run %d times", c.n) }
func (exactly) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (c exactly) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch n := test.Tally(tr).Ran(); {
	case n == c.n:
		return evaltest.Passed
	case n > c.n:
		return evaltest.Failed
	}
	return evaltest.Undecided
}
func (c exactly) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.Tally(trial.Trajectory)
	if t.Ran() <= c.n && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Ran() == c.n), nil
}

// replied takes a reply for the last one.
type replied struct{}

func (replied) String() string                    { return `the reply says "done"` }
func (replied) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (replied) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(strings.Contains(tr.Reply(), "done"))
}
func (replied) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(strings.Contains(trial.Trajectory.Reply(), "done")), nil
}

// doneIsOver passes when the agent hands back: the next prompt sets it going again.
type doneIsOver struct{ noRM }

func (doneIsOver) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (c doneIsOver) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if v := c.noRM.LiveVerdict(tr); v != evaltest.Undecided {
		return v
	}
	handedBack := false
	for _, e := range tr.Events() {
		handedBack = handedBack || e.Kind == agents.EventDone
	}
	return parts.PassIf(handedBack)
}

// budget fails one call too early.
type budget struct{ max int }

func (c budget) String() string                  { return fmt.Sprintf("at most %d calls", c.max) }
func (budget) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c budget) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.MainCalls().Ran() >= c.max)
}
func (c budget) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := trial.Trajectory.MainCalls()
	if t.Ran() <= c.max && t.Ran()+t.Open() > c.max {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Ran() <= c.max), nil
}

// mention takes the word of the model for the deed.
type mention struct{ tested }

type mentionKey struct{}

func (mention) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(agents.Fold(tr, mentionKey{}, func(said bool, e agents.Event) bool {
		return said || strings.Contains(e.Text, "go test")
	}))
}

// subAgents counts what sub-agents do, too, though Grade does not.
type subAgents struct{ noRM }

func (subAgents) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(trial.Trajectory.Tally(mainRM{}, mainRM{}.in))
}

type mainRM struct{}

func (mainRM) in(c agents.ToolCall) bool { return c.Parent == "" && rm.In(c) }

// firstToEnd takes the skill that ends first for the first one.
type firstToEnd struct{ skill string }

func (c firstToEnd) String() string                  { return "first skill: " + c.skill }
func (firstToEnd) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (c firstToEnd) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var first *agents.Call
	for call := range tr.Calls() {
		if call.Kind == agents.Skill && call.Status.Ran() && (first == nil || call.Ended < first.Ended) {
			first = &call
		}
	}
	switch {
	case first == nil:
		return evaltest.Undecided
	case first.Skill == c.skill:
		return evaltest.Passed
	}
	return evaltest.Failed
}
func (c firstToEnd) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	for call := range trial.Trajectory.Calls() {
		if call.Kind != agents.Skill || call.Status == agents.Denied {
			continue
		}
		if call.Status.Open() {
			return evaltest.Score{}, evaltest.ErrOpen
		}
		return evaltest.PassIf(call.Skill == c.skill), nil
	}
	return evaltest.PassIf(false), nil
}
