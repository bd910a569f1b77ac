package evaltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

var background = context.Background()

// simFault is a rule that was broken. Its name says which one.
type simFault struct{ rule, how string }

func (f *simFault) Error() string { return f.rule + ": " + f.how }

func fault(rule, format string, args ...any) *simFault {
	return &simFault{rule, fmt.Sprintf(format, args...)}
}

// check plays the case and holds what came of it against the rules.
func (c *simCase) check(stats *simStats) (f *simFault, text string) {
	stats.cases++
	trial, player := c.run(c.mode, c.ends...)
	whole, wholePlayer := c.run("off")
	defer func() {
		if f != nil {
			text = fmt.Sprintf("%s\n%s\n%s", f, c.describe(), describeRun(trial, player))
			if p := recover(); p != nil {
				panic(fmt.Sprint(p, "\n", text))
			}
		}
	}()
	switch t := trial.Trial(); {
	case t.Stop != nil:
		stats.stopped++
	case t.Limit != "":
		stats.limited++
	case t.Outcome == evaltest.OutcomeErrored:
		stats.errored++
	}
	if trial.Mode() == "sound" || trial.Mode() == "armed" {
		stats.judged++
	}
	for _, rule := range []func() *simFault{
		func() *simFault { return c.checkWhole(whole, wholePlayer) },
		func() *simFault { return c.checkRun(trial, player, wholePlayer) },
		func() *simFault { return c.checkContracts(trial) },
		func() *simFault { return c.checkStop(trial, player, whole, stats) },
		func() *simFault { return c.checkPlace(trial, player, stats) },
		func() *simFault { return c.checkWhere(trial, player) },
		func() *simFault { return c.checkShadow(trial, player) },
	} {
		if f := rule(); f != nil {
			return f, ""
		}
	}
	return nil, ""
}

// checkWhole: a run that is never stopped has the verdict that the rules give it.
func (c *simCase) checkWhole(trial *evaltest.Bare, player *simPlayer) *simFault {
	t := trial.Trial()
	if t.Stop != nil || t.Limit != "" || player.cut >= 0 {
		return fault("off never cuts", "stop %+v", t.Stop)
	}
	if c.anyFickle() {
		return nil
	}
	var k simKnown
	for i, s := range c.gate.specs {
		known := evaltest.LiveInterval(s.criterion, copyOf(t.Trajectory))
		if counts, ok := s.criterion.(interface {
			bounds(*agents.Trajectory) (lo, hi evaltest.Score)
		}); ok {
			if lo, hi := counts.bounds(t.Trajectory); !known.Equal(evaltest.Interval{Lo: lo, Hi: hi}) {
				return fault("what has run is known", "%v: %v, want %v to %v", s.criterion, known, lo, hi)
			}
		}
		if player.dead == nil {
			score, err := s.criterion.Grade(background, t)
			if err == nil {
				known.Lo, known.Hi = score, score
			}
		}
		k.add(known)
		if got := t.Criteria[i].Score; got.Lo.Rat().Cmp(k.lo[i]) != 0 || got.Hi.Rat().Cmp(k.hi[i]) != 0 {
			return fault("the score of a criterion is what its grade says, or what was known", "%v: %v, want %v", s.criterion, got, known)
		}
	}
	return outcome("a run that was not stopped has the verdict of the whole gate", t, c.gate.full(k), evaltest.OutcomeErrored)
}

func outcome(rule string, t *evaltest.Trial, v evaltest.Verdict, open evaltest.Outcome) *simFault {
	want := open
	switch v {
	case evaltest.Passed:
		want = evaltest.OutcomePassed
	case evaltest.Failed:
		want = evaltest.OutcomeFailed
	}
	if t.Outcome != want {
		return fault(rule, "the outcome is %s (%v), want %s", t.Outcome, t.Err, want)
	}
	return nil
}

func (c *simCase) anyFickle() bool {
	return slices.ContainsFunc(c.gate.specs, func(s simSpec) bool { return s.fickle })
}

// checkRun: up to the cut, the run is the one that it would have been; after it nothing enters the trajectory.
func (c *simCase) checkRun(trial *evaltest.Bare, player, whole *simPlayer) *simFault {
	t := trial.Trial()
	n := t.Trajectory.Len()
	if player.cut >= 0 {
		n = player.cut
	} else if t.Stop != nil || t.Limit != "" {
		return fault("a run that is over is left", "stop %v, limit %q", t.Stop, t.Limit)
	}
	if player.cut >= 0 && t.Stop == nil && t.Limit == "" {
		return fault("a run is cut for a stop or a limit", "mode %s", trial.Mode())
	}
	if t.Stop != nil && trial.Mode() != t.Stop.Mode {
		return fault("modes off and shadow never stop", "mode %s, stop %+v", trial.Mode(), t.Stop)
	}
	k := 0
	for i, e := range t.Trajectory.Events() {
		switch {
		case e.Kind == agents.EventPrompt || e.Kind == agents.EventDone:
			continue
		case i >= n || e.Status == agents.Unresolved && k == len(player.emitted):
			if e.Kind != agents.EventStatus || e.Status != agents.Unresolved {
				return fault("after the cut nothing enters the trajectory", "event %d: %+v", i, e)
			}
			if i >= n && player.cut >= 0 && !e.Time.Equal(t.Trajectory.Event(n-1).Time) {
				return fault("after the cut the trajectory's time stands still", "event %d comes at %v", i, e.Time.Sub(player.base))
			}
			continue
		}
		if k >= len(player.emitted) {
			return fault("the trajectory is what the agent did", "event %d: %+v was never yielded", i, e)
		}
		if !sameEvent(e, player.emitted[k].Event) {
			return fault("the trajectory is what the agent did", "event %d: %+v, yielded was %+v", i, e, player.emitted[k].Event)
		}
		if k >= len(whole.emitted) || describeEvent(e) != describeEvent(whole.emitted[k].Event) {
			return fault("what is decided changes nothing before the cut", "event %d: %+v", i, e)
		}
		k++
	}
	if player.cut < 0 && (k != len(player.emitted) || len(player.emitted) != len(whole.emitted)) {
		return fault("a run that goes on is the whole run", "%d events of %d", len(player.emitted), len(whole.emitted))
	}
	if unresolved(t.Trajectory) {
		return fault("calls whose end was never seen are unresolved at the end", "")
	}
	return nil
}

func unresolved(tr *agents.Trajectory) bool {
	for call := range tr.Calls() {
		if call.Status == agents.Pending || call.Status == agents.InProgress {
			return true
		}
	}
	return false
}

func sameEvent(a, b agents.Event) bool {
	return describeEvent(a) == describeEvent(b) && a.Time.Equal(b.Time)
}

func describeEvent(e agents.Event) string {
	return string(e.Kind) + "|" + e.Message + "|" + e.Parent + "|" + e.Text + "|" + e.Call.ID + "|" + e.CallID + "|" + string(e.Status)
}

// checkContracts: what keeps its contract is never said to have broken it.
func (c *simCase) checkContracts(trial *evaltest.Bare) *simFault {
	for i, r := range trial.Trial().Criteria {
		if r.Violation != "" && !c.gate.specs[i].fickle {
			return fault("no criterion of ours breaks its contract", "%s: %s", r.Name, r.Violation)
		}
	}
	return nil
}

// disarmed says which criteria have taken back what they said, by the first n events.
func (c *simCase) disarmed(tr *agents.Trajectory, n int) []bool {
	out := make([]bool, len(c.gate.specs))
	for i, s := range c.gate.specs {
		f, ok := s.criterion.(simFickle)
		if !ok {
			continue
		}
		calls := 0
		for k, e := range tr.Events() {
			if k < n && e.Kind == agents.EventCall && f.mask.has(e.Call) {
				calls++
			}
		}
		out[i] = calls > 1
	}
	return out
}

// knownAt is what is known by the first n events of what a run came to.
func (c *simCase) knownAt(tr *agents.Trajectory, n int) (simKnown, []bool) {
	disarmed := c.disarmed(tr, n)
	k := c.gate.knownFrom(tr.Prefix(n))
	for i, d := range disarmed {
		if d {
			k.lo[i], k.hi[i] = new(big.Rat), big.NewRat(1, 1)
		}
	}
	return k, disarmed
}

// checkStop: the verdict at a stop is that of every completion.
func (c *simCase) checkStop(trial *evaltest.Bare, player *simPlayer, whole *evaltest.Bare, stats *simStats) *simFault {
	t := trial.Trial()
	s := t.Stop
	if s == nil {
		return nil
	}
	k, disarmed := c.knownAt(t.Trajectory, player.cut)
	if !c.anyFickle() { // which may be found out after the cut
		if f := c.checkVerdict(t, whole.Trial(), player.cut, k, stats); f != nil {
			return f
		}
	}
	if v := c.gate.rule(s.Mode, k, disarmed); v != s.Verdict {
		return fault("the rule holds where the run is cut", "stopped as %v, the rule says %v", s.Verdict, v)
	}
	return c.checkFields(t, player, k)
}

// checkVerdict: the outcome of a run that was stopped is that of the actual continuation and of all others, unless it
// says that it answers the smaller question.
func (c *simCase) checkVerdict(t, whole *evaltest.Trial, cut int, k simKnown, stats *simStats) *simFault {
	v := t.Stop.Verdict
	if f := outcome("the outcome is the verdict of the stop", t, v, ""); f != nil {
		return f
	}
	if t.Smoke && v == evaltest.Passed && t.Stop.Mode == "armed" {
		stats.smoke++
		if c.gate.full(k) != evaltest.Undecided {
			return fault("a verdict says which question it answers", "the whole gate is decided")
		}
		return c.checkSmoke(k)
	}
	if t.Smoke {
		return fault("a verdict says which question it answers", "only a smoke check passes for less")
	}
	if v == evaltest.Passed {
		stats.passed++
	} else {
		stats.failed++
	}
	if whole.Outcome != t.Outcome && whole.Outcome != evaltest.OutcomeErrored {
		return fault("the verdict at a stop is that of the actual continuation", "stopped as %s, the whole run is %s", t.Outcome, whole.Outcome)
	}
	return c.checkCompletions(t.Trajectory.Prefix(cut), k, v, stats)
}

// checkSmoke: a smoke check passes only after something passed, with nothing that must not happen seen, and while the
// whole gate can still pass.
func (c *simCase) checkSmoke(k simKnown) *simFault {
	something := false
	for i, s := range c.gate.specs {
		if s.armed == 0 {
			continue
		}
		if s.live().StopPolarities() == evaltest.Fail && c.gate.failed(k, i) {
			return fault("armed never passes with a failed fail-only criterion", "%v", s.criterion)
		}
		something = something || c.gate.passed(k, i)
	}
	if !something {
		return fault("armed never passes before anything passed", "")
	}
	if !c.gate.passes(k.hi, nil) {
		return fault("armed never passes when the whole gate cannot", "")
	}
	return nil
}

// checkFields: a stop says where it was decided.
func (c *simCase) checkFields(t *evaltest.Trial, player *simPlayer, atCut simKnown) *simFault {
	s := t.Stop
	if s.Length < 1 || s.Length > player.cut {
		return fault("a stop says where it was decided", "length %d, cut at %d", s.Length, player.cut)
	}
	calls := 0
	answer := map[*simAnswer]bool{}
	bare := 0
	for i, n := 0, 0; i < s.Length; i++ {
		e := t.Trajectory.Event(i)
		if e.Kind == agents.EventPrompt || e.Kind == agents.EventDone {
			continue
		}
		a := player.emitted[n].answer
		n++
		if e.Parent != "" || e.Kind != agents.EventCall && e.Kind != agents.EventMessage {
			continue
		}
		answer[a] = true
		bare++
		if e.Kind == agents.EventCall {
			calls++
		}
	}
	turns := len(answer)
	if !c.script.ids && !c.script.requests {
		turns = bare
	}
	left := 0
	if c.limits.turns > 0 {
		left = max(c.limits.turns-turns, 0)
	}
	elapsed := t.Trajectory.Event(s.Length - 1).Time.Sub(player.base)
	if s.Turn != turns || s.ToolCall != calls || s.TurnsLeft != left || s.Elapsed != elapsed {
		return fault("a stop says where it was decided", "turn %d call %d left %d elapsed %v, want %d, %d, %d, %v",
			s.Turn, s.ToolCall, s.TurnsLeft, s.Elapsed, turns, calls, left, elapsed)
	}
	var open []string
	for i, spec := range c.gate.specs {
		if !spec.advisory && !c.gate.passed(atCut, i) && !c.gate.failed(atCut, i) {
			open = append(open, spec.criterion.String())
		}
	}
	if !slices.Equal(open, s.Open) {
		return fault("a stop names what it leaves open", "%q, want %q", s.Open, open)
	}
	now, disarmed := c.knownAt(t.Trajectory, s.Length)
	before, _ := c.knownAt(t.Trajectory, s.Length-1)
	if c.gate.rule(s.Mode, now, disarmed) == evaltest.Undecided {
		return fault("a stop is decided where the rule holds", "at length %d it does not", s.Length)
	}
	for i, spec := range c.gate.specs {
		if spec.criterion.String() == s.Criterion {
			if now.lo[i].Cmp(before.lo[i]) == 0 && now.hi[i].Cmp(before.hi[i]) == 0 && !spec.fickle {
				return fault("a stop names the criterion that decided it", "%s: nothing changed there at length %d", s.Criterion, s.Length)
			}
			return nil
		}
	}
	return fault("a stop names the criterion that decided it", "%q", s.Criterion)
}

// checkPlace: all calls of the deciding answer, announced late or not, are settled where the run is cut, unless it was
// told to wait no longer.
func (c *simCase) checkPlace(trial *evaltest.Bare, player *simPlayer, stats *simStats) *simFault {
	t := trial.Trial()
	if player.timed {
		stats.drained++
	}
	if player.released > 0 {
		stats.released++
	}
	if t.Stop == nil || t.Stop.Length < 1 {
		return nil
	}
	notes := strings.Join(trial.Notes(), "\n")
	early := strings.Contains(notes, "while draining") || strings.Contains(notes, "were still open after")
	if early && !player.timed && !c.limited() && c.script.dieAt == 0 && player.dead == nil {
		return fault("a drain ends early for a reason", "%s", notes)
	}
	if early {
		return nil
	}
	n := -1
	for i := 0; i < t.Stop.Length; i++ {
		if e := t.Trajectory.Event(i); e.Kind != agents.EventPrompt && e.Kind != agents.EventDone {
			n++
		}
	}
	if e := t.Trajectory.Event(t.Stop.Length - 1); n < 0 || e.Kind == agents.EventPrompt || e.Kind == agents.EventDone {
		return nil
	}
	a := player.emitted[n].answer
	if a == nil {
		return nil // a request
	}
	tr := t.Trajectory.Prefix(player.cut)
	for _, b := range a.blocks {
		if b.call == nil {
			continue
		}
		call, known := tr.Call(b.call.ID)
		if !known && !c.script.ids && !c.script.requests && !c.script.gated {
			continue // nothing tells that it belongs there
		}
		if !known {
			return fault("no call of the deciding answer is lost", "%s was still to be announced", b.call.ID)
		}
		if call.Status.Open() {
			return fault("all calls of the deciding answer are settled at the cut", "%s is %s", b.call.ID, call.Status)
		}
	}
	return nil
}

func copyOf(tr *agents.Trajectory) *agents.Trajectory { return tr.Prefix(tr.Len()) }

func describeRun(trial *evaltest.Bare, player *simPlayer) string {
	t := trial.Trial()
	var b strings.Builder
	fmt.Fprintf(&b, "outcome %s, smoke %v, limit %q, error %v, cut at %d, drain ran out %v\nstop %+v\nnotes %q\n",
		t.Outcome, t.Smoke, t.Limit, t.Err, player.cut, player.timed, t.Stop, trial.Notes())
	for i, r := range t.Criteria {
		fmt.Fprintf(&b, "  %s: %v %v open %v decided at %d %s\n", r.Name, r.Score, r.Verdict, r.Open, r.DecidedAt, r.Violation)
		if r.Err != nil && !errors.Is(r.Err, errJudge) {
			fmt.Fprintf(&b, "    %v\n", r.Err)
		}
		_ = i
	}
	for i, e := range t.Trajectory.Events() {
		if i == player.cut {
			b.WriteString("---- cut\n")
		}
		fmt.Fprintf(&b, "%4d %s\n", i, simLine(e, player.base))
	}
	return b.String()
}
