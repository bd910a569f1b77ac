// Package replay is an agent that plays a recorded trajectory: the same events, at once, for nothing. It serves to judge
// anew what was recorded, and to try criteria on what real agents did.
//
//	agent, err := replay.File("testdata/claude-pdf.jsonl")
//	if err != nil {
//		return err
//	}
//	session, err := agent.Open(ctx, agents.Setup{Dir: dir})
//	for event, err := range session.Send(ctx, "as recorded, whatever is said here") {
//
// Each Send plays what was recorded after the next prompt. Calls are shown and not carried out: the workspace stays as it is.
// A turn that was recorded without its end, because the agent was stopped or something failed, ends in an *agents.Error: of kind
// interrupted, or that given by Ends. A Send beyond the last prompt is an error too: nobody knows what would have been answered.
package replay

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/transcript"
)

// Name is the name in Info. The agent is not registered: it needs a recording.
const Name = "replay"

// New is an agent that plays tr as it is now. Each session plays it from the beginning.
func New(tr *agents.Trajectory, opts ...Option) agents.Agent {
	a := &agent{turns: split(tr.Prefix(tr.Len())), info: agents.Info{Name: Name, Gates: agents.Kinds}}
	for _, o := range opts {
		o.apply(a)
	}
	return a
}

// File is New of the transcript in a file. One whose last line is incomplete is played up to there.
func File(path string, opts ...Option) (agents.Agent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replay: open recording: %w", err)
	}
	defer f.Close()
	tr, h, err := transcript.Read(f)
	if err != nil && (tr == nil || !errors.Is(err, transcript.ErrTorn)) {
		return nil, fmt.Errorf("replay: read recording %s: %w", path, err)
	}
	a := New(tr, opts...).(*agent)
	a.info.Version, a.info.Model = h.AgentVersion, h.Model
	return a, nil
}

// An Option changes how a recording is played.
type Option interface{ apply(*agent) }

type optionFunc func(*agent)

func (f optionFunc) apply(a *agent) { f(a) }

// Restamp leaves the times out, so that events are stamped as they arrive. Without it they keep the recorded ones.
func Restamp() Option { return optionFunc(func(a *agent) { a.restamp = true }) }

// Pace has events come as far apart as they were recorded. Without it they come at once.
func Pace() Option { return optionFunc(func(a *agent) { a.pace = true }) }

// Ends says what ended the recording, where its last turn has no end.
func Ends(err *agents.Error) Option { return optionFunc(func(a *agent) { a.ends = err }) }

type agent struct {
	info    agents.Info
	turns   []turn
	restamp bool
	pace    bool
	ends    *agents.Error // nil: not said
}

// turn is what was recorded after one prompt.
type turn struct {
	events []agents.Event
	done   bool
	denied map[string]bool // calls that were refused when recorded
}

func split(tr *agents.Trajectory) []turn {
	var turns []turn
	for _, e := range tr.Events() {
		if e.Kind == agents.EventPrompt || len(turns) == 0 {
			turns = append(turns, turn{denied: map[string]bool{}})
		}
		t := &turns[len(turns)-1]
		switch e.Kind {
		case agents.EventPrompt:
			continue
		case agents.EventDone:
			t.done = true
			continue
		case agents.EventCall:
			if c, _ := tr.Call(e.Call.ID); c.Status == agents.Denied {
				t.denied[e.Call.ID] = true
			}
		}
		t.events = append(t.events, e)
	}
	return turns
}

// Info says that every kind of call can be shown and gated. What is gated are recorded calls: one that ran and is refused now
// is shown as denied, and what happened inside of it is left out; the rest goes on as recorded, since what the
// agent would have done instead is not known. Setup.Permit is not asked about a call that was refused when recorded. Version and Model are those of the
// recorded agent, where the recording tells.
func (a *agent) Info() agents.Info { return a.info }

// Open needs nothing of setup but Permit and Record.
func (a *agent) Open(ctx context.Context, setup agents.Setup) (agents.Session, error) {
	if ctx.Err() != nil {
		return nil, agents.Errorf(agents.Interrupted, agents.FromHarness, "replay: open session: %w", context.Cause(ctx))
	}
	s := &session{agent: a, setup: setup}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}
