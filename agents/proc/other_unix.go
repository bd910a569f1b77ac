//go:build unix && !linux

package proc

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Without subreapers and PID namespaces, an orphan of the command's becomes a child of launchd or init. What is known of it
// then is its process group and, where the system shows it (macOS), the marker in its environment.

const (
	guarded          = false // a reaper that adopts nothing needs no guard
	withoutNamespace = asReaper
)

func guard()     { leave(exitBroken) }
func wakeGuard() {}

func enterNamespace() error { return errors.New("there are no PID namespaces") }
func becomeReaper() error   { return nil }

// closeOnExec keeps every descriptor but the standard ones from the command.
func closeOnExec() {
	for fd := 3; fd < 1024; fd++ {
		syscall.CloseOnExec(fd)
	}
}

func commandAttr() *syscall.SysProcAttr          { return &syscall.SysProcAttr{Setsid: true} }
func supervisorAttr(string) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func containment() string    { return asReaper }
func describe(string) string { return "process group" }
func pidNamespace() string   { return "0" }
func logFile() *os.File      { return nil }
func sayStarted(pid int)     { say("started %d", pid) }

// Containment is what this system gives to hold a command and its descendants together: "pid namespace", "subreaper", "process
// group" or "job object".
func Containment() string { return describe("") }

func selfPath() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

var childSignals = func() chan os.Signal {
	ch := make(chan os.Signal, 1)
	return ch
}()

// awaitChild returns when a child may have ended: at SIGCHLD, and now and then in case one was missed.
func awaitChild() error {
	signal.Notify(childSignals, syscall.SIGCHLD)
	select {
	case <-childSignals:
	case <-time.After(50 * time.Millisecond):
	}
	return nil
}

func statusPair() (ours, theirs *os.File, err error) { return os.Pipe() }

// readStatus calls line for each line until the other ends are closed. There are no credentials here: pid is 0.
func readStatus(f *os.File, line func(text string, pid int)) {
	var pending []byte
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		pending = append(pending, buf[:n]...)
		for {
			text, rest, ok := bytes.Cut(pending, []byte("\n"))
			if !ok {
				break
			}
			line(string(text), 0)
			pending = rest
		}
		if err != nil {
			return
		}
	}
}

// procStat is what we need of a process.
type procStat struct {
	pid, ppid, pgrp int
	comm            string
	start           string
	zombie          bool
}

// endAll ends the command's process group, the tree of processes below us, and what carries the marker.
func endAll(c *children, marker string) (left []int) {
	quiet := 0
	for deadline := time.Now().Add(endPatience); quiet < 2; time.Sleep(2 * time.Millisecond) {
		c.mu.Lock()
		if c.command != 0 { // not reaped: the group's number is still the command's
			syscall.Kill(-c.command, syscall.SIGKILL)
		}
		c.mu.Unlock()
		found := ours(os.Getpid(), func(m string) bool { return m == marker })
		if len(found) == 0 {
			quiet++
			continue
		}
		quiet = 0
		killAll(found)
		if time.Now().After(deadline) {
			return found
		}
	}
	return nil
}

// endMarked ends the processes of our user with a marker that match accepts, and their descendants. It returns those
// that did not end in time.
func endMarked(match func(marker string) bool) (left []int) {
	for deadline := time.Now().Add(endPatience); ; time.Sleep(2 * time.Millisecond) {
		found := ours(0, match)
		if len(found) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return found
		}
		killAll(found)
	}
}

func killAll(pids []int) {
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range pids {
			syscall.Kill(pid, sig)
		}
	}
}

// ours are the living processes below root (if it is not 0) and those whose marker match accepts, with their descendants.
func ours(root int, match func(string) bool) (pids []int) {
	self := os.Getpid()
	all := processes()
	var queue []procStat
	for _, s := range all {
		if s.pid <= 1 || s.pid == self || s.zombie {
			continue
		}
		m, ok := markerOf(s.pid)
		if ok && match(m) || root != 0 && s.ppid == root {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if slices.Contains(pids, s.pid) || s.pid == self {
			continue
		}
		pids = append(pids, s.pid)
		for _, k := range all {
			if k.ppid == s.pid && !k.zombie {
				queue = append(queue, k)
			}
		}
	}
	return pids
}

// startTime is when a process started, as its marker says it; "" when there is no such process, or the system does not say.
func startTime(pid int) string {
	s, ok := statOf(pid)
	if !ok || s.zombie {
		return ""
	}
	return s.start
}

func markerIn(env []byte) (string, bool) {
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(Marker+"=")); ok {
			return string(v), true
		}
	}
	return "", false
}

// ancestor names a process for good.
type ancestor struct {
	pid   int
	start string
}

func (a ancestor) alive() bool {
	s, ok := statOf(a.pid)
	return ok && s.start == a.start && !s.zombie
}

// findGo is the nearest ancestor that is the go command.
func findGo() ancestor {
	pid := os.Getppid()
	for range 16 {
		s, ok := statOf(pid)
		if !ok || pid <= 1 {
			break
		}
		if filepath.Base(s.comm) == "go" {
			return ancestor{pid, s.start}
		}
		pid = s.ppid
	}
	return ancestor{}
}
