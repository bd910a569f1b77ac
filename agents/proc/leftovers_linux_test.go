package proc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A leftover is a way in which an agent's child outlives its parent. The shell code leaves a process with $N among its
// arguments, and returns.
type leftover struct{ name, sh string }

var leftovers = []leftover{
	{"background", `sleep $N &`},
	{"setsid", `setsid sleep $N &`},
	{"double fork", `( ( sleep $N & ) & )`},
	{"double fork in new sessions", `setsid sh -c 'setsid sleep '$N' & exit 0' &`},
	{"env -i", `env -i setsid sleep $N &`},
	{"env -i, orphaned", `( env -i setsid sleep $N & )`},
	{"ignored signals", `( trap '' TERM HUP INT QUIT PIPE USR1; exec sleep $N ) &`},
	{"respawned when killed", `( while :; do sleep $N; done ) &`},
	{"fork storm", `( while :; do sleep $N & p=$!; sleep 0; kill $p; done ) 2>/dev/null & sleep $N &`},
	{"fork storm in new sessions", `i=0; while [ $i -lt 4 ]; do setsid sh "$HOP" $N 20000 & i=$((i+1)); done`},
	{"holds the output", `setsid sleep $N 2>&1 &`},
}

// hop moves to a new process and a new session as fast as a shell can, for a minute or so. It leaves a trace, for no look at the list of
// processes is sure to see it.
const hop = `echo >>"$0.trace"
[ "$2" -gt 0 ] && [ -e "$0" ] && setsid sh "$0" "$1" $(($2-1)) &
`

// hops reports whether somebody hops.
func (a agent) hops() bool {
	size := func() int64 {
		info, err := os.Stat(a.trace)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for before, looks := size(), 0; looks < 20; looks++ {
		time.Sleep(5 * time.Millisecond)
		if size() != before {
			return true
		}
	}
	return false
}

// agent is a made-up agent that leaves every leftover.
type agent struct {
	first  int // the first of the numbers that its processes are known by
	script string
	trace  string
}

var agents = make(chan struct{}, 3)

// Numbers are taken from a range per test process, to be unique on the machine.
var nextNumber atomic.Int64

func init() { nextNumber.Store(1_000_000 + rand.Int64N(80_000)*10_000) }

// It waits until not too many are at work: storms slow each other, and everything else, down.
func newAgent(t *testing.T) agent {
	agents <- struct{}{}
	t.Cleanup(func() { <-agents })
	dir := t.TempDir()
	a := agent{first: int(nextNumber.Add(20))}
	var b strings.Builder
	hopFile := filepath.Join(dir, "hop.sh")
	fmt.Fprintf(&b, "HOP=%s\n", hopFile)
	for i, l := range leftovers {
		fmt.Fprintf(&b, "N=%d\n%s\n", a.first+1+i, l.sh)
	}
	fmt.Fprintf(&b, "sleep 0.2\necho ready\nexec sleep %d\n", a.first)
	a.trace = hopFile + ".trace"
	a.script = filepath.Join(dir, fmt.Sprintf("agent%d.sh", a.first))
	os.WriteFile(hopFile, []byte(hop), 0o644)
	os.WriteFile(a.script, []byte(b.String()), 0o644)
	t.Cleanup(a.kill)
	return a
}

// running lists the processes of the agent by kind.
func (a agent) running() map[string][]int {
	found := a.look()
	const hopping = "fork storm in new sessions"
	if len(found[hopping]) == 0 && a.hops() {
		found[hopping] = []int{0}
	}
	return found
}

func (a agent) look() map[string][]int {
	found := map[string][]int{}
	for pid, args := range cmdlines() {
		for _, arg := range args {
			if arg == a.script { // the agent's shell, or one that it split off
				found["the agent"] = append(found["the agent"], pid)
				break
			}
			n, err := strconv.Atoi(arg)
			if err != nil || n < a.first || n > a.first+len(leftovers) {
				continue
			}
			name := "the agent"
			if n > a.first {
				name = leftovers[n-a.first-1].name
			}
			found[name] = append(found[name], pid)
			break
		}
	}
	return found
}

// mustRunAll fails unless each kind of leftover is there: or a test that none survives would show nothing.
func (a agent) mustRunAll(t *testing.T) {
	t.Helper()
	// A hopping process is between two lives at times.
	require.Eventually(t, func() bool { return len(a.running()) == len(leftovers)+1 }, 10*time.Second, 10*time.Millisecond,
		"not every leftover is running")
}

// bar is the promise: two seconds after whatever end, nothing is running.
const bar = 2 * time.Second

func (a agent) mustBeGone(t *testing.T) {
	t.Helper()
	begin := time.Now()
	for {
		left := a.running()
		if len(left) == 0 {
			t.Logf("gone after %v", time.Since(begin).Round(time.Millisecond))
			return
		}
		if time.Since(begin) > bar {
			a.kill()
			require.Empty(t, left, "survivors")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// kill is the tidying after a test that failed.
func (a agent) kill() {
	os.Remove(strings.TrimSuffix(a.trace, ".trace")) // ends the hopping
	for range 5 {
		for _, pids := range a.running() {
			killPids(pids)
		}
	}
}

func killPids(pids []int) {
	for _, pid := range pids {
		if pid > 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// cmdlines are the arguments of all processes, by pid. Zombies have none.
func cmdlines() map[int][]string {
	out := map[int][]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if b, err := os.ReadFile(dir + "/cmdline"); err == nil && len(b) > 0 {
			out[pid] = strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00")
		}
	}
	return out
}

// parentOf is a process's parent, 0 when it is gone.
func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	ppid, _ := strconv.Atoi(f[1])
	return ppid
}

// supervisors are those below owner, the outermost first.
func supervisors(owner int) []int {
	var found []int
	all := cmdlines()
	for _, parent := range []int{owner, 0} {
		if parent == 0 && len(found) > 0 {
			parent = found[0]
		}
		for pid, args := range all {
			if strings.HasPrefix(args[0], "evaltest-supervisor:") && parentOf(pid) == parent {
				found = append(found, pid)
			}
		}
	}
	return found
}

// endUnmarked ends the leftovers that have wiped their environment: those are beyond reach when every supervisor is killed
// at one stroke.
func (a agent) endUnmarked() {
	for name, pids := range a.running() {
		if strings.HasPrefix(name, "env -i") {
			killPids(pids)
		}
	}
}
