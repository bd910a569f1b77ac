package inprocess

import (
	"context"
	"errors"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// What a function that does a call may wrap in its error.
var (
	// ErrNotRun: the call was turned away, and nothing of it ran: there is no such tool. It is told as denied.
	ErrNotRun = errors.New("not run")
	// ErrCut: the call was interrupted, and how far it came is not known. So is what fails with the turn's context.
	ErrCut = errors.New("interrupted")
)

// A Call is a tool call that was announced.
type Call struct {
	turn    *Turn
	call    agents.ToolCall
	message string
}

// Begin announces a call of an answer with this id, "" where the program gives none. False: the agent is interrupted, and the call is
// not to be done.
func (t *Turn) Begin(message string, c agents.ToolCall) (*Call, bool) {
	call := &Call{t, c, message}
	yielded, goOn := t.emit(agents.Begin(c).In(message).Under(c.Parent))
	if yielded && !goOn {
		call.end(agents.Denied, interrupted)
	}
	return call, goOn
}

const interrupted = "interrupted before it began"

// Do asks Setup.Permit about the call, has f do it if it is allowed, and tells how it ended. An error of f is a call that failed,
// and is told after its output; an *agents.Error among them ends the session. err is that of f, or says that the call was refused.
func (c *Call) Do(f func(ctx context.Context) (output string, err error)) (output string, status agents.Status, err error) {
	status, output, err = c.do(f)
	c.end(status, output)
	return output, status, err
}

// Refuse tells that the agent itself turned the call away: it is not asked about, and nothing of it runs.
func (c *Call) Refuse(reason string) { c.end(agents.Denied, reason) }

func (c *Call) end(status agents.Status, output string) {
	c.turn.Report(agents.End(c.call.ID, status, output).In(c.message).Under(c.call.Parent))
}

func (c *Call) do(f func(ctx context.Context) (string, error)) (agents.Status, string, error) {
	ctx := c.turn.ctx
	if permit := c.turn.s.Setup.Permit; permit != nil && ctx.Err() == nil {
		if d := permit(ctx, c.call); ctx.Err() == nil && !d.Allow {
			return agents.Denied, d.Reason, errors.New(d.Reason)
		}
	}
	if ctx.Err() != nil {
		return agents.Denied, interrupted, context.Cause(ctx)
	}
	output, err := f(ctx)
	var fault *agents.Error
	switch {
	case agents.NoError(err):
		return agents.Completed, output, nil
	case errors.Is(err, ErrCut), ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return agents.Unresolved, output, err
	case errors.As(err, &fault):
		c.turn.Fail(fault)
		return agents.Unresolved, output, err
	case errors.Is(err, ErrNotRun):
		return agents.Denied, err.Error(), err
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return agents.Failed, output + err.Error(), err
}

// Call is Begin and Do.
func (t *Turn) Call(message string, c agents.ToolCall, f func(ctx context.Context) (output string, err error)) (output string, status agents.Status, err error) {
	call, ok := t.Begin(message, c)
	if !ok {
		return interrupted, agents.Denied, context.Cause(t.ctx)
	}
	return call.Do(f)
}
