package evaltest

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// converse opens a session, sends the prompts under the watch, and ends it. When it returns nothing of the agent is
// running, and the trajectory is complete.
func (a *attempt) converse(ctx context.Context) {
	setup, err := a.setupOf()
	if err != nil {
		a.closeGateway()
		a.fail(agents.AsError(err, agents.SetupError, agents.FromAuthor))
		return
	}
	if at, ok, _ := agentDeadline(a.e.TB, 0); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, at, errDeadline)
		defer cancel()
	}
	session, err := a.open(ctx, setup)
	if err != nil {
		a.closeGateway()
		a.fail(agents.AsError(a.cause(ctx, err), agents.SetupError, agents.FromAgent))
		return
	}
	a.send(ctx, session)
	final, err := a.close(session)
	a.closeGateway()
	if err != nil && a.watch.ended == nil {
		a.fail(agents.AsError(err, agents.Crash, agents.FromAgent))
	} else if err != nil {
		a.note("ending the agent: %v", err)
	}
	a.judging(func() { a.complete(final) })
}

// judging runs f, in which criteria look at the trajectory: one of them may end its goroutine, which is not to be the test's,
// or not return. It is false when f did not come to its end.
func (a *attempt) judging(f func()) bool {
	done := make(chan error, 1)
	go func() { done <- guarded(func() error { f(); return nil }) }()
	select {
	case err := <-done:
		if err != nil {
			a.fail(cmp.Or(a.watch.faulted(), agents.Errorf(agents.Contract, agents.FromAuthor, "while criteria looked on: %w", err)))
		}
		return err == nil
	case <-time.After(a.patience()):
		a.fail(cmp.Or(a.stuck(), agents.Errorf(agents.Timeout, agents.FromHarness, "the watcher does not return")))
		return false
	}
}

// open opens the session. One that comes after its agent was left behind is closed at once.
func (a *attempt) open(ctx context.Context, setup agents.Setup) (agents.Session, error) {
	opened := make(chan agents.Session, 1)
	err := a.call(ctx, "open a session", func() error {
		defer close(opened)
		session, err := a.e.agent.Open(ctx, setup)
		switch {
		case !agents.NoError(err):
			return err
		case session == nil:
			return agents.Errorf(agents.Harness, agents.FromAgent, "agent %s opened no session", a.info.Name)
		}
		opened <- session
		return nil
	})
	if a.leftBehind {
		go func() {
			if late, ok := <-opened; ok {
				_, _ = late.Close()
			}
		}()
	}
	if err != nil {
		return nil, err
	}
	return <-opened, nil
}

// close ends the session. An agent that does not let go is left behind.
func (a *attempt) close(session agents.Session) (final agents.Final, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the time to let go runs from here
	var f agents.Final
	err = a.call(ctx, "end its session", func() (err error) {
		f, err = session.Close()
		return err
	})
	if !a.leftBehind {
		final = f
	}
	return final, err
}

// patience is how long an agent that was interrupted may take to let go.
const patience = 45 * time.Second

// call calls the agent, in a goroutine of its own: it may panic, end its goroutine, or not let go when ctx ends. An agent
// that is waited for in vain is left behind; nothing that it still does enters the trial.
func (a *attempt) call(ctx context.Context, what string, f func() error) error {
	begin := time.Now()
	defer func() { a.agent += time.Since(begin) }()
	done := make(chan error, 1)
	go func() {
		err := error(agents.Errorf(agents.Crash, agents.FromAgent, "agent %s ended its goroutine when asked to %s", a.info.Name, what))
		defer func() {
			if p := recover(); p != nil {
				err = agents.Errorf(agents.Crash, agents.FromAgent, "agent %s panicked when asked to %s: %v\n%s", a.info.Name, what, p, debug.Stack())
			}
			done <- err
		}()
		if err = f(); agents.NoError(err) {
			err = nil
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(a.patience()):
		a.leftBehind = true
		if stuck := a.stuck(); stuck != nil {
			return stuck
		}
		return agents.Errorf(agents.Timeout, agents.FromAgent, "agent %s was asked to %s and did not let go within %v of being interrupted", a.info.Name, what, a.patience())
	}
}

// patience is how long is waited for an agent or a criterion that is to let go: less when the test is about to end.
func (a *attempt) patience() time.Duration {
	if end, ok := testDeadline(a.e.TB); ok {
		return min(patience, max(time.Until(end)-3*time.Second, 300*time.Millisecond))
	}
	return patience
}

// stuck is the error of a criterion that does not come back from looking at the trajectory, nil when there is none.
func (a *attempt) stuck() *agents.Error {
	if j := a.watch.looking.Load(); j != nil {
		return agents.Errorf(agents.Contract, agents.FromAuthor, "LiveVerdict of %s (%s) does not return", j.name, j.source)
	}
	return nil
}

// send sends one prompt after the other, as long as the trajectory goes on.
func (a *attempt) send(ctx context.Context, session agents.Session) {
	w := a.watch
	w.begin()
	if d := w.limits.Duration; d > 0 {
		timer := time.AfterFunc(d-w.timeBefore, w.outOfTime)
		defer timer.Stop()
	}
	for i, prompt := range a.trial.Prompts {
		err := a.turn(ctx, session, prompt)
		over := false
		if !a.judging(func() { over = w.handBack(err, i == len(a.trial.Prompts)-1) }) || over {
			return
		}
		if err == nil {
			err = w.faulted()
		}
		if err != nil {
			a.fail(err)
			return
		}
	}
}

// turn sends one prompt and watches until the agent hands back, is cut, or fails.
func (a *attempt) turn(ctx context.Context, session agents.Session, prompt string) *agents.Error {
	sendCtx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	goOn := false
	if !a.judging(func() { goOn = a.watch.prompt(prompt, leave) }) {
		return a.err
	}
	if !goOn {
		return a.watch.faulted()
	}
	defer a.watchdog(leave)()
	failed := a.call(sendCtx, "answer a prompt", func() error {
		for event, err := range session.Send(sendCtx, prompt) {
			if !agents.NoError(err) {
				return err
			}
			if a.watch.observe(event) {
				break
			}
		}
		return nil
	})
	if stuck := a.stuck(); stuck != nil {
		return stuck
	}
	if fault := a.watch.faulted(); fault != nil {
		return fault
	}
	if failed == nil && ctx.Err() != nil {
		failed = ctx.Err()
	}
	if idle := context.Cause(sendCtx); errors.Is(idle, errIdle) && ctx.Err() == nil {
		return agents.AsError(idle, agents.Timeout, agents.FromAgent)
	}
	return agents.AsError(a.cause(ctx, failed), agents.Crash, agents.FromAgent)
}

// cause says why, when it was not the agent that failed: its time ran out, or the test was ended.
func (a *attempt) cause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if gone := proc.Abandoned(); gone != nil {
		return agents.Errorf(agents.Interrupted, agents.FromHarness, "the test was abandoned while the agent ran: %w", gone)
	}
	if ctx.Err() == nil {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errDeadline) {
		e := agents.Errorf(agents.Timeout, agents.FromHarness, "the agent was ended: %w; run with a longer -timeout", cause)
		e.Retryable = false
		return e
	}
	e := agents.Errorf(agents.Interrupted, agents.FromHarness, "the test was ended while the agent ran: %w", context.Cause(ctx))
	return e
}

// faulted is what came that nothing sound can be made of.
func (w *watch) faulted() *agents.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

// begin starts the clock.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = time.Now()
}

// prompt starts a user turn. It is false when the trajectory is over.
func (w *watch) prompt(text string, leave context.CancelCauseFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	if w.ended != nil {
		return false
	}
	w.leave, w.requests = leave, 0
	w.take(agents.Prompt(text).At(time.Now()))
	return true
}

// handBack ends a user turn, with the error that ended it, if any. It reports whether the trajectory is cut here. After
// the last prompt there is nothing to cut: the run is a full one.
func (w *watch) handBack(err *agents.Error, last bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	w.leave = nil
	switch {
	case w.ended != nil:
	case err != nil:
		if w.interrupted() {
			w.note("error met while draining: %v", err)
		}
	default:
		w.take(agents.Event{Kind: agents.EventDone, Time: time.Now()})
		if !last {
			w.boundary("")
		}
	}
	for _, r := range w.rules {
		if last && r.pending != nil {
			r.pending.timer.Stop()
			r.pending = nil
		}
	}
	return w.ended != nil
}

// spentAfterAll adds to the trajectory what the session as a whole has cost more than its events told, so that criteria and
// limits see it.
func (a *attempt) spentAfterAll(total agents.Usage) {
	more := total.Beyond(a.watch.tr.Usage())
	if more.Cost < 1e-9 { // rounding of a sum
		more.Cost = 0
	}
	if more != (agents.Usage{}) {
		a.watch.take(agents.Spent(more))
	}
}

// usage is what the attempt has cost: as the agent says, and, where it did not come to say it, as its events or the gateway
// have it.
func (a *attempt) usage(total agents.Usage) agents.Usage {
	w, seen := a.watch, a.watch.tr.Usage()
	u := total
	if u.Tokens() == 0 {
		u = seen
	}
	if a.requests != nil {
		if metered := a.requests.Usage; metered.Tokens() > u.Tokens() {
			metered.Cost, u = u.Cost, metered
		}
	}
	switch {
	case w.prices != nil && total.Cost == 0:
		u.Cost = w.prices.cost(u)
	case u.Cost == 0:
		u.Cost = max(total.Cost, seen.Cost)
	}
	return u
}

// complete ends the trajectory: calls whose end was never seen are unresolved, and what came after the cut is looked at.
func (a *attempt) complete(final agents.Final) {
	w, t := a.watch, a.trial
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complete = true
	w.tail = append(w.tail, final.Tail...)
	a.info.Version = cmp.Or(final.Version, a.info.Version)
	a.answered = final.Model
	if w.ended != nil {
		t.Stop, t.Limit = w.ended.stop, w.ended.limit
	} else {
		w.ended = &ending{} // nothing is recorded any more
		// Without a cut or an error there is no tail: what the agent said last belongs to the trajectory.
		for _, e := range w.tail {
			if a.err == nil {
				w.take(e)
			}
		}
		if a.err == nil {
			w.tail = nil
		}
		a.spentAfterAll(final.Usage)
		if w.overspent() {
			t.Limit = w.ended.limit
		}
	}
	for c := range w.tr.Calls() {
		if c.Status == agents.Pending || c.Status == agents.InProgress {
			e := agents.End(c.ID, agents.Unresolved, "")
			if n := w.tr.Len(); t.Stop != nil || t.Limit != "" {
				e = e.At(w.tr.Event(n - 1).Time) // what ending the agent took is no time of the trajectory
			}
			w.take(e)
		}
	}
	a.late = w.tail
	t.Usage = a.usage(final.Usage)
	a.notes = append(a.notes, w.notes...)
}
