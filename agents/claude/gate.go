package claude

import (
	"context"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// lateness is how long a call that is asked about may take to show up in the stream. It comes within milliseconds; where it
// does not, the question itself is told as the call.
const lateness = 5 * time.Second

// gate answers what the CLI asks before each call.
type gate struct {
	permit func(context.Context, agents.ToolCall) agents.Decision // nil: everything may run
	ctx    context.Context                                        // of the session, until it is interrupted
	reply  func(h *hook, d agents.Decision)

	mu    sync.Mutex
	told  map[string]chan struct{} // by call: closed when its EventCall was yielded
	asked sync.WaitGroup
}

func newGate(ctx context.Context, permit func(context.Context, agents.ToolCall) agents.Decision, reply func(*hook, agents.Decision)) *gate {
	return &gate{permit: permit, ctx: ctx, reply: reply, told: map[string]chan struct{}{}}
}

func (g *gate) yielded(id string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.told[id]
	if c == nil {
		c = make(chan struct{})
		g.told[id] = c
	}
	return c
}

// tell says that the event of a call's dispatch was yielded.
func (g *gate) tell(id string) {
	if g.permit == nil {
		return
	}
	c := g.yielded(id)
	select {
	case <-c:
	default:
		close(c)
	}
}

// ask answers h, now or when the call was yielded and Permit has decided. After an interruption it refuses.
func (g *gate) ask(h *hook) {
	if g.permit == nil {
		g.reply(h, agents.Decision{Allow: true})
		return
	}
	told := g.yielded(h.call.ID)
	g.asked.Go(func() {
		select {
		case <-told:
		case <-g.ctx.Done():
			g.reply(h, agents.Decision{Reason: "The session is over."})
			return
		}
		d := g.permit(g.ctx, h.call)
		if g.ctx.Err() != nil {
			d = agents.Decision{Reason: "The session is over."}
		}
		g.reply(h, d)
	})
}

// settle waits for the questions that are open, but not for a Permit that does not heed its context.
func (g *gate) settle() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.asked.Wait()
	}()
	select {
	case <-done:
	case <-time.After(signalPatience):
	}
}
