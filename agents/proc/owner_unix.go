//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// supervised is the owner's view of a supervisor.
type supervised struct {
	name    string
	marker  string // value of the command's marker
	control *os.File
	log     *os.File // what the supervisor prints; nil if the system has no file without a name
	sup     *os.Process
	isInit  bool

	command atomic.Int64 // pid, 0 when unknown

	started  chan error    // nil once the command runs; buffered
	ended    chan struct{} // closed when supervisor and descendants are gone
	endErr   error         // valid once ended
	closing  sync.Once
	whyEnded atomic.Pointer[string] // set when the end was ours to ask for
}

// startPatience bounds the time until the supervisor reports. The init functions of the binary run before; a busy machine
// and the race detector make them slow.
const startPatience = 60 * time.Second

// killPatience is how long the owner waits for the supervisor to end everything, before it kills it. It is longer than the
// supervisor's own patience, so that its report arrives.
const killPatience = endPatience + 2*time.Second

// lastPatience is how long the outer supervisor may take to leave once everything else is gone.
const lastPatience = time.Second

// errUnable: the supervisor could not be what it was asked to be; a weaker kind may do.
var errUnable = errors.New("")

func start(c Command, path string) (*Process, error) {
	if err := goGone(); err != nil {
		return nil, fmt.Errorf("proc: start %s: %w", c.Path, err)
	}
	kind := containment()
	if kind == asInit && (c.NoNamespace || namespaceOff()) {
		kind = withoutNamespace
	}
	p, err := startUnder(kind, c, path)
	if kind == asInit && errors.Is(err, errUnable) {
		// The probe succeeded, yet now it does not work: a limit on namespaces was reached.
		p, err = startUnder(withoutNamespace, c, path)
	}
	if err != nil {
		return nil, fmt.Errorf("proc: start %s: %w", c.Path, err)
	}
	return p, nil
}

func namespaceOff() bool { return os.Getenv("EVALTEST_NAMESPACE") == "off" }

func startUnder(kind string, c Command, path string) (*Process, error) {
	p, stdin, stdout, stderr, err := newProcess(c)
	if err != nil {
		return nil, err
	}
	defer closeAll(stdin, stdout, stderr)
	fail := func(err error) (*Process, error) {
		closeAll(p.in, p.out.f, p.errPipe)
		return nil, err
	}
	s := &supervised{name: c.Path, marker: newMarker(), isInit: kind == asInit, started: make(chan error, 1), ended: make(chan struct{})}
	status, err := s.launch(kind, stdin, stdout, stderr)
	if err != nil {
		return fail(err)
	}
	p.backend, p.containment = s, describe(kind)
	go s.follow(p, status)
	watchGo(s)

	msg := spec{Path: path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: marked(c.Env, s.marker), Marker: s.marker}.encode()
	s.control.SetWriteDeadline(time.Now().Add(startPatience))
	_, werr := s.control.Write(msg) // an error shows as the supervisor's end, with a better reason
	s.control.SetWriteDeadline(time.Time{})
	timeout := time.NewTimer(startPatience)
	defer timeout.Stop()
	select {
	case err = <-s.started:
	case <-timeout.C:
		err = fmt.Errorf("the supervisor did not answer within %v: does an init function of this binary not return? %s", startPatience, s.printed())
	}
	if err == nil && werr != nil {
		err = werr
	}
	if err != nil {
		err = startError(err, path)
		if e := s.end(); e != nil {
			err = fmt.Errorf("%w; %w", err, e)
		}
		s.forget()
		return fail(err)
	}
	p.copyStderr(c.Stderr)
	return p, nil
}

// startError dresses the error number of a program's start as os.StartProcess does.
func startError(err error, path string) error {
	if errno, ok := err.(syscall.Errno); ok {
		return &os.PathError{Op: "fork/exec", Path: path, Err: errno}
	}
	return err
}

// launch starts a supervisor and returns our end of its status.
func (s *supervised) launch(kind string, stdin, stdout, stderr *os.File) (status *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer controlR.Close()
	status, statusW, err := statusPair()
	if err != nil {
		controlW.Close()
		return nil, err
	}
	defer statusW.Close()
	if stdin == nil { // a probe
		stdin, stdout, stderr = null, null, null
	}
	s.control, s.log = controlW, logFile()
	log := s.log
	if log == nil {
		log = null
	}
	s.sup, err = os.StartProcess(selfPath(), []string{kind}, &os.ProcAttr{
		Dir:   "/",
		Env:   append(supervisorEnv(), Marker+"="+s.marker),
		Files: []*os.File{null, null, log, controlR, statusW, stdin, stdout, stderr},
		Sys:   supervisorAttr(kind),
	})
	if err != nil {
		closeAll(controlW, status, s.log)
		return nil, fmt.Errorf("start the supervisor (this binary again): %w%w", err, errUnable)
	}
	return status, nil
}

// supervisorEnv is what the dynamic linker and the runtime may need, and no more: in a namespace, and below a reaper, the agent
// can read its supervisor's environment.
func supervisorEnv() []string {
	var env []string
	for _, k := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "GODEBUG"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// follow reads the status until every supervisor is gone, and ends what was left by one that was killed.
func (s *supervised) follow(p *Process, status *os.File) {
	cleaned, started := false, false
	var left string
	var last *time.Timer
	readStatus(status, func(line string, pid int) {
		verb, rest, _ := strings.Cut(line, " ")
		n, _ := strconv.ParseUint(rest, 10, 32)
		switch verb {
		case "started":
			started = true
			if rest != "credential" {
				pid = int(n)
			}
			s.command.Store(int64(pid))
			s.started <- nil
		case "failed":
			started = true
			s.started <- syscall.Errno(n)
		case "unable":
			started = true
			s.started <- fmt.Errorf("%s%w", rest, errUnable)
		case "exit":
			p.finish(exitStatus(syscall.WaitStatus(n)))
		case "left":
			left = rest
		case "done":
			cleaned = true
			// The other of two supervisors leaves now by itself, unless it was stopped.
			last = time.AfterFunc(lastPatience, func() { s.sup.Kill() })
		}
	})
	status.Close()
	state, _ := s.sup.Wait()
	if last != nil {
		last.Stop()
	}
	s.forget()
	if !cleaned && !s.isInit {
		// Every supervisor was killed at one stroke. What carries our marker can still be found.
		if pids := endMarked(func(m string) bool { return m == s.marker }); len(pids) > 0 {
			left = strings.Trim(fmt.Sprint(pids), "[]")
		}
	}
	if left != "" {
		s.endErr = fmt.Errorf("processes that could not be ended: %s", left)
	}
	why := s.whyEnded.Load()
	lost := fmt.Sprintf("its supervisor died (%v)%s", state, s.printed())
	if !started {
		s.started <- errors.New(lost)
	}
	switch {
	case why == nil:
		p.finish(ExitStatus{Code: -1, Lost: lost})
	case *why == "":
		p.finish(ExitStatus{Code: -1, Signal: syscall.SIGKILL})
	default:
		p.finish(ExitStatus{Code: -1, Signal: syscall.SIGKILL, Lost: *why})
	}
	if s.log != nil {
		s.log.Close()
	}
	close(s.ended)
}

func exitStatus(ws syscall.WaitStatus) ExitStatus {
	if ws.Signaled() {
		return ExitStatus{Code: -1, Signal: ws.Signal()}
	}
	return ExitStatus{Code: ws.ExitStatus()}
}

// printed is the beginning of what the supervisor printed to standard error: a panic of some init function.
func (s *supervised) printed() string {
	if s.log == nil {
		return ""
	}
	b := make([]byte, 2048)
	n, err := s.log.ReadAt(b, 0)
	if err != nil && err != io.EOF || n == 0 {
		return ""
	}
	return "; it printed: " + strings.TrimSpace(string(b[:n]))
}

// hangUp tells the supervisor to end everything. why is "" when it was asked for.
func (s *supervised) hangUp(why string) {
	s.closing.Do(func() {
		s.whyEnded.Store(&why)
		s.control.Close()
		s.sup.Signal(syscall.SIGCONT) // the agent may have stopped it
	})
}

func (s *supervised) end() error {
	s.hangUp("")
	timeout := time.NewTimer(killPatience)
	defer timeout.Stop()
	select {
	case <-s.ended:
		return s.endErr
	case <-timeout.C:
	}
	if !s.isInit { // both supervisors were stopped: end what they hold, and them
		endMarked(func(m string) bool { return m == s.marker })
	}
	s.sup.Kill()
	timeout.Reset(2 * time.Second)
	select {
	case <-s.ended:
		return s.endErr
	case <-timeout.C:
		return fmt.Errorf("the supervisor (pid %d) does not end: a process may wait in the kernel", s.sup.Pid)
	}
}

func (s *supervised) pid() int { return int(s.command.Load()) }

func (s *supervised) signal(sig os.Signal) error {
	n, ok := sig.(syscall.Signal)
	if !ok || n < 0 || n > 127 {
		return fmt.Errorf("proc: signal %s: unsupported signal %v", s.name, sig)
	}
	if _, err := s.control.Write([]byte{'s', byte(n)}); err != nil {
		return os.ErrProcessDone
	}
	return nil
}
