package codex

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/internal/cli"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// How long each step of an ending may take.
const (
	interruptPatience = 2 * time.Second // from the interruption to the turn's end
	exitPatience      = 2 * time.Second // from the end of input to the exit
	signalPatience    = time.Second     // from the signal to the exit
)

// session is a running app server with one thread.
type session struct {
	in      *inprocess.Session
	process *proc.Process
	peer    *peer
	stderr  *cli.Tail
	model   string // to ask for; "": Codex' own choice
	thread  string // its id
	decoder *decoder
	broken  bool // a turn was interrupted: what comes late is not of the next one
}

func start(in *inprocess.Session, path string, args, env []string, home, model string) (*session, error) {
	in.RawItself = true
	stderr := new(cli.Tail)
	p, err := proc.Start(proc.Command{Path: path, Args: args, Dir: in.Setup.Dir, Env: env, Stderr: cli.Both{stderr, in.Setup.Record.StderrTo()}})
	if err != nil {
		kind := agents.Crash
		if errors.Is(err, os.ErrNotExist) {
			kind = agents.Missing
		}
		return nil, agents.Errorf(kind, agents.FromAgent, "codex: start the app server: %w", err)
	}
	s := &session{in: in, process: p, stderr: stderr, model: model, decoder: newDecoder(in.Setup.Dir, home), peer: newPeer(p.Stdin, p.Stdout, in.Setup.Record.RawTo())}
	in.OnClose(s.close)
	return s, nil
}

// begin makes the thread, with the first turn: what is open and unused costs nothing.
func (s *session) begin(ctx context.Context) error {
	if s.thread != "" {
		return nil
	}
	id := s.peer.ask("initialize", map[string]any{"clientInfo": map[string]any{"name": "evaltest", "title": "evaltest", "version": "1"}})
	if _, err := s.result(ctx, id); err != nil {
		return err
	}
	s.peer.tell("initialized")
	params := map[string]any{"cwd": s.in.Setup.Dir, "approvalPolicy": "never", "sandbox": "danger-full-access", "ephemeral": true}
	if s.model != "" {
		params["model"] = s.model
	}
	if s.in.Setup.System != "" {
		params["developerInstructions"] = s.in.Setup.System
	}
	data, err := s.result(ctx, s.peer.ask("thread/start", params))
	if err != nil {
		return err
	}
	var r struct {
		Thread struct {
			ID      string `json:"id"`
			Version string `json:"cliVersion"`
			Model   string `json:"model"`
		} `json:"thread"`
		Model string `json:"model"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Thread.ID == "" {
		return agents.Errorf(agents.Protocol, agents.FromAgent, "codex: it began no thread: %.200q", data)
	}
	s.thread, s.decoder.thread = r.Thread.ID, r.Thread.ID
	if r.Model == "" {
		r.Model = r.Thread.Model
	}
	s.in.Answered(r.Thread.Version, r.Model)
	return nil
}

// result waits for the answer to a request.
func (s *session) result(ctx context.Context, id string) (json.RawMessage, error) {
	for {
		f, err := s.await(ctx)
		switch {
		case err != nil:
			return nil, err
		case f.Method != "" && len(f.ID) > 0:
			s.peer.decline(f.ID, "not now")
		case f.Method != "" || string(f.ID) != id:
		case f.Error != nil:
			return nil, agents.Errorf(agents.SetupError, agents.FromAgent, "codex: it refuses: %s", f.Error.Message)
		default:
			return f.Result, nil
		}
	}
}

// await is the next frame. A cancellation comes before anything that is there.
func (s *session) await(ctx context.Context) (frame, error) {
	for {
		if ctx.Err() != nil {
			return frame{}, inprocess.ErrCut
		}
		if f, ok := s.peer.next(); ok {
			switch {
			case f.fault != nil:
				return f, f.fault
			case f.eof:
				return f, s.crash()
			}
			return f, nil
		}
		select {
		case <-ctx.Done():
		case <-s.peer.wake:
		}
	}
}

// answer has Codex take a turn.
func (s *session) answer(t *inprocess.Turn) error {
	ctx := t.Context()
	if s.broken {
		return agents.Errorf(agents.Harness, agents.FromHarness, "codex: send: the session was interrupted; open another")
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	turn := s.peer.ask("turn/start", map[string]any{"threadId": s.thread, "input": []any{map[string]any{"type": "text", "text": t.Prompt}}})
	for {
		f, err := s.await(ctx)
		if errors.Is(err, inprocess.ErrCut) {
			s.interrupt(t)
			return err
		}
		if err != nil {
			return err
		}
		switch {
		case f.Method != "" && len(f.ID) > 0:
			if err := s.asked(f); err != nil {
				s.interrupt(t)
				return err
			}
			continue
		case f.Method == "" && string(f.ID) == turn && f.Error != nil:
			return agents.Errorf(agents.Protocol, agents.FromAgent, "codex: it takes no turn: %s", f.Error.Message)
		case f.Method == "":
			continue
		}
		events, end := s.decoder.decode(f)
		for i, e := range events {
			if t.Report(e) {
				continue
			}
			for _, late := range events[i+1:] {
				t.Late(late)
			}
			if end == nil {
				s.interrupt(t)
			}
			return inprocess.ErrCut
		}
		if end != nil {
			return end.err()
		}
	}
}

// asked answers a request of Codex'. A question to the user is one that the eval has no answer for.
func (s *session) asked(f frame) error {
	switch f.Method {
	case "item/tool/requestUserInput":
		s.peer.decline(f.ID, "there is nobody to ask")
		return agents.Errorf(agents.SetupError, agents.FromAuthor, "codex: it asks its user a question, and the eval has no answer: %.300s", f.Params)
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		s.peer.in.Send(map[string]any{"id": f.ID, "result": map[string]any{"decision": "accept"}}) // what is not to be is stopped elsewhere
		return nil
	}
	s.peer.decline(f.ID, "not supported")
	return nil
}

// interrupt ends the turn that is under way: Codex is asked to, and has a moment to say what came of it.
func (s *session) interrupt(t *inprocess.Turn) {
	s.broken = true
	if s.thread == "" || s.decoder.turn == "" {
		return
	}
	s.peer.ask("turn/interrupt", map[string]any{"threadId": s.thread, "turnId": s.decoder.turn})
	patience := time.After(interruptPatience)
	for {
		f, ok := s.peer.next()
		if !ok {
			select {
			case <-s.peer.wake:
				continue
			case <-patience:
				return
			}
		}
		if f.eof || f.fault != nil {
			return
		}
		if f.Method == "" || len(f.ID) > 0 {
			continue
		}
		events, end := s.decoder.decode(f)
		for _, e := range events {
			t.Late(e)
		}
		if end != nil {
			return
		}
	}
}

// crash is the error of a program that ended before its turn did.
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
	return agents.Errorf(agents.Crash, agents.FromAgent, "codex: the app server ended within a turn (%s): %s", status, text)
}

// close ends the program.
func (s *session) close() error {
	s.peer.in.Close()
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
	return s.process.Close() // kills what is left
}
