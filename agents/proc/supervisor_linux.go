package proc

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// selfExe is the running binary, even when its file was deleted or replaced meanwhile.
const selfExe = "/proc/self/exe"

// enterNamespace makes the new PID namespace whole: a /proc of its own, in the private mount namespace, so that its
// processes see each other and nobody else.
func enterNamespace() error {
	if os.Getpid() != 1 {
		return fmt.Errorf("not the first process of a namespace")
	}
	// Mounts of the host still appear (slave), ours do not get out.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	// The command gets no capability that its user has not outside. Capabilities belong to threads: this is the main one, which
	// forks.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// closeOnExec keeps every descriptor but the standard ones from the command.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) != nil { // before Linux 5.11
		for fd := 3; fd < 1024; fd++ {
			unix.CloseOnExec(fd)
		}
	}
}

// becomeReaper makes orphaned descendants our children instead of init's.
func becomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a child subreaper: %w", err)
	}
	return nil
}

// commandAttr: a session of its own, so that every process group below is the command's or its descendants' and can be
// killed as a group; and, as a last resort, death with its supervisor.
func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitChild returns nil when a child has ended, which it leaves unreaped, and ECHILD when there is none.
func awaitChild() error {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
}

// sayStarted reports the command's pid: from a namespace, where our number says nothing to the owner, as a credential
// that the kernel translates.
func sayStarted(pid int) {
	if os.Getpid() != 1 {
		say("started %d", pid)
		return
	}
	cred := unix.UnixCredentials(&unix.Ucred{Pid: int32(pid), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())})
	if err := unix.Sendmsg(fdStatus, []byte("started credential\n"), cred, nil, 0); err != nil {
		say("started 0")
	}
}

// endAll ends every descendant: again and again until there is no child. It returns the pids of what could not be ended in
// time.
//
// Killing our children suffices, as the orphans that this makes are our children next, and it is safe: nobody reaps meanwhile, so a pid
// is not another's. A look at the children takes microseconds, less than a process needs to become another one: so it overtakes
// a chain of forks in ever new sessions. Process groups go at one stroke, a fork in flight included: so a storm of forks ends.
// Now and then, and where the kernel does not list children, the whole tree is frozen and killed.
func endAll(c *children, _ string) (left []int) {
	self := os.Getpid()
	for begin, round := time.Now(), 0; ; round++ {
		select {
		case <-c.none:
			return nil
		default:
		}
		listed := c.kill()
		if listed && round%100 != 99 {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		ds := descendants(self)
		if time.Since(begin) > endPatience {
			for _, d := range ds {
				left = append(left, d.pid)
			}
			return append(left, -1)[:max(len(left), 1)] // what is not seen is there all the same
		}
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, d := range ds {
				syscall.Kill(d.pid, sig)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// kill kills our children and their process groups. It is false if the kernel does not list children.
func (c *children) kill() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The kernel gives orphans to the first living thread, and the main thread, which runs init, is the one that forks.
	b, err := readProc(childrenFile)
	if err != nil {
		return false
	}
	for field := range bytes.FieldsSeq(b) {
		pid, _ := strconv.Atoi(string(field))
		if pid <= 1 {
			continue
		}
		// Every child has left our session when it was started, so no group is ours.
		if group, err := unix.Getpgid(pid); err == nil && group > 1 && group != unix.Getpgrp() {
			syscall.Kill(-group, syscall.SIGKILL)
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return true
}

var childrenFile = fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())
