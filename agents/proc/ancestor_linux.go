package proc

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ancestor names a process for good.
type ancestor struct {
	pid   int
	start uint64
}

func (a ancestor) alive() bool {
	s, ok := statOf(a.pid)
	return ok && s.start == a.start && !s.dead()
}

// findGo is the nearest ancestor that is the go command.
func findGo() ancestor {
	pid := os.Getppid()
	for range 16 {
		s, ok := statOf(pid)
		if !ok || pid <= 1 {
			break
		}
		if s.comm == "go" || exeName(pid) == "go" {
			return ancestor{pid, s.start}
		}
		pid = s.ppid
	}
	return ancestor{}
}

func exeName(pid int) string {
	b := make([]byte, 4096)
	n, err := unix.Readlink("/proc/"+strconv.Itoa(pid)+"/exe", b)
	if err != nil {
		return ""
	}
	return filepath.Base(string(b[:n]))
}
