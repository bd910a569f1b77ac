package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// endMarked ends the processes of our user with a marker that match accepts, and their descendants. It returns those
// that did not end in time. Supervisors come last: while one lives, orphans become its children and are found below it, even
// those that have no marker.
func endMarked(match func(marker string) bool) (left []int) {
	w := sweeper{match: match, foreign: map[int]bool{}}
	w.wake()
	looks := 3 // so many in a row must find nothing; more once there was something
	for deadline := time.Now().Add(endPatience); looks > 0; looks-- {
		w.freeze()
		found := w.find()
		if len(found) == 0 {
			continue
		}
		if time.Now().After(deadline) {
			for _, s := range found {
				left = append(left, s.pid)
			}
			return left
		}
		looks = 10
		now := slices.DeleteFunc(slices.Clone(found), isSupervisor)
		if len(now) == 0 {
			now = found
		}
		for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGKILL} {
			for _, s := range now {
				killExactly(s, sig)
			}
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// sweeper looks for marked processes.
type sweeper struct {
	match   func(string) bool
	foreign map[int]bool // pids that were found to be none of ours, not to look at them twice
}

// freeze stops the marked processes as it meets them. A look at what is new takes a fraction of a millisecond, less than a process
// needs to start another program: so it overtakes even one that hops from process to process.
func (w *sweeper) freeze() {
	for range 20 {
		for _, pid := range pids() {
			if w.foreign[pid] || !w.marked(pid) {
				continue
			}
			if s, ok := statOf(pid); ok && s.state != 'T' && !isSupervisor(s) {
				killExactly(s, unix.SIGSTOP)
			}
		}
	}
}

// wake lets supervisors that were stopped, and whose owner is gone or has hung up, do their work: they do it best.
func (w *sweeper) wake() {
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		woken := false
		for _, pid := range pids() {
			if w.foreign[pid] || !w.marked(pid) {
				continue
			}
			if s, ok := statOf(pid); ok && isSupervisor(s) {
				killExactly(s, unix.SIGCONT)
				woken = true
			}
		}
		if !woken {
			return
		}
	}
}

// find lists the marked processes and their descendants.
func (w *sweeper) find() []procStat {
	all := processes()
	tops := map[int]bool{}
	for _, s := range all {
		if !s.dead() && !w.foreign[s.pid] && w.marked(s.pid) {
			tops[s.pid] = true
		}
	}
	if len(tops) == 0 {
		return nil
	}
	return below(all, func(s procStat) bool { return tops[s.pid] })
}

// marked reports whether a process of our user carries a marker that match accepts.
func (w *sweeper) marked(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	env, err := readProc(dir + "/environ")
	if err != nil || len(env) == 0 { // it may be between two programs
		return false
	}
	m, ok := markerIn(env)
	var st unix.Stat_t
	if !ok || pid == os.Getpid() || unix.Stat(dir, &st) == nil && int(st.Uid) != os.Getuid() {
		w.foreign[pid] = true
		return false
	}
	return w.match(m) // asked each time: an owner that was killed may be dying still
}

func isSupervisor(s procStat) bool {
	b, err := readProc("/proc/" + strconv.Itoa(s.pid) + "/cmdline")
	return err == nil && bytes.HasPrefix(b, []byte(supervisorName+":"))
}

func markerIn(env []byte) (string, bool) {
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(Marker+"=")); ok {
			return string(v), true
		}
	}
	return "", false
}

// killExactly signals the process that s describes, and no other that got its pid meanwhile.
func killExactly(s procStat, sig unix.Signal) {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err != nil {
		if err != unix.ENOSYS {
			return
		}
		if now, ok := statOf(s.pid); ok && now.start == s.start {
			unix.Kill(s.pid, sig)
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := statOf(s.pid); ok && now.start == s.start {
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}
