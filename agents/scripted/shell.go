package scripted

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// errCut says that a call was interrupted while it ran.
var errCut = inprocess.ErrCut

// shell runs commands. They are children of one supervised process, a dispatcher: so they are in one PID namespace, where
// a command finds the processes of an earlier one, as on a real machine; and one supervisor is started, not one a command.
// The dispatcher is itself a shell, which reads commands to start from its standard input and reports ends on its output.
//
// Output goes to a file, not to a pipe: a server that a command leaves behind neither delays the command's end nor blocks
// when nobody reads.
type shell struct {
	setup agents.Setup

	mu     sync.Mutex
	own    string // folder of our own: output of commands, and HOME and TMPDIR when none are given. "": not made yet
	host   *host  // nil: none is running
	n      int    // commands so far
	closed bool
}

// defaultSignals has commands begin with the default answer to interrupts: a shell ignores them in what it starts in the background,
// and a command could not change that. Where env cannot do it, they stay ignored.
const defaultSignals = "E='env --default-signal=INT,QUIT'; $E true 2>/dev/null || E=\n"

// host is a dispatcher.
type host struct {
	p     *proc.Process
	write sync.Mutex
	mu    sync.Mutex
	ends  map[int]chan int // exit codes of commands under way, by number; closed when the dispatcher is gone
	gone  chan struct{}    // closed when nothing can be reported any more
}

// run runs a command and returns its output, also when it fails. When ctx is done it ends the command and everything that
// runs beside it, and returns errCut. An *agents.Error says that no command could be run.
func (s *shell) run(ctx context.Context, command string) (output string, err error) {
	if strings.ContainsRune(command, 0) {
		return "", errors.New("the command contains a NUL byte")
	}
	h, n, err := s.start()
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.own, strconv.Itoa(n)+".out")
	defer os.Remove(file)
	ended := h.await(n)
	line := fmt.Sprintf("{ $E sh -c %s </dev/null >%s 2>&1; echo %d $?; } &\n", quote(command), quote(file), n)
	if err := h.send(line); err != nil && ctx.Err() == nil {
		return "", agents.Errorf(agents.Crash, agents.FromAgent, "scripted: run command: the shell is gone: %w", err)
	}
	select {
	case code, ok := <-ended:
		return s.result(ctx, file, code, ok)
	case <-ctx.Done():
	}
	closeErr := s.end(h)
	select {
	case code, ok := <-ended: // it may have ended by itself just then
		if ok {
			return s.result(ctx, file, code, ok)
		}
	default:
	}
	out, readErr := beginning(file)
	return out, errors.Join(errCut, closeErr, readErr)
}

// result is what a command that has ended came to.
func (s *shell) result(ctx context.Context, file string, code int, ok bool) (string, error) {
	out, err := beginning(file)
	switch {
	case !ok && ctx.Err() != nil:
		return out, errCut // another call was cut, and all of them with it
	case !ok:
		return out, agents.Errorf(agents.Crash, agents.FromAgent, "scripted: run command: the shell has gone while it ran")
	case err != nil:
		return out, agents.Errorf(agents.Harness, agents.FromHarness, "scripted: run command: %w", err)
	case code != 0:
		return out, fmt.Errorf("exit status %d", code)
	}
	return out, nil
}

// prepare starts a dispatcher ahead of time. An error comes again with the first command.
func (s *shell) prepare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.ensure()
}

// start numbers a command and makes sure that a dispatcher is running.
func (s *shell) start() (*host, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ensure(); err != nil {
		return nil, 0, err
	}
	s.n++
	return s.host, s.n, nil
}

func (s *shell) ensure() error {
	switch {
	case s.closed:
		return errCut
	case s.host != nil:
		return nil
	}
	if err := s.launch(); err != nil {
		return agents.Errorf(agents.SetupError, agents.FromHarness, "scripted: run command: %w", err)
	}
	return nil
}

func (s *shell) launch() error {
	if s.own == "" {
		// In the session's TMPDIR where there is one: then whoever made that removes this too, should we be killed.
		own, err := os.MkdirTemp(s.setup.Temp, ".scripted-")
		if err != nil {
			return err
		}
		s.own = own
		for name, dir := range map[string]*string{"home": &s.setup.Home, "temp": &s.setup.Temp} {
			if *dir == "" {
				*dir = filepath.Join(own, name)
				if err := os.Mkdir(*dir, 0o700); err != nil {
					return err
				}
			}
		}
	}
	p, err := proc.Start(proc.Command{
		Path:   "sh",
		Dir:    s.setup.Dir,
		Env:    proc.Environ(s.setup.Home, s.setup.Temp, nil, s.setup.Env...),
		Stderr: s.setup.Record.StderrTo(),
	})
	if err != nil {
		return err
	}
	s.host = &host{p: p, ends: map[int]chan int{}, gone: make(chan struct{})}
	go s.host.listen()
	return s.host.send(defaultSignals)
}

// end ends h with everything that it started. The next command gets another one.
func (s *shell) end(h *host) error {
	s.mu.Lock()
	if s.host == h {
		s.host = nil
	}
	s.mu.Unlock()
	err := h.p.Close()
	<-h.gone
	return err
}

// close ends everything, for good.
func (s *shell) close() error {
	s.mu.Lock()
	h, own := s.host, s.own
	s.closed = true
	s.mu.Unlock()
	var errs []error
	if h != nil {
		errs = append(errs, s.end(h))
	}
	if own != "" {
		errs = append(errs, os.RemoveAll(own))
	}
	return errors.Join(errs...)
}

// listen reads what the dispatcher reports.
func (h *host) listen() {
	for lines := bufio.NewScanner(h.p.Stdout); lines.Scan(); {
		var n, code int
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &n, &code); err != nil {
			continue
		}
		h.mu.Lock()
		if c := h.ends[n]; c != nil {
			delete(h.ends, n)
			c <- code
		}
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.gone)
	for _, c := range h.ends {
		close(c)
	}
	h.ends = nil
}

// await is where the exit code of the command with this number comes.
func (h *host) await(n int) <-chan int {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan int, 1)
	if h.ends == nil {
		close(c)
	} else {
		h.ends[n] = c
	}
	return c
}

func (h *host) send(line string) error {
	h.write.Lock()
	defer h.write.Unlock()
	_, err := io.WriteString(h.p.Stdin, line)
	return err
}

// beginning is the beginning of what a command has written so far.
func beginning(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return "", nil // interrupted before the shell had come to it
		}
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	size := int64(len(data))
	if info, statErr := f.Stat(); statErr == nil {
		size = max(size, info.Size())
	}
	return bounded(string(data), size), err
}

// quote is text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
