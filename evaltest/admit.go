package evaltest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
)

// streamGrace is how long a model request waits for the agent's stream to show the results that the request carries. An
// agent writes them before it asks, so that this is milliseconds; one that hides some calls never shows them.
const streamGrace = 2 * time.Second

var errHeld = errors.New("evaltest: the trial ended before this request")

// admit answers the gateway, which asks before each model request. Once the stream has caught up with the request, what
// the request's thread was told to stop for is looked at again: the request goes on, or is held until the agent has gone.
func (w *watch) admit(ctx context.Context, r gateway.Request) error {
	w.alive()
	if !w.catchUp(ctx, r.Results) {
		return ctx.Err()
	}
	w.alive()
	if !w.requested(r) {
		return nil
	}
	<-ctx.Done() // held: the agent is being ended, and its connection goes with it
	return errHeld
}

// requested is a model request that the stream has caught up with: a boundary of the thread that makes it. It reports
// whether to hold it, because the trajectory is over.
func (w *watch) requested(r gateway.Request) (hold bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	if w.asks(); w.ended != nil || w.fault != nil {
		return true
	}
	thread, ok := w.threadOf(r)
	return ok && w.boundary(thread)
}

// catchUp waits until the trajectory shows every one of these calls settled, for as long as streamGrace. It is false when
// ctx ended first.
func (w *watch) catchUp(ctx context.Context, calls []string) bool {
	var grace <-chan time.Time
	for {
		w.mu.Lock()
		news, behind := w.news, false
		for _, id := range calls {
			c, ok := w.tr.Call(id)
			behind = behind || !ok || c.Status.Open()
		}
		behind = behind && w.ended == nil
		w.mu.Unlock()
		if !behind {
			return true
		}
		if grace == nil {
			grace = time.After(streamGrace)
		}
		select {
		case <-news:
		case <-grace:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// threadOf is the thread that makes a request: that of the calls whose results it brings. A request that brings none is
// the first of its thread, or none of a thread at all.
func (w *watch) threadOf(r gateway.Request) (thread string, ok bool) {
	for _, id := range r.Results {
		if c, known := w.tr.Call(id); known {
			return c.Parent, true
		}
	}
	if r.Answer != "" { // a stream that hides calls may still show the answer
		for thread, message := range w.last {
			if message == r.Answer {
				return thread, true
			}
		}
	}
	return "", false
}

// permit answers the agent's permission gate: a call is refused when a criterion that is to prevent would fail with it,
// and, once that has decided a stop, so is everything else.
func (w *watch) permit(_ context.Context, call agents.ToolCall) agents.Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	if w.ended != nil || w.refusing() {
		return agents.Decision{Reason: "The task is over. Stop here."}
	}
	if c, ok := w.tr.Call(call.ID); ok && c.Status.Settled() {
		return agents.Decision{Reason: "A call of this id is over."}
	}
	var by *judged
	for _, j := range w.judged {
		if j.spec.prevent && j.wouldFail(w.tr, call) {
			j.prevent(w.tr, call)
			by = j
		}
	}
	if by == nil {
		return agents.Decision{Allow: true}
	}
	message := ""
	if c, ok := w.tr.Call(call.ID); ok {
		message = c.Message
	}
	w.note("refused before it ran, for %s: %s", by.name, w.mask.describe(call))
	w.judge(time.Now(), call.Parent, message)
	cs := w.parts()
	for _, r := range w.rules {
		if p := r.pending; p != nil && !r.dry {
			p.refuse = p.refuse || r.decide(w.gate, cs) != Undecided
		}
	}
	return agents.Decision{Reason: "This is not allowed here: " + by.name}
}

// refusing reports whether a stop is pending for which nothing further is permitted. One that is released permits again.
func (w *watch) refusing() bool {
	return slices.ContainsFunc(w.rules, func(r *rule) bool { return r.pending != nil && r.pending.refuse })
}
