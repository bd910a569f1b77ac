//go:build unix

package proc

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A supervisor is this very binary, started again under one of these names. The name is argv[0], which, other than a
// variable, no descendant inherits.
const (
	supervisorName = "evaltest-supervisor"
	// asInit is pid 1 of a PID namespace.
	asInit = supervisorName + ":init"
	// asReaper adopts orphans (Linux) or leads sessions (elsewhere) and is the parent of the command.
	asReaper = supervisorName + ":reaper"
	// asGuard is the parent of asReaper, and takes over when that is killed.
	asGuard = supervisorName + ":guard"
	// asProbe enters a namespace, says so, and leaves.
	asProbe = supervisorName + ":probe"
)

// The descriptors of a supervisor. Standard input, output and error are its own: an init function of the author's
// that runs before ours may print. What it prints to standard error is kept for the error message.
const (
	fdControl  = 3 // read: the spec, then signals; its end means that the owner wants, or has met, the end
	fdStatus   = 4 // write: what happens to the command, a line each
	fdStdin    = 5
	fdStdout   = 6
	fdStderr   = 7
	fdLifeline = 8 // reaper, read: its end means that the guard is gone
)

// Exit codes of a supervisor.
const (
	exitClean  = 0
	exitBroken = 90 // no owner, or no spec
)

func init() {
	if len(os.Args) != 1 || !strings.HasPrefix(os.Args[0], supervisorName+":") {
		return
	}
	// Every signal that can be caught is swallowed: only the owner ends a supervisor. Notify, not Ignore: an ignored signal
	// would stay ignored in the command. The init goroutine is bound to the main thread, which lives as long
	// as the process: what is tied to the parent's thread (Pdeathsig) is safe from here.
	signal.Notify(make(chan os.Signal, 1))
	closeOnExec() // ours, and what the owner itself inherited: a shell's, a CI system's
	switch os.Args[0] {
	case asInit, asReaper:
		supervise(os.Args[0] == asInit)
	case asGuard:
		guard()
	case asProbe:
		if err := enterNamespace(); err != nil {
			say("no %s", oneLine(err))
		} else {
			say("yes")
		}
	}
	leave(exitClean)
}

// leave is exit_group and nothing else: os.Exit runs hooks, writes coverage, and sleeps for a second under the race detector.
func leave(code int) {
	for {
		unix.Exit(code)
	}
}

// say writes one line to the owner. An owner that is gone is noticed on the control pipe.
func say(format string, args ...any) {
	_, _ = unix.Write(fdStatus, fmt.Appendf(nil, format+"\n", args...))
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// fdReader reads a descriptor without the runtime's poller.
type fdReader int

func (fd fdReader) Read(b []byte) (int, error) {
	for {
		switch n, err := unix.Read(int(fd), b); {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, errHangup
		default:
			return n, nil
		}
	}
}

var errHangup = fmt.Errorf("hangup")

// supervise starts the command, reports, and ends everything when the owner says so or is gone. It does not return.
func supervise(asInit bool) {
	enter := becomeReaper
	if asInit {
		enter = enterNamespace
	}
	if err := enter(); err != nil {
		say("unable %s", oneLine(err))
		leave(exitBroken)
	}
	s, err := readSpec(fdReader(fdControl))
	if err != nil {
		leave(exitBroken)
	}
	for fd := fdStdin; fd <= fdStderr; fd++ {
		_ = unix.SetNonblock(fd, false) // programs expect blocking descriptors, and the flag is shared with whoever made the pipe
	}
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []uintptr{fdStdin, fdStdout, fdStderr}, Sys: commandAttr(),
	})
	if err != nil {
		errno, _ := err.(syscall.Errno)
		say("failed %d", int(errno))
		say("done")
		leave(exitClean)
	}
	for fd := fdStdin; fd <= fdStderr; fd++ {
		unix.Close(fd) // or the owner would never see the end of the output
	}
	sayStarted(pid)

	var c children
	c.watch(pid, func(ws syscall.WaitStatus) { say("exit %d", uint32(ws)) })
	end := make(chan struct{}, 2)
	go func() {
		var msg [2]byte // 's', signal number
		for {
			if _, err := readFull(fdReader(fdControl), msg[:]); err != nil {
				end <- struct{}{}
				return
			}
			if msg[0] == 's' {
				c.signal(syscall.Signal(msg[1]))
			}
		}
	}()
	if !asInit && guarded {
		go func() {
			var b [1]byte
			_, _ = fdReader(fdLifeline).Read(b[:]) // whatever it returns, the other end is closed
			end <- struct{}{}
		}()
	}
	<-end
	if !asInit { // else the kernel ends the namespace with us, and the owner's wait returns after that
		if left := endAll(&c, s.Marker); len(left) > 0 {
			say("left %s", strings.Trim(fmt.Sprint(left), "[]"))
		}
	}
	say("done")
	wakeGuard()
	leave(exitClean)
}

func readFull(r fdReader, b []byte) (int, error) {
	for n := 0; n < len(b); {
		m, err := r.Read(b[n:])
		if err != nil {
			return n, err
		}
		n += m
	}
	return len(b), nil
}

// children are the processes whose parent we are, or became.
type children struct {
	mu      sync.Mutex
	command int // 0 when it was reaped: its pid may be another's by now
	// none is closed when there is no child, alive or not. As a supervisor starts nothing but its command, and as on
	// Linux orphans become its children, there is then no descendant either, and will never be one.
	none chan struct{}
}

// watch reaps in the background. ended is called once, when the command has ended.
func (c *children) watch(command int, ended func(syscall.WaitStatus)) {
	c.command, c.none = command, make(chan struct{})
	go func() {
		for {
			switch err := awaitChild(); err {
			case nil:
			case unix.EINTR:
				continue
			default:
				close(c.none)
				return
			}
			c.mu.Lock()
			var ws syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
			if err == nil && pid == command && c.command == command {
				c.command = 0
				ended(ws)
			}
			c.mu.Unlock()
			if err == syscall.ECHILD {
				close(c.none)
				return
			}
		}
	}()
}

func (c *children) signal(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.command != 0 {
		syscall.Kill(c.command, sig)
	}
}

// endPatience bounds how long a supervisor tries to end what does not end.
const endPatience = 5 * time.Second
