package evaltest

import (
	"context"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// NoLimit is the criterion of FailOnLimit.
var NoLimit Criterion = noLimit{}

// Bare is a trial without workspace, process, gateway and record: what is between an agent's events and the verdict.
type Bare struct{ a *attempt }

// NewBare makes a trial in a mode ("": as the eval's criteria ask for it). ask says what is expected of the agent; gated
// says whether each request of the agent is going to be shown to Requested.
func NewBare(tb testing.TB, mode Mode, gated bool, ask func(*T), prompts []string, opts ...Option) *Bare {
	e := &T{TB: tb, settings: defaults()}
	for _, o := range opts {
		if err := o.option(&e.settings); err != nil {
			e.misuse("%v", err)
		}
	}
	e.mode, e.modeForced = mode, mode != ""
	e.info.Gates = agents.Kinds
	ask(e)
	e.check(prompts)
	a := (&course{e: e, prompts: prompts}).next()
	a.newWatch()
	a.watch.gated = gated
	return &Bare{a}
}

// Run follows a session from its first prompt to the verdict.
func (b *Bare) Run(ctx context.Context, session agents.Session) {
	b.a.send(ctx, session)
	final, _ := session.Close()
	b.a.complete(final)
	b.a.trial.Reply = b.a.trial.Trajectory.Reply()
	b.a.conclude(ctx)
}

// Requested is a model request whose results the stream has shown.
func (b *Bare) Requested(r gateway.Request) (hold bool) { return b.a.watch.requested(r) }

// Permit answers the agent's permission gate.
func (b *Bare) Permit(ctx context.Context, c agents.ToolCall) agents.Decision {
	return b.a.watch.permit(ctx, c)
}

// Pending is the stop of each rule that is decided and has not fallen, nil where there is none.
func (b *Bare) Pending() []any {
	var ps []any
	for _, r := range b.a.watch.rules {
		if r.pending == nil {
			ps = append(ps, nil)
			continue
		}
		ps = append(ps, r.pending)
	}
	return ps
}

// Drained is what the timer of the i-th rule's pending stop calls.
func (b *Bare) Drained(i int, p any) { b.a.watch.drained(b.a.watch.rules[i], p.(*pending)) }

func (b *Bare) Mode() Mode               { return b.a.e.mode }
func (b *Bare) Trial() *Trial            { return b.a.trial }
func (b *Bare) Shadow() []journal.Shadow { return b.a.shadow }
func (b *Bare) Ended() bool              { return b.a.watch.ended != nil }
func (b *Bare) Intervals() (is []Interval) {
	for _, j := range b.a.watch.judged {
		is = append(is, j.interval)
	}
	return is
}

// Notes are the facts that changed nothing.
func (b *Bare) Notes() []string { return b.a.notes }
