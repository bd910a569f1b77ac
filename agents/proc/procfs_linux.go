package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procStat is what we need of /proc/PID/stat.
type procStat struct {
	pid, ppid, pgrp int
	comm            string
	state           byte   // R S D T Z X …
	start           uint64 // clock ticks after boot: with the pid, it names a process for good
}

// dead: it runs no code any more, though its parent may not have asked for its status.
func (s procStat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// readProc reads a small file without the os package, which would note it as an input of the running test.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, 0, 1024)
	for {
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return b, err
		}
		if b = b[:len(b)+n]; len(b) == cap(b) {
			b = append(b, make([]byte, 3*cap(b))...)[:len(b)]
		}
	}
}

// statOf reads /proc/PID/stat. The second field is the program's name in parentheses and may itself hold anything.
func statOf(pid int) (s procStat, ok bool) {
	b, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, false
	}
	open, shut := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || shut < open {
		return s, false
	}
	f := strings.Fields(string(b[shut+1:]))
	if len(f) < 20 {
		return s, false
	}
	s.pid, s.comm, s.state = pid, string(b[open+1:shut]), f[0][0]
	s.ppid, _ = strconv.Atoi(f[1])
	s.pgrp, _ = strconv.Atoi(f[2])
	s.start, _ = strconv.ParseUint(f[19], 10, 64)
	return s, true
}

// processes lists all that are visible in /proc.
func processes() []procStat {
	pids := pids()
	out := make([]procStat, 0, len(pids))
	for _, pid := range pids {
		if s, ok := statOf(pid); ok {
			out = append(out, s)
		}
	}
	return out
}

func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	out := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// descendants are the living processes below root. A dead one can have living children only while it is being reaped:
// they are looked for as well.
func descendants(root int) []procStat {
	return below(processes(), func(s procStat) bool { return s.ppid == root })
}

// below returns the living among the processes for which top holds, and their descendants.
func below(all []procStat, top func(procStat) bool) []procStat {
	kids := map[int][]procStat{}
	var queue, out []procStat
	for _, s := range all {
		kids[s.ppid] = append(kids[s.ppid], s)
		if top(s) {
			queue = append(queue, s)
		}
	}
	seen := map[int]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if seen[s.pid] {
			continue
		}
		seen[s.pid] = true
		if !s.dead() {
			out = append(out, s)
		}
		queue = append(queue, kids[s.pid]...)
	}
	return out
}
