package evaltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
)

// errIdle is the cause with which a Send is left when nothing happens any more.
var errIdle = errors.New("evaltest: nothing happens any more")

// startPatience is how long an agent's program may take to give its first sign of life, where silence may not last as long.
const startPatience = 30 * time.Second

// answerTimes is how many times the time of silence an answer may take in all.
const answerTimes = 4

// alive is told of every sign of life: an event, a request, progress of an answer.
func (w *watch) alive() {
	w.signs.Store(time.Now().UnixNano())
	w.heard.Store(true)
}

// heard takes what an agent's program says for a sign of life, whatever it says.
type heard struct {
	io.Writer
	watch *watch
}

func (h heard) Write(p []byte) (int, error) {
	h.watch.alive()
	return h.Writer.Write(p)
}

// watchdog leaves the Send under way when there is no sign of life for too long. Agents that wait for a dead provider may do
// so in silence, for minutes or for ever. It returns what ends it.
func (a *attempt) watchdog(leave context.CancelCauseFunc) (stop func()) {
	a.watch.signs.Store(time.Now().UnixNano())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(min(max(a.e.idle/20, 5*time.Millisecond), time.Second))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := a.idle(time.Now()); err != nil {
				leave(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// idle is not nil when the attempt has come to a standstill.
func (a *attempt) idle(now time.Time) error {
	limit := a.e.idle
	if a.gateway != nil {
		if since, ok := a.gateway.Waiting(); ok && now.Sub(since) >= limit {
			return a.standstill(agents.FromProvider, "the provider's answer has made no progress for %v", limit)
		}
		for _, x := range a.gateway.Log() {
			if x.State == gateway.Answering && now.Sub(x.Admitted) >= answerTimes*limit {
				return a.standstill(agents.FromProvider, "the provider's answer has no end after %v", answerTimes*limit)
			}
		}
	}
	if !a.watch.heard.Load() {
		limit = max(limit, startPatience)
	}
	if now.Sub(time.Unix(0, a.watch.signs.Load())) < limit || a.watch.working() {
		return nil
	}
	return a.standstill(agents.FromAgent, "the agent has shown no sign of work for %v", limit)
}

func (a *attempt) standstill(source agents.ErrorSource, format string, args ...any) error {
	return fmt.Errorf("%w: %w", errIdle, agents.Errorf(agents.Timeout, source, format+"; IdleTimeout allows more", args...))
}

// working reports whether a command or another tool of the agent is at work, which may take its time; a sub-agent is none.
func (w *watch) working() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.tr.Calls() {
		if c.Status.Open() && c.Kind != agents.Sub {
			return true
		}
	}
	return false
}

// asks counts a request to the model. Above the limit nothing more is to be had from the agent.
func (w *watch) asks() {
	w.requests++
	if w.maxRequests > 0 && w.requests > w.maxRequests && w.fault == nil && w.ended == nil {
		w.fault = agents.Errorf(agents.Protocol, agents.FromAgent, "the agent has asked its model more than %d times for one prompt; MaxRequests allows more", w.maxRequests)
		w.fault.Retryable = false
		if w.leave != nil {
			w.leave(w.fault)
		}
	}
}
