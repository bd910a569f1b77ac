package claude

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/internal/cli"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// How long each step of an ending may take.
const (
	interruptPatience  = 2 * time.Second        // from the interruption to the turn's result
	backgroundPatience = 300 * time.Millisecond // the same, while sub-agents work in the background
	exitPatience       = 2 * time.Second        // from the end of input to the exit
	signalPatience     = time.Second            // from the signal to the exit
)

// session is a running CLI.
type session struct {
	process *proc.Process
	queue   *queue
	input   *cli.Input
	gate    *gate
	stderr  *cli.Tail
	record  *agents.Record
	over    context.CancelFunc // ends the gate's context
	read    chan struct{}      // closed when the stream was read to its end
	closing chan struct{}

	decoding sync.Mutex // guards dec: the reader, and the timers of late calls
	dec      *decoder

	mu     sync.Mutex
	turn   bool // a turn is under way
	broken bool // interrupted, or ended by an error: nothing more can be sent
	tail   []agents.Event

	closeOnce sync.Once
	final     agents.Final
	closeErr  error
}

func start(path string, args, env []string, setup agents.Setup) (*session, error) {
	s := &session{
		queue: newQueue(), stderr: new(cli.Tail), record: setup.Record, dec: newDecoder(setup.Dir),
		read: make(chan struct{}), closing: make(chan struct{}),
	}
	p, err := proc.Start(proc.Command{Path: path, Args: args, Dir: setup.Dir, Env: env, Stderr: cli.Both{s.stderr, setup.Record.StderrTo()}})
	if err != nil {
		kind := agents.Crash
		if errors.Is(err, os.ErrNotExist) {
			kind = agents.Missing
		}
		return nil, agents.Errorf(kind, agents.FromAgent, "claude: start the CLI: %w", err)
	}
	s.process = p
	s.input = cli.NewInput(p.Stdin)
	ctx, over := context.WithCancel(context.Background())
	s.over = over
	s.gate = newGate(ctx, setup.Permit, s.answer)
	s.input.Send(initialize())
	go s.follow()
	return s, nil
}

// follow reads the stream to its end.
func (s *session) follow() {
	defer close(s.read)
	r := bufio.NewReaderSize(s.process.Stdout, 64<<10)
	raw := s.record.RawTo()
	for {
		data, err := r.ReadBytes('\n') // a line may have any length
		if len(data) > 0 {
			_, _ = raw.Write(data)
			s.take(data)
		}
		if err != nil {
			s.queue.push(item{eof: true})
			return
		}
	}
}

func (s *session) take(data []byte) {
	s.decoding.Lock()
	d := s.dec.decode(data)
	var items []item
	for _, e := range d.events {
		items = append(items, item{event: e})
	}
	if d.end != nil {
		items = append(items, item{end: d.end})
	}
	s.queue.push(items...)
	refused := d.hook != nil && d.hook.refuse != ""
	late := d.hook != nil && !refused && s.gate.permit != nil && !s.dec.call(d.hook.call.ID).announced
	s.decoding.Unlock()
	if late {
		time.AfterFunc(lateness, func() { s.announce(d.hook.call) })
	}
	switch {
	case refused:
		s.gate.reply(d.hook, agents.Decision{Reason: d.hook.refuse})
	case d.hook != nil:
		s.gate.ask(d.hook)
	}
}

// announce tells of a call that was asked about and did not show up.
func (s *session) announce(c agents.ToolCall) {
	s.decoding.Lock()
	defer s.decoding.Unlock()
	if e, ok := s.dec.announce(c); ok {
		s.queue.push(item{event: e.At(time.Now())})
	}
}

func (s *session) Send(ctx context.Context, prompt string) iter.Seq2[agents.Event, error] {
	used := false
	return func(yield func(agents.Event, error) bool) {
		if used {
			yield(agents.Event{}, agents.Errorf(agents.Harness, agents.FromHarness, "claude: send: ranged over a second time"))
			return
		}
		used = true
		if err := s.begin(ctx); err != nil {
			yield(agents.Event{}, err)
			return
		}
		s.queue.forgetEnds()
		s.input.Send(userMessage(prompt))
		for {
			i, err := s.next(ctx)
			switch {
			case err != nil:
				s.interrupt()
				yield(agents.Event{}, err)
				return
			case i.eof:
				s.finish(true)
				yield(agents.Event{}, s.crash())
				return
			case i.end != nil && i.end.more:
				continue
			case i.end != nil && i.end.abrupt:
				s.interrupt()
				yield(agents.Event{}, i.end.err)
				return
			case i.end != nil:
				s.finish(i.end.err != nil)
				if i.end.err != nil {
					yield(agents.Event{}, i.end.err)
				}
				return
			}
			if !yield(i.event, nil) {
				s.interrupt()
				return
			}
			if i.event.Kind == agents.EventCall {
				s.gate.tell(i.event.Call.ID)
			}
		}
	}
}

// begin claims the session for a turn.
func (s *session) begin(ctx context.Context) *agents.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closing:
		return agents.Errorf(agents.Harness, agents.FromHarness, "claude: send: the session is closed")
	default:
	}
	switch {
	case s.broken:
		return agents.Errorf(agents.Harness, agents.FromHarness, "claude: send: the session was interrupted or has failed; open another")
	case s.turn:
		return agents.Errorf(agents.Harness, agents.FromHarness, "claude: send: the turn before is still under way")
	case ctx.Err() != nil:
		return agents.Errorf(agents.Interrupted, agents.FromHarness, "claude: send: %w", context.Cause(ctx))
	}
	s.turn = true
	return nil
}

// finish ends the turn.
func (s *session) finish(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = false
	s.broken = s.broken || broken
}

// next waits for an item. A cancellation comes before anything that is there.
func (s *session) next(ctx context.Context) (item, *agents.Error) {
	for {
		select {
		case <-ctx.Done():
			return item{}, agents.Errorf(agents.Interrupted, agents.FromHarness, "claude: send: %w", context.Cause(ctx))
		case <-s.closing:
			return item{}, agents.Errorf(agents.Interrupted, agents.FromHarness, "claude: send: the session was closed")
		default:
		}
		if i, ok := s.queue.pop(); ok {
			return i, nil
		}
		select {
		case <-ctx.Done():
		case <-s.closing:
		case <-s.queue.wake:
		}
	}
}

// crash is the error of a CLI that ended before its turn did.
func (s *session) crash() *agents.Error {
	status := "still running"
	select {
	case <-s.process.Exited():
		status = s.process.Status().String()
	case <-time.After(signalPatience):
	}
	text := s.stderr.Text()
	if text == "" {
		text = "it printed nothing on standard error"
	}
	return agents.Errorf(agents.Crash, agents.FromAgent, "claude: the CLI ended without a result (%s): %s", status, text)
}

// interrupt ends the turn that is under way, and the session with it: the CLI is asked to stop, and has a moment to say
// what came of it.
func (s *session) interrupt() {
	s.mu.Lock()
	first := s.turn && !s.broken
	s.broken = true
	s.mu.Unlock()
	if !first {
		return
	}
	s.over()
	s.decoding.Lock()
	s.dec.stopped = true
	working := s.dec.working
	s.decoding.Unlock()
	s.input.Send(control("interrupt", map[string]any{"subtype": "interrupt"}))
	patience := time.After(interruptPatience)
	if working { // what works in the background is not interrupted, and between two turns no result comes
		patience = time.After(backgroundPatience)
	}
	for ended := false; !ended; {
		if i, ok := s.queue.pop(); ok {
			ended = s.keep(i)
			continue
		}
		select {
		case <-s.queue.wake:
		case <-patience:
			ended = true
		}
	}
	s.input.Close()
	if working {
		_ = s.process.Signal(syscall.SIGTERM)
	}
	s.finish(true)
}

// keep puts an event that nobody will be yielded into the tail, and reports whether the item ends the turn.
func (s *session) keep(i item) bool {
	if i.end == nil && !i.eof {
		s.mu.Lock()
		s.tail = append(s.tail, i.event)
		s.mu.Unlock()
	}
	return i.end != nil || i.eof
}

func (s *session) Close() (agents.Final, error) {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		close(s.closing)
		s.mu.Unlock()
		s.interrupt()
		s.over()
		s.input.Close()
		for _, step := range []struct {
			signal   os.Signal
			patience time.Duration
		}{{nil, exitPatience}, {syscall.SIGTERM, signalPatience}} {
			if step.signal != nil {
				_ = s.process.Signal(step.signal)
			}
			select {
			case <-s.process.Exited():
			case <-time.After(step.patience):
				continue
			}
			break
		}
		if err := s.process.Close(); err != nil { // kills what is left
			s.closeErr = agents.Errorf(agents.Crash, agents.FromAgent, "claude: close session: %w", err)
		}
		<-s.read
		s.gate.settle()
		for {
			i, ok := s.queue.pop()
			if !ok || i.eof {
				break
			}
			s.keep(i)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.decoding.Lock()
		defer s.decoding.Unlock()
		s.final = agents.Final{Usage: s.dec.sum, Tail: s.tail, Version: s.dec.version, Model: s.dec.model}
	})
	return s.final, s.closeErr
}

// answer replies to a hook. To allow is to say nothing: the CLI's own rules hold as without a gate.
func (s *session) answer(h *hook, d agents.Decision) {
	output := map[string]any{}
	if !d.Allow {
		s.decoding.Lock()
		s.dec.call(h.call.ID).refused = true
		s.decoding.Unlock()
		reason := strings.TrimSpace(d.Reason)
		if reason == "" {
			reason = "This call is not allowed."
		}
		output["hookSpecificOutput"] = map[string]any{
			"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
	}
	s.input.Send(map[string]any{"type": "control_response",
		"response": map[string]any{"subtype": "success", "request_id": h.request, "response": output}})
}

// initialize asks the CLI to call back before each tool call. The time limit of a hook is in seconds: a decision may take
// as long as it likes.
func initialize() any {
	return control("initialize", map[string]any{"subtype": "initialize",
		// Without it the stream hides what sub-agents of sub-agents do, and all that sub-agents say.
		"forwardSubagentText": true,
		"hooks": map[string]any{"PreToolUse": []any{map[string]any{
			"matcher": nil, "hookCallbackIds": []string{"before"}, "timeout": 7 * 24 * 3600}}}})
}

func control(id string, request map[string]any) any {
	return map[string]any{"type": "control_request", "request_id": id, "request": request}
}

func userMessage(text string) any {
	return map[string]any{"type": "user", "message": map[string]any{"role": "user",
		"content": []any{map[string]any{"type": "text", "text": text}}}}
}
