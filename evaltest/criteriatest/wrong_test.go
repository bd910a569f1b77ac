package criteriatest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// Criteria that break the contract, each by a mistake that one makes. Where a method is not the mistake, it comes from these.

// noRM is right: rm -rf must not run.
type noRM struct{}

func (noRM) String() string                    { return "no rm -rf" }
func (noRM) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (noRM) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(rm.tally(tr).Ran() > 0)
}
func (noRM) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return none(rm.tally(trial.Trajectory))
}

// tested is right: go test must run.
type tested struct{}

func (tested) String() string                    { return "go test is run" }
func (tested) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (tested) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(test.tally(tr).Ran() > 0)
}
func (tested) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return atLeastOne(test.tally(trial.Trajectory))
}

// counterInField counts what it has seen in itself.
type counterInField struct {
	noRM
	seen int
}

func (c *counterInField) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if n := tr.Len(); n > 0 && tr.Event(n-1).Kind == agents.EventCall && rm.in(tr.Event(n-1).Call) {
		c.seen++
	}
	return failIf(c.seen > 0)
}

// everSeen remembers by the ids of calls, in a global, which calls were rm: ids begin anew with each session.
type everSeen struct{ noRM }

var (
	everSeenMu sync.Mutex
	everSeenID = map[string]bool{}
)

func (everSeen) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	everSeenMu.Lock()
	defer everSeenMu.Unlock()
	failed := false
	for c := range tr.Calls() {
		if rm.in(c.ToolCall) {
			everSeenID[c.ID] = true
		}
		failed = failed || everSeenID[c.ID] && c.Status.Ran()
	}
	return failIf(failed)
}

// mapOrder takes the call that a map happens to give first.
type mapOrder struct{ noRM }

func (mapOrder) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	byKind := map[agents.Kind]agents.Call{}
	for c := range tr.Calls() {
		byKind[c.Kind] = c
	}
	for _, c := range byKind {
		return failIf(rm.in(c.ToolCall) && c.Status.Ran())
	}
	return evaltest.Undecided
}

// dice decides now and then only, to save time.
type dice struct{ noRM }

func (c dice) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rand.IntN(2) == 0 {
		return evaltest.Undecided
	}
	return c.noRM.LiveVerdict(tr)
}

// sinceFirst measures time by the clock.
type sinceFirst struct{}

func (sinceFirst) String() string                    { return "at most 10 minutes" }
func (sinceFirst) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (sinceFirst) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(tr.Len() > 0 && time.Since(tr.Event(0).Time) > 10*time.Minute)
}
func (sinceFirst) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	tr := trial.Trajectory
	return evaltest.PassIf(tr.Len() == 0 || tr.Event(tr.Len()-1).Time.Sub(tr.Event(0).Time) <= 10*time.Minute), nil
}

// sinceMade measures time from the moment at which it was made.
type sinceMade struct {
	sinceFirst
	made time.Time
}

func (c sinceMade) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(tr.Len() > 0 && time.Since(c.made) > 10*time.Minute)
}

// looksOfTrajectory counts how often it was asked about a trajectory.
type looksOfTrajectory struct {
	noRM
	mu    *sync.Mutex
	asked map[*agents.Trajectory]int
}

func (c looksOfTrajectory) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[tr]++
	return failIf(c.asked[tr] > 2 && rm.tally(tr).Ran() > 0)
}

// sharedKey uses one key for whatever skill is asked for.
type sharedKey struct{ skill string }

type usesKey struct{}

func (c sharedKey) String() string                  { return "uses " + c.skill }
func (sharedKey) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c sharedKey) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(tr.Tally(usesKey{}, used(c.skill)).Ran() > 0)
}
func (c sharedKey) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return atLeastOne(trial.Trajectory.Tally(usesKey{}, used(c.skill)))
}

// appends writes what it found into the trajectory.
type appends struct{ noRM }

func (c appends) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := c.noRM.LiveVerdict(tr)
	if v == evaltest.Failed {
		_ = tr.Append(agents.Say("rm was run"))
	}
	return v
}

// heldInField keeps the trajectory in a field, so that its methods need not be given it.
type heldInField struct {
	noRM
	tr *agents.Trajectory
}

func (c *heldInField) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.tr = tr
	runtime.Gosched()
	return failIf(c.removed() > 0)
}

func (c *heldInField) removed() int { return rm.tally(c.tr).Ran() }

// statusNow folds with the status that a call has now, not the one that it had at the event.
type statusNow struct{ noRM }

type statusNowKey struct{}

func (statusNow) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(agents.Fold(tr, statusNowKey{}, func(n int, e agents.Event) int {
		if e.Kind == agents.EventCall && rm.in(e.Call) {
			if c, _ := tr.Call(e.Call.ID); c.Status.Ran() {
				n++
			}
		}
		return n
	}) > 0)
}

// lastTest goes by the last test that was run.
type lastTest struct{ tested }

func (lastTest) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	all := statuses(tr, test.in)
	return passIf(len(all) > 0 && all[len(all)-1] == agents.Completed)
}
func (lastTest) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	all := statuses(trial.Trajectory, test.in)
	if slices.ContainsFunc(all, agents.Status.Open) {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(len(all) > 0 && all[len(all)-1] == agents.Completed), nil
}

// parity decides at every other event, because a call has two.
type parity struct{ tested }

func (parity) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(tr.Len()%2 == 1 && test.tally(tr).Ran() > 0)
}

// pendingPass counts calls that were dispatched.
type pendingPass struct{ tested }

func (pendingPass) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(test.tally(tr).Dispatched() > 0)
}

// startedPass takes a call in progress for one that has run.
type startedPass struct{ tested }

func (startedPass) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(slices.ContainsFunc(statuses(tr, test.in), func(s agents.Status) bool { return s != agents.Pending && s != agents.Denied }))
}

// deniedCounts takes a call that was denied for one that has run.
type deniedCounts struct{ noRM }

func (deniedCounts) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	t := rm.tally(tr)
	return failIf(t.Ran()+t.Denied > 0)
}

// noRetry fails with the first test that fails, though Grade asks whether one succeeded in the end.
type noRetry struct{}

func (noRetry) String() string                    { return "go test succeeds" }
func (noRetry) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }
func (noRetry) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for _, s := range statuses(tr, test.in) {
		switch s {
		case agents.Completed:
			return evaltest.Passed
		case agents.Failed:
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}
func (noRetry) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.tally(trial.Trajectory)
	if t.Completed == 0 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Completed > 0), nil
}

// mention takes the word of the model for the deed.
type mention struct{ tested }

type mentionKey struct{}

func (mention) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(agents.Fold(tr, mentionKey{}, func(said bool, e agents.Event) bool {
		return said || strings.Contains(e.Text, "go test")
	}))
}

// budget fails one call too early.
type budget struct{ max int }

func (c budget) String() string                  { return fmt.Sprintf("at most %d calls", c.max) }
func (budget) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c budget) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(tr.MainCalls().Ran() >= c.max)
}
func (c budget) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := trial.Trajectory.MainCalls()
	if t.Ran() <= c.max && t.Ran()+t.Open() > c.max {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(t.Ran() <= c.max), nil
}

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
	return passIf(handedBack)
}

// subAgents counts what sub-agents do, too, though Grade does not.
type subAgents struct{ noRM }

func (subAgents) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return none(trial.Trajectory.Tally(mainRM{}, mainRM{}.in))
}

type mainRM struct{}

func (mainRM) in(c agents.ToolCall) bool { return c.Parent == "" && rm.in(c) }

// undeclared fails, which it does not declare.
type undeclared struct{ tested }

func (undeclared) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.tally(tr).Ran() > 0 {
		return evaltest.Failed
	}
	return tested{}.LiveVerdict(tr)
}

// fourth gives a verdict that there is none of.
type fourth struct{ tested }

func (fourth) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if test.tally(tr).Ran() > 0 {
		return evaltest.Failed + 1
	}
	return evaltest.Undecided
}

// decidedPolarity declares what is for StopWhen alone.
type decidedPolarity struct{ tested }

func (decidedPolarity) StopPolarities() evaltest.Polarity { return evaltest.Decided }

// fadingPolarity declares what it can still reach.
type fadingPolarity struct {
	tested
	over *atomic.Bool
}

func (c fadingPolarity) StopPolarities() evaltest.Polarity {
	if c.over.Load() {
		return 0
	}
	return evaltest.Pass
}
func (c fadingPolarity) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := c.tested.LiveVerdict(tr)
	if v == evaltest.Passed {
		c.over.Store(true)
	}
	return v
}

// neverFails declares a verdict that no path returns.
type neverFails struct{ tested }

func (neverFails) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

// neverMatches looks for what no call has.
type neverMatches struct{ tested }

func (neverMatches) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(slices.ContainsFunc(statuses(tr, test.in), func(s agents.Status) bool { return s == "success" }))
}

// openIsZero takes an answer that is not there for a bad one.
type openIsZero struct{ tested }

func (c openIsZero) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.tested.Grade(ctx, trial)
	if err != nil {
		return evaltest.PassIf(false), nil // the mistake
	}
	return s, nil
}

// unresolvedIsDenied takes a call whose end was not seen for one that never ran.
type unresolvedIsDenied struct{ noRM }

func (unresolvedIsDenied) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(rm.tally(trial.Trajectory).Ran() == 0), nil
}

// alwaysOpen says that its score is open where nothing was done.
type alwaysOpen struct{ tested }

func (alwaysOpen) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if test.tally(trial.Trajectory).Ran() == 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(true), nil
}

// readsWorkspace looks at a file that the agent should have written.
type readsWorkspace struct{ tested }

func (c readsWorkspace) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "report.xml")); err != nil {
		return c.tested.Grade(ctx, trial)
	}
	return evaltest.PassIf(true), nil
}

// readsReply looks at the reply of the trial, which another prompt replaces.
type readsReply struct{ tested }

func (c readsReply) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if strings.Contains(trial.Reply, "go test") {
		return evaltest.PassIf(true), nil
	}
	return c.tested.Grade(ctx, trial)
}

// readsUsage looks at the usage of the trial instead of that of the trajectory.
type readsUsage struct{ max int64 }

func (c readsUsage) String() string                  { return fmt.Sprintf("at most %d tokens", c.max) }
func (readsUsage) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c readsUsage) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(tr.Usage().Tokens() > c.max)
}
func (c readsUsage) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(trial.Usage.Tokens() <= c.max), nil
}

// tooGood gives more than everything.
type tooGood struct{ tested }

func (tooGood) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.tally(trial.Trajectory)
	if t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.Ratio(t.Ran(), 1), nil
}

// share is the part of the calls that were not denied, with bounds that take what was seen for what will be.
type share struct{}

type shareKey struct{}

func (share) tally(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(shareKey{}, func(agents.ToolCall) bool { return true })
}
func (share) String() string                                  { return "few denials" }
func (share) StopPolarities() evaltest.Polarity               { return evaltest.Fail }
func (share) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }
func (c share) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	t := c.tally(tr)
	if t.Ran()+t.Denied == 0 {
		return evaltest.PassIf(false), evaltest.PassIf(true)
	}
	return evaltest.PassIf(false), evaltest.Ratio(t.Ran(), t.Ran()+t.Denied)
}
func (c share) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := c.tally(trial.Trajectory)
	switch {
	case t.Open() > 0:
		return evaltest.Score{}, evaltest.ErrOpen
	case t.Ran()+t.Denied == 0:
		return evaltest.PassIf(true), nil
	}
	return evaltest.Ratio(t.Ran(), t.Ran()+t.Denied), nil
}

// three is right: a third for each test that was run, up to three.
type three struct{}

func (three) String() string                    { return "go test is run three times" }
func (three) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c three) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(test.tally(tr).Ran() >= 3)
}
func (three) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.Ratio(min(test.tally(tr).Ran(), 3), 3), evaltest.PassIf(true)
}
func (three) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.tally(trial.Trajectory)
	if t.Ran() < 3 && t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.Ratio(min(t.Ran(), 3), 3), nil
}

// upsideDown gives its bounds in the wrong order.
type upsideDown struct{ three }

func (c upsideDown) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	hi, lo = c.three.LiveBounds(tr)
	return lo, hi
}

// hasty passes before its bounds do.
type hasty struct{ three }

func (hasty) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(test.tally(tr).Ran() >= 2)
}

// generous counts tests that are pending into its lower bound.
type generous struct{ three }

func (generous) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	t := test.tally(tr)
	return evaltest.Ratio(min(t.Ran(), 3), 3), evaltest.Ratio(max(min(t.Dispatched()+1, 3), min(t.Ran(), 3)), 3)
}

// quietBounds moves bounds that it does not declare to move.
type quietBounds struct{ three }

func (quietBounds) StopPolarities() evaltest.Polarity { return 0 }
func (quietBounds) LiveVerdict(*agents.Trajectory) evaltest.Verdict {
	return evaltest.Undecided
}

// nameless has no name.
type nameless struct{ tested }

func (nameless) String() string { return " " }

// twoLines has a name that breaks a report.
type twoLines struct{ tested }

func (twoLines) String() string { return "go test\nis run" }

// progress tells in its name how far it is.
type progress struct {
	tested
	done *atomic.Bool
}

func (c progress) String() string {
	if c.done.Load() {
		return "go test (done)"
	}
	return "go test"
}
func (c progress) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := c.tested.LiveVerdict(tr)
	if v == evaltest.Passed {
		c.done.Store(true)
	}
	return v
}

// noCommand does not reckon with a call whose command is hidden.
type noCommand struct{ noRM }

func (noCommand) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	failed := false
	for c := range tr.Calls() {
		failed = failed || c.Kind == agents.Execute && strings.Contains(c.Commands[0], "rm -rf") && c.Status.Ran()
	}
	return failIf(failed)
}

// gradePanics does so where nothing was done.
type gradePanics struct{ tested }

func (gradePanics) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	all := statuses(trial.Trajectory, test.in)
	return evaltest.PassIf(all[0].Ran()), nil
}

// waits for what does not come.
type waits struct {
	noRM
	never chan struct{}
}

func (c waits) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.tally(tr).Ran() > 0 {
		<-c.never
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// exits is a test that fails where it should give a verdict.
type exits struct{ noRM }

func (exits) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.tally(tr).Ran() > 0 {
		runtime.Goexit()
	}
	return evaltest.Undecided
}

// perValue draws what it looks at when it is made.
type perValue struct {
	noRM
	n int
}

func (c perValue) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(c.n == 0 && rm.tally(tr).Ran() > 0)
}
