package evaltest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// place is a trial's place among all of the run, whatever process they are in: one of the agents that may be at work at
// once, and its standing with the breaker.
type place struct {
	state    *runstate.State
	key      string
	breaking bool // the breaker has a say
	release  func()
	standing *runstate.Trial
}

// reasonOf says why nothing more is run.
func reasonOf(o *runstate.Opened) string {
	return fmt.Sprintf("%d errors in a row, the last %s (%s): %s; the run is not going to spend more on this agent and provider",
		o.Errors, o.Kind, o.Source, firstLine(o.Message))
}

// stateOfRun is what the processes of this run share.
var stateOfRun = sync.OnceValues(func() (*runstate.State, error) {
	j, err := journal.Default()
	if err != nil {
		return nil, err
	}
	return runstate.Open(filepath.Join(j.Dir(), "state", j.Process().Run))
})

// find makes ready to ask for a place.
func (p *place) find(a *attempt) error {
	if p.state != nil {
		return nil
	}
	state, err := stateOfRun()
	if err != nil {
		return err
	}
	p.state, p.breaking = state, a.e.breaker
	p.key = cmp.Or(a.info.Name, "agent") + " " + a.upstream()
	return nil
}

// opened looks whether the breaker is open. An error of looking is none of the trial's.
func (p *place) opened() *runstate.Opened {
	if p.state == nil || !p.breaking {
		return nil
	}
	o, err := p.state.Opened(p.key)
	if err != nil {
		return nil
	}
	return o
}

// take waits for a place. It holds it for the attempts that follow, too.
func (p *place) take(ctx context.Context, limit int, waiting func(what string)) (*runstate.Opened, error) {
	if p.release == nil {
		release, err := p.state.Acquire(ctx, limit, func() { waiting(fmt.Sprintf("one of the %s that may be at work at once", count(limit, "agent"))) })
		if err != nil {
			return nil, err
		}
		p.release = release
	}
	if p.standing != nil || !p.breaking {
		return nil, nil
	}
	standing, o, err := p.state.Enter(ctx, p.key, func() { waiting("the trials under way: errors in a row have the run hold new ones") })
	if o != nil {
		p.leave()
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	p.standing = standing
	return nil, nil
}

// leave gives the place to another agent.
func (p *place) leave() {
	if p.release != nil {
		p.release()
		p.release = nil
	}
}

// done tells the breaker what the trial came to.
func (p *place) done(a *attempt) {
	if p.standing == nil {
		return
	}
	r := runstate.Result{Measured: a.isMeasured()}
	if a.err != nil && (a.err.Source == agents.FromAgent || a.err.Source == agents.FromProvider) {
		r.Err = masked(a.e.masker(), a.err) // it is written down, and told by others
	}
	p.standing.Done(r)
	p.standing = nil
}

// maxAgents is how many agents of the run may be at work at once: EVALTEST_MAX_AGENTS, else as many as tests run in parallel
// within a package.
func (s *settings) maxAgents() int {
	if s.agentsAtOnce > 0 {
		return s.agentsAtOnce
	}
	if f := flag.Lookup("test.parallel"); f != nil {
		if n, err := strconv.Atoi(f.Value.String()); err == nil && n > 0 {
			return n
		}
	}
	return runtime.GOMAXPROCS(0)
}

// takePlace waits until the agent may begin. It is false when it may not: the breaker is open, or time ran out.
func (a *attempt) takePlace(ctx context.Context) bool {
	begin := time.Now()
	if at, ok, _ := agentDeadline(a.e.TB, a.e.limits.Duration); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, at.Add(-a.e.limits.Duration), errDeadline)
		defer cancel()
	}
	waited := ""
	o, err := a.course.place.take(ctx, a.e.maxAgents(), func(what string) { waited = what })
	if took := time.Since(begin); waited != "" && took > time.Second {
		a.note("waited %v for %s", took.Round(100*time.Millisecond), waited)
	}
	a.waited += time.Since(begin)
	switch {
	case o != nil:
		a.refuseToRun(o)
	case err == nil:
		return true
	case errors.Is(context.Cause(ctx), errDeadline):
		a.notRun = true
		a.fail(&agents.Error{Kind: agents.Timeout, Source: agents.FromAuthor,
			Err: fmt.Errorf("it waited for %s until what was left of the test binary's -timeout was too little; run with a longer one, or a larger %s", cmp.Or(waited, "its turn"), envMaxAgents)})
	case ctx.Err() != nil:
		a.fail(agents.Errorf(agents.Interrupted, agents.FromHarness, "the test was ended while it waited for %s: %w", cmp.Or(waited, "its turn"), context.Cause(ctx)))
	default:
		a.fail(agents.Errorf(agents.Harness, agents.FromHarness, "ask for a place in the run: %w", err))
	}
	return false
}

// refuseToRun ends the attempt at once: the run has met too many errors in a row.
func (a *attempt) refuseToRun(o *runstate.Opened) {
	a.notRun = true
	a.fail(&agents.Error{Kind: o.Kind, Source: o.Source, Err: errors.New(reasonOf(o))})
}
