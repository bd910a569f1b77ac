package evaltest

import (
	"fmt"
	"runtime/debug"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// judged is a criterion at work in one trial: what is known of its score, and whether it has kept its contract.
type judged struct {
	*spec
	reach     Polarity
	interval  Interval
	verdict   Verdict // as LiveVerdict said last
	asked     bool    // the two are what it said, and not what is true of every criterion
	decidedAt int     // length of the trajectory at which the interval became a point; 0: it has not
	goexit    bool    // LiveVerdict is under way, or has ended its goroutine
	violation string  // how it broke its contract; "": it has not

	// apart, when not nil, is the trajectory as this criterion sees it: calls that were prevented for its sake count as run.
	apart     *agents.Trajectory
	prevented map[string]bool
}

func newJudged(s *spec) *judged {
	j := &judged{spec: s, interval: verdict.Unknown}
	if s.live != nil {
		j.reach = s.live.StopPolarities()
	}
	return j
}

// part is the criterion as a part of the gate.
func (j *judged) part() verdict.Criterion {
	c := verdict.Criterion{
		Interval: j.interval, Weight: j.weight, PassAt: j.passAt, Advisory: j.advisory, Required: j.required,
		Armed: j.armed, Reach: j.reach, Disarmed: j.violation != "",
	}
	if j.armed == Decided {
		c.Armed = j.reach
	}
	return c
}

// trajectory is what the criterion judges.
func (j *judged) trajectory(tr *agents.Trajectory) *agents.Trajectory {
	if j.apart != nil {
		return j.apart
	}
	return tr
}

// look judges the trajectory and reports whether anything changed. A criterion that breaks its contract is disarmed: from
// then on nothing is known of it.
func (j *judged) look(tr *agents.Trajectory) (changed bool) {
	if j.live == nil || j.violation != "" {
		return false
	}
	tr = j.trajectory(tr)
	j.goexit = true
	defer func() {
		if j.goexit {
			j.violate("LiveVerdict ended its goroutine: FailNow, SkipNow and Goexit have no place in it")
		}
	}()
	v, i, err := judge(j.live, tr)
	j.goexit = false
	if err == nil {
		err = j.check(v, i, tr.Len())
	}
	if err != nil {
		j.violate("%v", err)
		return true
	}
	changed = v != j.verdict || !i.Equal(j.interval)
	if changed && j.decidedAt == 0 && i.Point() {
		j.decidedAt = tr.Len()
	}
	j.verdict, j.interval, j.asked = v, i, true
	return changed
}

// judge asks c what it makes of tr. A panic is an error that names the line.
func judge(c LiveCriterion, tr *agents.Trajectory) (v Verdict, i Interval, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("LiveVerdict panicked: %v\n%s", p, debug.Stack())
		}
	}()
	v = c.LiveVerdict(tr)
	if b, ok := c.(BoundedCriterion); ok {
		lo, hi := b.LiveBounds(tr)
		return v, Interval{Lo: lo, Hi: hi}, nil
	}
	return v, verdict.Of(v), nil
}

// check holds what the criterion says now against its contract and against what it said before.
func (j *judged) check(v Verdict, i Interval, n int) error {
	if err := i.Valid(); err != nil {
		return fmt.Errorf("LiveBounds: %w", err)
	}
	reach, was := j.reach, j.interval
	switch {
	case v != Undecided && v != Passed && v != Failed:
		return fmt.Errorf("LiveVerdict says %d, which is no verdict: Undecided, Passed and Failed are", v)
	case v == Passed && !reach.Has(Pass), v == Failed && !reach.Has(Fail):
		return fmt.Errorf("LiveVerdict says %v, which StopPolarities (%v) does not declare", v, reach)
	case v == Passed && i.Lo.Cmp(PassIf(true)) != 0, v == Failed && i.Hi.Cmp(PassIf(false)) != 0:
		return fmt.Errorf("LiveVerdict says %v where LiveBounds says %v", v, i)
	case j.verdict != Undecided && v != j.verdict:
		return fmt.Errorf("LiveVerdict said %v and says %v after %d events: a verdict is final", j.verdict, v, n)
	case !i.Within(was):
		return fmt.Errorf("its score lay within %v and, after %d events, lies within %v: bounds only narrow", was, n, i)
	case j.asked && (i.Lo.Cmp(was.Lo) > 0 && !reach.Has(Pass) || i.Hi.Cmp(was.Hi) < 0 && !reach.Has(Fail)):
		return fmt.Errorf("LiveBounds said %v and says %v after %d events, which StopPolarities (%v) does not declare: Pass is for a lower bound that rises, Fail for an upper that falls", was, i, n, reach)
	}
	return nil
}

// violate disarms the criterion.
func (j *judged) violate(format string, args ...any) {
	j.violation = fmt.Sprintf(format, args...)
	j.interval, j.verdict, j.decidedAt = verdict.Unknown, Undecided, 0
}

// add shows the criterion an event that the trajectory has taken; only a criterion that sees things apart needs to know.
func (j *judged) add(e agents.Event) {
	if j.apart == nil || e.Kind == agents.EventStatus && j.prevented[e.CallID] {
		return
	}
	_ = j.apart.Append(e)
}

// prevent has a call that was refused for the criterion's sake count as run.
func (j *judged) prevent(tr *agents.Trajectory, call agents.ToolCall) {
	if j.apart == nil {
		j.apart, j.prevented = tr.With(), map[string]bool{}
	}
	j.prevented[call.ID] = true
	_ = j.apart.Append(agents.End(call.ID, agents.Completed, ""))
}

// wouldFail reports whether the criterion fails when the call runs, all calls before it having run, and does not when
// the call is denied, or had never been tried. Calls that were refused before are denied here, as they were.
func (j *judged) wouldFail(tr *agents.Trajectory, call agents.ToolCall) bool {
	if j.violation != "" {
		return false
	}
	var run []agents.Event
	began := tr.Len()
	for c := range tr.Calls() {
		if c.ID == call.ID {
			began = c.Began
			break
		}
		if c.Status.Open() {
			run = append(run, agents.End(c.ID, agents.Completed, ""))
		}
	}
	with := append(run[:len(run):len(run)], agents.End(call.ID, agents.Completed, ""))
	without := append(run[:len(run):len(run)], agents.End(call.ID, agents.Denied, ""))
	return j.failsOn(tr.With(with...)) && (!j.failsOn(tr.With(without...)) || !j.failsOn(tr.Prefix(began).With(run...)))
}

func (j *judged) failsOn(tr *agents.Trajectory) bool {
	_, i, err := judge(j.live, tr)
	return err == nil && verdict.Criterion{Interval: i, PassAt: j.passAt}.Verdict() == Failed
}
