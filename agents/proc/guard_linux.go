package proc

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guarded: on Linux a reaper has a guard.
const guarded = true

// wakeGuard lets a guard that was stopped (SIGSTOP) leave with its reaper.
func wakeGuard() {
	if os.Getpid() != 1 && os.Getppid() == parentAtStart {
		syscall.Kill(parentAtStart, syscall.SIGCONT)
	}
}

// parentAtStart is the guard of a reaper; were it gone, somebody else would be the parent.
var parentAtStart = os.Getppid()

// guardPatience is how long the guard lets the reaper do its work before it does it itself. A reaper can be stopped
// (SIGSTOP) by the agent that it watches.
const guardPatience = 700 * time.Millisecond

// guard starts the reaper and waits for its end, however it comes: what the reaper leaves becomes the guard's children. It
// does not return. Without namespaces a single supervisor would be a single point of failure: whoever kills it sets the agent
// free. Of two, each ends everything when the other is gone.
func guard() {
	if err := becomeReaper(); err != nil {
		say("unable %s", oneLine(err))
		leave(exitBroken)
	}
	var life [2]int
	if err := unix.Pipe2(life[:], unix.O_CLOEXEC); err != nil {
		say("unable %s", oneLine(err))
		leave(exitBroken)
	}
	reaper, err := syscall.ForkExec(selfExe, []string{asReaper}, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2, fdControl, fdStatus, fdStdin, fdStdout, fdStderr, uintptr(life[0])},
		// A session of its own: whoever kills the guard's process group does not reach the reaper.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		say("unable %s", oneLine(err))
		leave(exitBroken)
	}
	unix.Close(life[0])
	for fd := fdStdin; fd <= fdStderr; fd++ {
		unix.Close(fd)
	}
	reaped := make(chan syscall.WaitStatus, 1)
	var c children
	c.watch(reaper, func(ws syscall.WaitStatus) { reaped <- ws })
	hangup := make(chan struct{})
	go func() {
		// Poll for no event reports the hangup alone and reads nothing of what is meant for the reaper.
		fds := []unix.PollFd{{Fd: fdControl}}
		for {
			if n, err := unix.Poll(fds, -1); n > 0 || (err != nil && err != unix.EINTR) {
				close(hangup)
				return
			}
		}
	}()
	var ws syscall.WaitStatus = 1 << 8 // exited with a code other than 0, until known
	select {
	case ws = <-reaped:
	case <-hangup:
		syscall.Kill(reaper, syscall.SIGCONT) // the agent may have stopped it; not reaped, or reaped would have come
		select {
		case ws = <-reaped:
		case <-time.After(guardPatience):
		}
	}
	if ws.Exited() && ws.ExitStatus() == exitClean {
		leave(exitClean)
	}
	left := endAll(&c, "")
	if len(left) > 0 {
		say("left %s", strings.Trim(fmt.Sprint(left), "[]"))
	}
	say("done")
	leave(exitClean)
}
