// Package inprocess makes an agent of a Go program that is one: of a function that answers a user message, and tells what it does on
// the way.
//
//	agent := inprocess.New(agents.Info{Name: "mine", Live: true, Wire: agents.OpenAIChat}, func(s *inprocess.Session) (inprocess.Answer, error) {
//		bot := mine.New(s.Setup.Dir, s.Setup.Gateway.URL+"/v1", s.Setup.Gateway.Token)
//		return func(t *inprocess.Turn) error {
//			return bot.Chat(t.Context(), t.Prompt, mine.Hooks{
//				Text: func(text string) { t.Emit(agents.Say(text)) },
//				Shell: func(ctx context.Context, id, command string) (string, error) {
//					call := agents.ToolCall{ID: id, Kind: agents.Execute, Name: "shell", Commands: []string{command}}
//					out, _, err := t.Call("", call, func(ctx context.Context) (string, error) { return mine.Shell(ctx, command) })
//					return out, err
//				},
//			})
//		}, nil
//	})
//
// The program meets whoever watches it at every event: it goes on when the loop over Send is done with the event, so that a stop
// falls exactly there. Calls are asked about before they have any effect ([agents.Setup].Permit), and what is under way when the
// agent is interrupted is told as such.
//
// It shares the process with the eval: what it starts is its own to end when its context is done, and a program that does not heed
// its context cannot be stopped, which Close reports. A program that starts commands starts them by package proc, so that none of
// them is left.
package inprocess

import (
	"context"
	"errors"

	"github.com/evaltest-go/evaltest/agents"
)

// An Answer answers the turn's prompt, and returns when the agent hands back, or soon after the turn's context is done. An error ends
// the session: an *agents.Error is what it says, and any other, or a panic, a crash of the agent's.
type Answer func(t *Turn) error

// New is an agent that is described by info, for which the functions that open returns answer: one for each session, so that a
// conversation is what open's variables hold. Gates of info are all kinds where it names none: Turn.Call asks about each. An error of
// open is one of kind "setup" unless it is an *agents.Error.
func New(info agents.Info, open func(s *Session) (Answer, error)) agents.Agent {
	if info.Gates == nil {
		info.Gates = agents.Kinds
	}
	return &agent{info, open}
}

type agent struct {
	info agents.Info
	open func(s *Session) (Answer, error)
}

func (a *agent) Info() agents.Info { return a.info }

func (a *agent) Open(ctx context.Context, setup agents.Setup) (agents.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, agents.Errorf(agents.Interrupted, agents.FromHarness, "%s: open session: %w", a.info.Name, context.Cause(ctx))
	}
	s := &Session{Setup: setup, name: a.info.Name}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	answer, err := a.open(s)
	if !agents.NoError(err) {
		s.cancel()
		_ = s.release() // err is the reason
		if known := new(agents.Error); errors.As(err, &known) {
			return nil, known
		}
		return nil, agents.Errorf(agents.SetupError, agents.FromAgent, "%s: open session: %w", a.info.Name, err)
	}
	s.answer = answer
	return &session{s}, nil
}
