package criteria

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// CheckFunc is an author's own criterion: a function that looks at the trial. See [Check] and [CheckScore].
type CheckFunc struct {
	name  string
	check func(require.TestingT, *evaltest.Trial)
	score func(context.Context, *evaltest.Trial) (evaltest.Score, error)
	err   error
}

// Check passes if the function reports no failure on the t it is given. That t is taken by testify's require and assert, and has
// Errorf, FailNow, Helper and Context; what is reported is the score's reason.
//
//	criteria.Check("rows add up", func(t require.TestingT, trial *evaltest.Trial) {
//		rows := readRows(t, trial.Dir)
//		require.NotEmpty(t, rows)
//		if diff := cmp.Diff(want, rows); diff != "" {
//			t.Errorf("rows (-want +got):\n%s", diff)
//		}
//	})
//
// The function runs in a goroutine of its own, which FailNow ends. Use its t only: a failure on the test's own t says nothing
// about the agent, and is an author's error, as a panic is. The function has to return before the criterion's timeout; if it
// does not, there is no score, and the function is left behind where it hangs. A goroutine that reports something when the
// function is done is not heard.
func Check(name string, check func(t require.TestingT, trial *evaltest.Trial)) *CheckFunc {
	c := &CheckFunc{name: name, check: check}
	if check == nil {
		c.err = errors.New("the function is nil")
	}
	return c.named()
}

// CheckScore scores as the function does. Its error means that no score could be had; an *agents.Error says of what kind it is,
// another is an error of the grader. ctx ends with the criterion's timeout. Panics are as in [Check].
func CheckScore(name string, score func(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error)) *CheckFunc {
	c := &CheckFunc{name: name, score: score}
	if score == nil {
		c.err = errors.New("the function is nil")
	}
	return c.named()
}

func (c *CheckFunc) named() *CheckFunc {
	if strings.TrimSpace(c.name) == "" {
		c.err = errors.Join(c.err, errors.New("the name is empty: reports would not say what was checked"))
	}
	return c
}

// String is the name that it was given.
func (c *CheckFunc) String() string {
	if strings.TrimSpace(c.name) == "" {
		return "check"
	}
	return clipLine(c.name, 100)
}

// Misuse reports a nil function and an empty name.
func (c *CheckFunc) Misuse() error { return c.err }

// How long a function may take to return when its ctx has ended, and at most how long before that it is looked where it is: who
// grades does not wait for long either.
const (
	patience = 50 * time.Millisecond
	lookout  = 250 * time.Millisecond
)

// Grade runs the function.
func (c *CheckFunc) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	run := &checkRun{done: make(chan struct{}), author: functionOf(c.check, c.score), t: &checkT{ctx: ctx}}
	go run.run(ctx, c, trial)
	var look <-chan time.Time
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		timer := time.NewTimer(left - min(lookout, left/4))
		defer timer.Stop()
		look = timer.C
	}
	where := run.author.line()
	for {
		select {
		case <-run.done:
			return run.result(ctx, c)
		case <-look:
			where = run.author.hangsAt(run.id.Load())
			continue
		case <-ctx.Done():
		}
		break
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-run.done:
		return run.result(ctx, c)
	case <-wait.C:
	}
	return evaltest.Score{}, ctxEnded(ctx, fmt.Sprintf("check %q, at %s", c.name, where))
}

// checkRun is one call of the function.
type checkRun struct {
	author   function
	t        *checkT
	id       atomic.Int64 // of its goroutine
	done     chan struct{}
	returned bool
	score    evaltest.Score
	err      error
	panicked any
	where    string // of the panic
}

// run calls the function, and finds out how it ended: by returning, a panic, or runtime.Goexit, which FailNow is and the test's own
// t.FailNow as well.
func (r *checkRun) run(ctx context.Context, c *CheckFunc, trial *evaltest.Trial) {
	defer close(r.done)
	defer r.t.end()
	defer func() {
		if p := recover(); p != nil {
			r.panicked, r.where = p, r.author.panicLine()
		}
	}()
	r.id.Store(goroutineID())
	if c.check != nil {
		c.check(r.t, trial)
	} else {
		r.score, r.err = c.score(ctx, trial)
	}
	r.returned = true
}

func (r *checkRun) result(ctx context.Context, c *CheckFunc) (evaltest.Score, error) {
	failures, stopped := r.t.failed()
	switch {
	case r.panicked != nil:
		return evaltest.Score{}, evaltest.AuthorError("criteria: check %q panicked at %s: %s",
			c.name, r.where, clipLine(fmt.Sprint(r.panicked), 500))
	case !r.returned && !stopped:
		return evaltest.Score{}, evaltest.AuthorError(
			"criteria: check %q (%s) ended by runtime.Goexit: was the test's own t used in it? use the t that it is given", c.name, r.author.line())
	case c.score != nil:
		return r.score, c.scoreError(ctx, r.err)
	case len(failures) == 0 && !stopped:
		return evaltest.PassIf(true), nil
	case len(failures) == 0:
		return scoreFailed("FailNow was called"), nil
	}
	// What failed because the time was over is not the agent's failure.
	if err := ctxEnded(ctx, fmt.Sprintf("check %q", c.name)); err != nil {
		return evaltest.Score{}, err
	}
	line := summary(failures[0])
	if n := len(failures); n > 1 {
		line = fmt.Sprintf("%d failures; %s", n, line)
	}
	return withReason(evaltest.PassIf(false), details(failures), "%s", line), nil
}

// scoreError is the error of an author's grader.
func (c *CheckFunc) scoreError(ctx context.Context, err error) error {
	var typed *agents.Error
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.As(err, &typed) {
		return ctxEnded(ctx, fmt.Sprintf("check %q", c.name))
	}
	return err
}
