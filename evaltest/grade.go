package evaltest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// gradeTimeout bounds the grading of a criterion that says nothing else.
const gradeTimeout = 5 * time.Minute

// recordReserve is kept of the time before the test binary's -timeout for writing the record.
const recordReserve = 1500 * time.Millisecond

// conclude grades what there is to grade, and computes what the trial came to.
func (a *attempt) conclude(ctx context.Context) {
	for _, j := range a.watch.judged {
		begin := time.Now()
		a.gradingOf(j)
		r := a.result(ctx, j)
		r.Took = time.Since(begin)
		a.graders += r.Took
		r.Name, r.DecidedAt = j.name, j.decidedAt
		r.Verdict = verdict.Criterion{Interval: r.Score, PassAt: j.passAt}.Verdict()
		if r.Violation == "" {
			r.Violation = j.violation
		}
		j.interval = r.Score
		if a.record != nil {
			if err := a.record.Criterion(masked(a.e.masker(), r)); err != nil {
				a.note("%v", err)
			}
		}
		a.results = append(a.results, r)
	}
	a.trial.Criteria = a.results
	a.decide()
	a.holdShadow()
}

// result is what a criterion comes to, the way the trajectory ended.
func (a *attempt) result(ctx context.Context, j *judged) CriterionResult {
	r := CriterionResult{Score: j.interval}
	switch {
	case a.err != nil: // after a session's error nothing more is graded
		return r
	case a.trial.Stop != nil || a.outOfBudget():
		a.afterStop(ctx, j, &r)
		return r
	}
	s, err := a.gradeInTime(ctx, j)
	switch {
	case errors.Is(err, ErrOpen):
		r.Open = true
	case err != nil:
		r.Err = graderError(ctx, err)
	default:
		r.Score = verdict.Exactly(s)
		if !r.Score.Within(j.interval) {
			j.violate("it was decided live as %v and graded as %v", j.interval, s)
		}
	}
	return r
}

// afterStop holds a criterion that was decided live against its own Grade; the others stay open, and what the agent did
// after the cut is looked at for their sake.
func (a *attempt) afterStop(ctx context.Context, j *judged, r *CriterionResult) {
	if j.live == nil || !j.interval.Point() {
		r.Open = verdict.Criterion{Interval: j.interval, PassAt: j.passAt}.Verdict() == Undecided
		if r.Open && j.live != nil && j.violation == "" && len(a.watch.tail) > 0 {
			r.Violated = j.failsOn(j.trajectory(a.trial.Trajectory).With(a.watch.tail...))
		}
		return
	}
	s, err := a.gradeInTime(ctx, j)
	switch {
	case err != nil:
		j.violate("it was decided live as %v and cannot be graded: %v", j.interval, err)
	case !verdict.Exactly(s).Equal(j.interval):
		j.violate("it was decided live as %v and graded as %v", j.interval, s)
	default:
		r.Score = verdict.Exactly(s) // with its reason
		return
	}
	r.Score = verdict.Unknown
}

// gradingOf notes which criterion is being graded: should it end the process, the record says so.
func (a *attempt) gradingOf(j *judged) {
	if a.record == nil || a.err != nil {
		return
	}
	if err := a.record.Grading(a.e.mask(j.name)); err != nil {
		a.note("%v", err)
	}
}

// gradeInTime is grade, again while the grader's error is one that may pass. The agent does not run again for it.
func (a *attempt) gradeInTime(ctx context.Context, j *judged) (Score, error) {
	for n := 1; ; n++ {
		s, err := a.grade(ctx, j)
		var e *agents.Error
		if !errors.As(err, &e) || !e.Retryable || alwaysRed(e) || n > a.e.retries {
			return s, err
		}
		d := a.e.pause(e, n)
		if end, ok := testDeadline(a.e.TB); ok && time.Until(end)-recordReserve <= d {
			return s, err
		}
		a.note("%s: tried again after %v: %v", j.name, d.Round(time.Millisecond), e)
		if !wait(context.WithoutCancel(ctx), d) {
			return s, err
		}
	}
}

// grade has a criterion score the trial, in a goroutine of its own: it may panic, end its goroutine, or hang. The error is
// ErrOpen or an *agents.Error.
func (a *attempt) grade(ctx context.Context, j *judged) (Score, error) {
	e := a.e
	limit := gradeTimeout
	if j.timeout > 0 {
		limit = j.timeout
	}
	if end, ok := testDeadline(e.TB); ok { // all criteria share what is left, but for what the record needs
		left := time.Until(end) - recordReserve
		if left <= 0 {
			return Score{}, agents.Errorf(agents.Timeout, agents.FromHarness, "no time was left to grade it before the test binary's -timeout; run with a longer one")
		}
		limit = min(limit, left)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	trial := *a.trial
	trial.Trajectory = j.trajectory(a.trial.Trajectory)

	e.mu.Lock()
	e.grading, e.misused = j, ""
	e.mu.Unlock()
	failedBefore := e.Failed()
	type graded struct {
		score Score
		err   error
	}
	done := make(chan graded, 1)
	go func() {
		g := graded{err: AuthorError("it ended its goroutine: FailNow or Goexit has no place in a criterion")}
		defer func() {
			if p := recover(); p != nil {
				if _, ours := p.(misusedT); !ours {
					g = graded{err: AuthorError("panic: %v%s", p, authorFrames())}
				}
			}
			done <- g
		}()
		s, err := j.criterion.Grade(ctx, &trial)
		g = graded{s, err}
	}()
	var g graded
	select {
	case g = <-done:
	case <-ctx.Done():
		select { // a criterion that minds its context says more
		case g = <-done:
		case <-time.After(100 * time.Millisecond):
			g.err = agents.Errorf(agents.Timeout, agents.FromGrader, "it gave no score within %v; set evaltest.Timeout for more", limit)
		}
	}
	e.mu.Lock()
	misused := e.misused
	e.grading, e.misused = nil, ""
	e.mu.Unlock()
	switch {
	case misused == "" && !failedBefore && e.Failed():
		return Score{}, agents.Errorf(agents.Judge, agents.FromAuthor, "the test itself was failed inside a criterion, where that says nothing of the score: use the t that Check hands in")
	case misused != "":
		return Score{}, agents.Errorf(agents.Judge, agents.FromAuthor, "the eval's own T was used inside a criterion, where it says nothing of the score: %s", misused)
	case errors.Is(g.err, ErrOpen):
		return Score{}, ErrOpen
	case !agents.NoError(g.err):
		return Score{}, graderError(ctx, g.err)
	case g.score.Err() != nil:
		return Score{}, agents.Errorf(agents.Contract, agents.FromAuthor, "%w", g.score.Err())
	}
	return g.score, nil
}

// graderError says whose error it is.
func graderError(ctx context.Context, err error) *agents.Error {
	var typed *agents.Error
	var author authorError
	switch {
	case errors.As(err, &typed) && typed != nil:
		return typed
	case errors.As(err, &author):
		return &agents.Error{Kind: agents.Judge, Source: agents.FromAuthor, Err: err}
	case ctx.Err() != nil:
		return &agents.Error{Kind: agents.Timeout, Source: agents.FromGrader, Err: err}
	}
	return &agents.Error{Kind: agents.Judge, Source: agents.FromGrader, Err: err}
}

// decide computes the outcome: the gate over what is known.
func (a *attempt) decide() {
	t, w := a.trial, a.watch
	cs := w.parts()
	t.Score = w.gate.Score(cs)
	v := w.gate.Decide(cs)
	switch {
	case a.notRun:
		t.Outcome, t.Err = OutcomeNotRun, a.err
		return
	case a.outOfBudget() && a.err == nil:
		t.Outcome = OutcomeUndecided // whatever the rest would say: what was asked has no answer
		return
	case v == Passed:
		t.Outcome = OutcomePassed
	case v == Failed:
		t.Outcome = OutcomeFailed
	case t.Stop != nil && t.Stop.Mode == verdict.Armed && a.err == nil && w.gate.StopArmed(cs) == Passed:
		t.Outcome, t.Smoke = OutcomePassed, true
	default:
		t.Outcome = OutcomeErrored
	}
	if t.Err = a.err; t.Outcome == OutcomeErrored && t.Err == nil {
		t.Err = a.openError()
	}
}

// outOfBudget reports whether a smoke check ran out of its step budget.
func (a *attempt) outOfBudget() bool { return a.watch.ended != nil && a.watch.ended.budget }

// openError is why the gate was left open though the session went well.
func (a *attempt) openError() *agents.Error {
	for i, r := range a.results {
		if a.watch.judged[i].advisory {
			continue
		}
		switch {
		case r.Violation != "":
			return agents.Errorf(agents.Contract, agents.FromAuthor, "%s broke its contract: %s", r.Name, r.Violation)
		case r.Err != nil:
			e := *r.Err
			e.Err = fmt.Errorf("%s: %s", r.Name, r.Err.Message())
			return &e
		}
	}
	var open []string
	for c := range a.trial.Trajectory.Calls() {
		if c.Status.Open() {
			open = append(open, a.e.masker().describe(c.ToolCall))
		}
	}
	if len(open) == 0 {
		return agents.Errorf(agents.Contract, agents.FromAuthor, "Grade says that calls leave the score open, and no call is open: %s", strings.Join(a.openNames(), ", "))
	}
	return agents.Errorf(agents.Timeout, agents.FromAgent, "the end of calls was never seen, which leaves the verdict open: %s", strings.Join(open, "; "))
}

// openNames are the gating criteria whose Grade left the score open.
func (a *attempt) openNames() []string {
	var names []string
	for i, r := range a.results {
		if r.Open && !a.watch.judged[i].advisory {
			names = append(names, r.Name)
		}
	}
	return names
}

// holdShadow holds what mode shadow recorded against the full run.
func (a *attempt) holdShadow() {
	for _, r := range a.watch.rules {
		if r.would == nil {
			continue
		}
		s := journal.Shadow{Stop: *r.would}
		s.Held = a.trial.Outcome == OutcomePassed && s.Verdict == Passed || a.trial.Outcome == OutcomeFailed && s.Verdict == Failed
		for _, name := range s.Open {
			for _, c := range a.results {
				if c.Name == name && c.Verdict == Failed {
					s.Broken = append(s.Broken, name)
				}
			}
		}
		a.shadow = append(a.shadow, s)
	}
}

func (noLimit) Grade(_ context.Context, trial *Trial) (Score, error) {
	if trial.Limit != "" {
		return PassIf(false).Because("%s", trial.Limit), nil
	}
	return PassIf(true), nil
}

// authorFrames names the places of a panic that are not ours or the runtime's, innermost first.
func authorFrames() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var b strings.Builder
	for n := 0; n < 3; {
		f, more := frames.Next()
		if f.File != "" && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "testing.") &&
			!strings.HasPrefix(f.Function, "github.com/evaltest-go/evaltest/evaltest.(*attempt)") {
			fmt.Fprintf(&b, "\n\tat %s:%d", f.File, f.Line)
			n++
		}
		if !more {
			break
		}
	}
	return b.String()
}
