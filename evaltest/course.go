package evaltest

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// course is the course of one trial: its attempts, the last of which is the trial's result.
type course struct {
	e       *T
	prompts []string
	all     []*attempt
	place   place
}

func (c *course) last() *attempt { return c.all[len(c.all)-1] }

// next is a further attempt.
func (c *course) next() *attempt {
	t := &Trial{Number: 1, Attempt: len(c.all) + 1, Prompts: slices.Clone(c.prompts), Trajectory: new(agents.Trajectory)}
	for _, b := range c.all {
		was := b.trial
		t.Earlier = append(t.Earlier, Attempt{
			Number: was.Attempt, Err: was.Err, Usage: was.Usage, Took: was.Took, Record: was.Record, Waited: *b.retryIn,
		})
	}
	a := &attempt{e: c.e, course: c, trial: t}
	c.all = append(c.all, a)
	return a
}

// earlier are the attempts before this one.
func (a *attempt) earlier() []*attempt { return a.course.all[:a.trial.Attempt-1] }

// run makes one attempt, and further ones while what ended the last may pass.
func (c *course) run() {
	defer c.place.leave()
	defer func() { c.place.done(c.last()) }() // also where an author's code ends the goroutine
	for {
		a := c.next()
		a.run()
		if a.retryIn == nil || !wait(testContext(c.e.TB), *a.retryIn) {
			return
		}
	}
}

// spent is what all attempts have cost.
func (c *course) spent() (u agents.Usage) {
	for _, a := range c.all {
		u = u.Add(a.trial.Usage)
	}
	return u
}

// wait is false when ctx ended, or whoever runs the test did.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return proc.Abandoned() == nil
	case <-ctx.Done():
		return false
	}
}

// planRetry decides whether another attempt follows, and after how long: nil for none. Only an error that may pass is tried
// again, and only when it leaves no verdict: a model's failure never is.
func (a *attempt) planRetry() *time.Duration {
	e, err := a.e, a.err
	switch {
	case a.trial.Outcome != OutcomeErrored || err == nil || !err.Retryable || alwaysRed(err):
		return nil
	case a.trial.Attempt > e.retries || a.leftBehind || len(a.faults()) > 0 || proc.Abandoned() != nil:
		return nil
	}
	if o := a.course.place.opened(); o != nil {
		a.note("not tried again: %s", reasonOf(o))
		return nil
	}
	d := e.pause(err, a.trial.Attempt)
	if what := a.outOfMeans(d); what != "" {
		a.note("not tried again: %s", what)
		return nil
	}
	return &d
}

// outOfMeans says what of the trial's limits would be used up before another attempt, begun after d, could get anywhere.
func (a *attempt) outOfMeans(d time.Duration) string {
	l, spent := a.e.limits, a.course.spent()
	switch {
	case l.Tokens > 0 && spent.Tokens() >= l.Tokens:
		return "the trial's tokens are used up"
	case l.Cost > 0 && spent.Cost >= l.Cost:
		return "the trial's money is used up"
	case l.Duration > 0 && a.worked()+d >= l.Duration:
		return "the trial's time does not last for the wait of " + d.Round(time.Millisecond).String()
	}
	if at, ok, err := agentDeadline(a.e.TB, 0); ok && (err != nil || time.Until(at) <= d) {
		return "the test binary's -timeout comes before the wait of " + d.Round(time.Millisecond).String() + " is over"
	}
	return ""
}

// worked is how long the agent has been waited for, in this attempt and those before.
func (a *attempt) worked() time.Duration {
	return a.watch.timeBefore + a.agent
}

// pause is how long to wait after the n-th attempt ended in err: what the provider asks for, and the backoff on top.
func (s *settings) pause(err *agents.Error, n int) time.Duration {
	return max(0, err.RetryAfter) + backoff(s.backoff, n)
}

// limitsOfBackoff are the longest first wait, and the longest wait at all.
type limitsOfBackoff struct{ first, most time.Duration }

// backoff is how long to wait after the n-th attempt, from 1: a random part of a time that doubles each time, so that
// trials that failed together do not come back together ("full jitter" of M. Brooker, Exponential Backoff And Jitter, 2015).
func backoff(l limitsOfBackoff, n int) time.Duration {
	most := l.first
	for range n - 1 {
		if most >= l.most {
			break
		}
		most *= 2
	}
	most = min(most, l.most)
	if most <= 0 {
		return 0
	}
	return rand.N(most)
}
