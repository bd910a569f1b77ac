package evaltest_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/proc"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// leftovers are the ways in which a command leaves a process behind, as testdata/survive/starter/leave.sh knows them.
var leftovers = []string{
	"background", "setsid", "double-fork", "double-fork-in-new-sessions", "env-i", "env-i-orphaned", "ignored-signals",
	"respawned-when-killed", "nohup",
}

// nextNumber: leftovers are known by a number among their arguments, unique on the machine.
var nextNumber atomic.Int64

func init() { nextNumber.Store(900_000_000 + rand.Int64N(90_000)*1000) }

// goTest is a `go test` under way. All that it starts has the name of its folder in its environment or its arguments, or,
// where it has wiped the one, a number in the other.
type goTest struct {
	cmd    *exec.Cmd
	dir    string // of our own, removed at the end: its TMPDIR with what killed processes leave there, its records, its output
	first  int    // the first of the numbers
	binary int    // pid of the test binary
	ended  chan struct{}
	err    error // valid once ended
}

// startGoTest runs `go test` in a process group of its own, as a shell does.
func startGoTest(t *testing.T, module string, env, args []string) *goTest {
	r := &goTest{dir: t.TempDir(), first: int(nextNumber.Add(50)), ended: make(chan struct{})}
	require.NoError(t, os.Mkdir(filepath.Join(r.dir, "tmp"), 0o777))
	var commands strings.Builder
	for i, kind := range leftovers {
		fmt.Fprintf(&commands, "sh ./leave.sh %s %d\n", kind, r.first+i)
	}
	fmt.Fprintf(&commands, "sh ./hold.sh %s\n", r.dir)

	r.cmd = exec.Command("go", append(append([]string{"test", "-count=1"}, args...), ".")...)
	r.cmd.Dir = module
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ANTHROPIC_") && !strings.HasPrefix(kv, "CLAUDE") && !strings.HasPrefix(kv, "EVALTEST_") {
			r.cmd.Env = append(r.cmd.Env, kv)
		}
	}
	r.cmd.Env = append(r.cmd.Env, env...)
	r.cmd.Env = append(r.cmd.Env, "EVALTEST_RETRIES=0", "TMPDIR="+filepath.Join(r.dir, "tmp"), "EVALTEST_DIR="+r.records(), "SURVIVE_COMMANDS="+commands.String())
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.Create(r.outputFile()) // a file: with a pipe, who holds it would be waited for
	require.NoError(t, err)
	defer out.Close()
	r.cmd.Stdout, r.cmd.Stderr = out, out
	require.NoError(t, r.cmd.Start())
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	t.Cleanup(r.kill)
	return r
}

func (r *goTest) records() string    { return filepath.Join(r.dir, "run") }
func (r *goTest) outputFile() string { return filepath.Join(r.dir, "output") }

// output is what `go test` has printed.
func (r *goTest) output() string {
	data, _ := os.ReadFile(r.outputFile())
	return string(data)
}

// wait returns what `go test` ended with, or context.DeadlineExceeded.
func (r *goTest) wait(d time.Duration) error {
	select {
	case <-r.ended:
		return r.err
	case <-time.After(d):
		return context.DeadlineExceeded
	}
}

// holds waits until the last command holds and every leftover is running: or a test that none survives would show
// nothing. It is false when `go test` ended before.
func (r *goTest) holds(t *testing.T) bool {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		select {
		case <-r.ended:
			return false
		default:
		}
		if _, err := os.Stat(filepath.Join(r.dir, "holding")); err == nil && r.allRun() {
			break
		}
		if time.Since(begin) > 3*time.Minute {
			require.FailNow(t, "the agent does not come to its last command", "running: %v\n%s", r.running(), r.output())
		}
	}
	run, err := journal.Read(r.records())
	require.NoError(t, err)
	require.Len(t, run.Trials, 1, "the intent is on disk before the agent starts")
	r.binary = run.Trials[0].Intent.PID
	return cmdline(r.binary) != nil
}

func (r *goTest) allRun() bool {
	running := r.running()
	for _, kind := range leftovers {
		if len(running[kind]) == 0 {
			return false
		}
	}
	return true
}

// release ends the last command.
func (r *goTest) release(t *testing.T) {
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "release"), nil, 0o666))
}

// supervisor is the outermost process of those that hold the agent's.
func (r *goTest) supervisor(t *testing.T) int {
	for _, pid := range processes() {
		if args := cmdline(pid); len(args) > 0 && strings.HasPrefix(args[0], "evaltest-supervisor:") && parent(pid) == r.binary {
			return pid
		}
	}
	require.FailNow(t, "the test binary has no supervisor")
	return 0
}

// running are all living processes of this `go test`: leftovers by their kind, the others by their command line.
func (r *goTest) running() map[string][]int {
	found := map[string][]int{}
	for _, pid := range processes() {
		if name := r.name(pid); name != "" && pid != os.Getpid() {
			found[name] = append(found[name], pid)
		}
	}
	return found
}

// name says what a process is; "": none of ours. A zombie has neither arguments nor environment.
func (r *goTest) name(pid int) string {
	args := cmdline(pid)
	line := strings.Join(args, " ")
	for _, arg := range args {
		if n, err := strconv.Atoi(arg); err == nil && n >= r.first && n < r.first+len(leftovers) && args[0] == "sleep" {
			return leftovers[n-r.first]
		}
	}
	for n := range leftovers {
		if strings.Contains(line, strconv.Itoa(r.first+n)) {
			return line
		}
	}
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if bytes.Contains(environ, []byte("GO_TELEMETRY_CHILD=")) {
		return "" // once a day the go command leaves one behind itself, for a moment
	}
	marker := fmt.Sprintf("%s=%d.", proc.Marker, r.binary)
	if strings.Contains(line, r.dir) || bytes.Contains(environ, []byte(r.dir)) || r.binary != 0 && bytes.Contains(environ, []byte(marker)) {
		return line
	}
	return ""
}

// kill is the tidying after a test that failed.
func (r *goTest) kill() {
	syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	<-r.ended
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
		running := r.running()
		if len(running) == 0 {
			return
		}
		for _, pids := range running {
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// processes are the pids of all processes.
func processes() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cmdline is the arguments of a process; nil when it is gone, or a zombie.
func cmdline(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

// parent is the pid of a process's parent; 0 when it is gone.
func parent(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// listeningSockets are the addresses of all sockets that listen, by the number of their inode.
func listeningSockets() map[string]string {
	found := map[string]string{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, _ := os.ReadFile(table)
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				found[f[9]] = f[1]
			}
		}
	}
	return found
}

// listeners are those that a process holds.
func listeners(pid int) map[string]string {
	found, all := map[string]string{}, listeningSockets()
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		link, _ := os.Readlink(fd)
		if inode, ok := strings.CutPrefix(link, "socket:["); ok {
			inode = strings.TrimSuffix(inode, "]")
			if address, ok := all[inode]; ok {
				found[inode] = address
			}
		}
	}
	return found
}
