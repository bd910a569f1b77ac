package scripted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// How long Close waits for a function of the caller's (a tool, Setup.Permit) that does not heed its context.
const patience = 5 * time.Second

type session struct {
	setup  agents.Setup
	tools  map[string]ToolFunc
	skills map[string]fs.FS
	root   *os.Root
	shell  *shell

	ctx    context.Context // done when the session is closed
	cancel context.CancelFunc

	main *thread // used by the run that is under way, of which there is one

	mu      sync.Mutex
	running *run
	closed  bool
	over    *agents.Error // the provider failed: there is no way on
	final   agents.Final

	closeOnce sync.Once
	closeErr  error
}

func open(answers []script.Answer, tools map[string]ToolFunc, setup agents.Setup) (_ agents.Session, err error) {
	s := &session{setup: setup, tools: tools, skills: map[string]fs.FS{}, main: &thread{answers: answers}}
	defer func() {
		if err != nil {
			_ = s.release() // err is the reason
			err = agents.AsError(fmt.Errorf("scripted: open session: %w", err), agents.SetupError, agents.FromHarness)
		}
	}()
	if !filepath.IsAbs(setup.Dir) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", setup.Dir)
	}
	for _, fsys := range setup.Skills {
		name, err := agents.SkillName(fsys)
		if err != nil {
			return nil, agents.AsError(fmt.Errorf("scripted: open session: %w", err), agents.SetupError, agents.FromAuthor)
		}
		s.skills[name] = fsys
	}
	if s.root, err = os.OpenRoot(setup.Dir); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	s.shell = &shell{setup: setup}
	if runsCommands(answers) {
		go s.shell.prepare() // the supervisor takes longer to start than any command: meanwhile the eval gets ready
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func (s *session) Send(ctx context.Context, prompt string) iter.Seq2[agents.Event, error] {
	var ranged atomic.Bool
	return func(yield func(agents.Event, error) bool) {
		if ranged.Swap(true) {
			yield(agents.Event{}, agents.Errorf(agents.Harness, agents.FromHarness,
				"scripted: send: ranged over a second time; call Send again for another message"))
			return
		}
		r, err := s.begin(ctx, prompt)
		if err != nil {
			yield(agents.Event{}, err)
			return
		}
		defer s.end(r)
		r.deliver(yield)
	}
}

// begin starts a run, unless there is a reason not to.
func (s *session) begin(ctx context.Context, prompt string) (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "scripted: send: the session is closed")
	case s.over != nil:
		return nil, s.over
	case s.running != nil:
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "scripted: send: the message before is still being answered")
	case ctx.Err() != nil:
		return nil, agents.Errorf(agents.Interrupted, agents.FromHarness, "scripted: send: %w", context.Cause(ctx))
	}
	r := newRun(ctx, s)
	s.running = r
	s.main.heard(prompt)
	go r.work()
	return r, nil
}

// end interrupts r where it is not done, and returns when it is; later only where a function of the caller's blocks.
func (s *session) end(r *run) {
	r.cancel()
	if !r.wait(patience) {
		return // s.running stays: Close waits once more and reports it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == r {
		s.running = nil
	}
}

func (s *session) Close() (agents.Final, error) {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		r := s.running
		s.mu.Unlock()
		s.cancel()
		var errs []error
		if r != nil && !r.wait(patience) {
			errs = append(errs, fmt.Errorf("a tool or Setup.Permit has not returned %v after its context was done", patience))
		}
		errs = append(errs, s.release())
		if err := errors.Join(errs...); err != nil {
			s.closeErr = agents.Errorf(agents.Harness, agents.FromHarness, "scripted: close session: %w", err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.final, s.closeErr
}

// release ends processes and removes what the session made for itself.
func (s *session) release() error {
	var errs []error
	if s.shell != nil {
		errs = append(errs, s.shell.close())
	}
	if s.root != nil {
		errs = append(errs, s.root.Close())
	}
	return errors.Join(errs...)
}

// tail keeps what came after the loop over Send was left.
func (s *session) tail(e agents.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind == agents.EventUsage {
		s.final.Usage = s.final.Usage.Add(e.Usage)
	}
	s.final.Tail = append(s.final.Tail, e)
}

// spent adds what was yielded to the total.
func (s *session) spent(u agents.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final.Usage = s.final.Usage.Add(u)
}

// runsCommands reports whether a script has a command in it.
func runsCommands(answers []script.Answer) bool {
	for _, a := range answers {
		for _, b := range a.Blocks {
			if b.Call != nil && (b.Call.Kind == agents.Execute || runsCommands(script.Answers(b.Call.Steps))) {
				return true
			}
		}
	}
	return false
}
