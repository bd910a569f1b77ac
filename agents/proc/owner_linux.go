package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// withoutNamespace is the supervisor where PID namespaces are forbidden or not wanted.
const withoutNamespace = asGuard

func selfPath() string { return selfExe }

func describe(kind string) string {
	if kind == asInit {
		return "pid namespace"
	}
	return "subreaper"
}

// Containment is what this system gives to hold a command and its descendants together: "pid namespace", "subreaper", "process
// group" or "job object". It is found out once, by trying.
func Containment() string {
	if namespaceOff() {
		return describe(withoutNamespace)
	}
	return describe(containment())
}

// containment tries a namespace, once: whether one may be made, and be given its own /proc, depends on the user, the
// kernel's settings, the container around us and its security profile.
var containment = sync.OnceValue(func() string {
	s := &supervised{name: "probe"}
	status, err := s.launch(asProbe, nil, nil, nil)
	if err != nil {
		return withoutNamespace
	}
	defer closeAll(status, s.control, s.log)
	kind := withoutNamespace
	timeout := time.AfterFunc(startPatience, func() { s.sup.Kill() })
	defer timeout.Stop()
	readStatus(status, func(line string, _ int) {
		if line == "yes" {
			kind = asInit
		}
	})
	_, _ = s.sup.Wait() // kind is what it came to
	return kind
})

// supervisorAttr: a session of its own, or Ctrl-C and a kill of our process group would take the supervisor first.
func supervisorAttr(kind string) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if kind == asInit || kind == asProbe {
		attr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
			// The same user inside as outside: files keep their owner.
			attr.Cloneflags |= syscall.CLONE_NEWUSER
			attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
			attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
			// Or exec would take from a user other than root what the supervisor needs in order to mount.
			attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
		}
	}
	return attr
}

// statusPair is a pair of sockets rather than a pipe because it translates pids.
func statusPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	_ = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1) // without it, the pid is not known
	_ = unix.SetNonblock(fds[0], true)                                   // it fails for no open descriptor
	return os.NewFile(uintptr(fds[0]), "status"), os.NewFile(uintptr(fds[1]), "status"), nil
}

// readStatus calls line for each line until the other ends are closed. pid is that of the message's credential.
func readStatus(f *os.File, line func(text string, pid int)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	var pending []byte
	buf, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	for {
		var n, oobn int
		var rerr error
		err := conn.Read(func(fd uintptr) bool {
			n, oobn, _, _, rerr = unix.Recvmsg(int(fd), buf, oob, unix.MSG_CMSG_CLOEXEC)
			return rerr != unix.EAGAIN
		})
		if rerr == unix.EINTR {
			continue
		}
		if err != nil || rerr != nil || n <= 0 {
			return
		}
		pid := 0
		if msgs, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(msgs) > 0 {
			if cred, err := unix.ParseUnixCredentials(&msgs[0]); err == nil {
				pid = int(cred.Pid)
			}
		}
		pending = append(pending, buf[:n]...)
		for {
			text, rest, ok := bytes.Cut(pending, []byte("\n"))
			if !ok {
				break
			}
			line(string(text), pid)
			pending = rest
		}
	}
}

// logFile is a file without a name.
func logFile() *os.File {
	fd, err := unix.MemfdCreate("evaltest-supervisor-log", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "log")
}

// pidNamespace names our PID namespace: a pid means nothing without it.
var pidNamespace = sync.OnceValue(func() string {
	var b [64]byte
	n, err := unix.Readlink("/proc/self/ns/pid", b[:])
	if err != nil {
		return "0"
	}
	return string(bytes.Trim(b[:n], "pid:[]"))
})

// startTime is when a process started, as its marker says it; "" when there is no such process.
func startTime(pid int) string {
	s, ok := statOf(pid)
	if !ok || s.dead() {
		return ""
	}
	return strconv.FormatUint(s.start, 10)
}
