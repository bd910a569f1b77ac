package proc_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/proc"
)

// TestMain: with PROC_TEST_HANG the test binary is an owner that starts the agent in the named script and hangs.
func TestMain(m *testing.M) {
	if script := os.Getenv("PROC_TEST_HANG"); script != "" {
		p, err := proc.Start(proc.Command{Path: "sh", Args: []string{script}, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil {
			panic(err)
		}
		r := bufio.NewReader(p.Stdout)
		line, _ := r.ReadString('\n')
		os.Stdout.WriteString(line)
		r.ReadString('\n')
		<-p.Exited()
		os.Stdout.WriteString(p.Status().String() + "\n")
		time.Sleep(time.Hour)
	}
	code := m.Run()
	removeHangDir()
	os.Exit(code)
}

// owner starts the test binary as an owner in a process group of its own, and returns when every leftover is running.
func owner(t *testing.T, a agent, noNamespace bool) (*exec.Cmd, *bufio.Reader) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "PROC_TEST_HANG="+a.script)
	if noNamespace {
		cmd.Env = append(cmd.Env, "EVALTEST_NAMESPACE=off")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	a.mustRunAll(t)
	return cmd, r
}

func TestNothingSurvivesClose(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, noNamespace bool) {
		a := newAgent(t)
		p, err := proc.Start(proc.Command{Path: "sh", Args: []string{a.script}, Env: os.Environ(), NoNamespace: noNamespace})
		require.NoError(t, err)
		defer p.Close()
		line, err := bufio.NewReader(p.Stdout).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
		a.mustRunAll(t)
		require.NoError(t, p.Close())
		assert.Empty(t, a.running(), "Close returned while something was running")
	})
}

func TestNothingSurvivesTheCommand(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, noNamespace bool) {
		a := newAgent(t)
		p, err := proc.Start(proc.Command{Path: "sh", Args: []string{a.script}, Env: os.Environ(), NoNamespace: noNamespace})
		require.NoError(t, err)
		defer p.Close()
		bufio.NewReader(p.Stdout).ReadString('\n')
		a.mustRunAll(t)
		require.NoError(t, p.Signal(syscall.SIGTERM))
		assert.Equal(t, syscall.SIGTERM, p.Status().Signal)
		left := a.running()
		delete(left, "the agent")
		assert.NotEmpty(t, left, "the command's end alone ends nothing else")
		require.NoError(t, p.Close())
		assert.Empty(t, a.running())
	})
}

func TestNothingSurvivesTheOwner(t *testing.T) {
	t.Parallel()
	ends := []struct {
		name string
		end  func(owner int) error
	}{
		{"kill -9 of the test binary", func(owner int) error { return syscall.Kill(owner, syscall.SIGKILL) }},
		{"kill -9 of its process group", func(owner int) error { return syscall.Kill(-owner, syscall.SIGKILL) }},
		{"SIGTERM", func(owner int) error { return syscall.Kill(owner, syscall.SIGTERM) }},
		{"a crash", func(owner int) error { return syscall.Kill(owner, syscall.SIGQUIT) }},
	}
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			forModes(t, func(t *testing.T, noNamespace bool) {
				a := newAgent(t)
				cmd, _ := owner(t, a, noNamespace)
				require.NoError(t, e.end(cmd.Process.Pid))
				a.mustBeGone(t)
			})
		})
	}
}

func TestNothingSurvivesTheSupervisor(t *testing.T) {
	t.Parallel()
	kill := func(sig syscall.Signal, which ...int) func([]int) {
		return func(pids []int) {
			for _, i := range which {
				syscall.Kill(pids[i], sig)
			}
		}
	}
	ends := []struct {
		name        string
		noNamespace bool
		end         func(supervisors []int)
		marked      bool // only what carries the marker is certain to end
	}{
		{"namespace, kill -9", false, kill(syscall.SIGKILL, 0), false},
		{"subreaper, kill -9 of the guard", true, kill(syscall.SIGKILL, 0), false},
		{"subreaper, kill -9 of the reaper", true, kill(syscall.SIGKILL, 1), false},
		{"subreaper, kill -9 of both", true, kill(syscall.SIGKILL, 0, 1), true},
	}
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			if !e.noNamespace && proc.Containment() != "pid namespace" {
				t.Skip("PID namespaces are not allowed here")
			}
			t.Parallel()
			a := newAgent(t)
			cmd, out := owner(t, a, e.noNamespace)
			pids := supervisors(cmd.Process.Pid)
			if e.noNamespace {
				require.Len(t, pids, 2)
			} else {
				require.Len(t, pids, 1)
			}
			if e.marked {
				a.endUnmarked()
			}
			e.end(pids)
			a.mustBeGone(t)
			said, err := out.ReadString('\n')
			require.NoError(t, err)
			assert.True(t, strings.Contains(said, "its supervisor died") || strings.Contains(said, "signal: killed"),
				"the owner knows that the command did not end by itself: %s", said)
		})
	}
}

// A supervisor that the agent has stopped, where it can (in a namespace the kernel does not let it), delays the end and
// does not prevent it.
func TestNothingSurvivesAStoppedSupervisor(t *testing.T) {
	t.Parallel()
	for name, which := range map[string][]int{"the guard": {0}, "the reaper": {1}, "both": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			var out bytes.Buffer
			p, err := proc.Start(proc.Command{Path: "sh", Args: []string{a.script}, Env: os.Environ(), NoNamespace: true, Stderr: &out})
			require.NoError(t, err)
			defer p.Close()
			bufio.NewReader(p.Stdout).ReadString('\n')
			a.mustRunAll(t)
			reaper := parentOf(p.Pid())
			pids := []int{parentOf(reaper), reaper}
			for _, i := range which {
				require.NoError(t, syscall.Kill(pids[i], syscall.SIGSTOP))
			}
			require.NoError(t, p.Close())
			assert.Empty(t, a.running())
			for _, pid := range pids {
				assert.NotContains(t, cmdlines(), pid, "a supervisor is left")
			}
		})
	}
}

// Owner and supervisors gone at one stroke: the next run finds what carries the marker.
func TestSweepEndsLeftoversOfDeadOwners(t *testing.T) {
	t.Parallel()
	dead, alive := newAgent(t), newAgent(t)
	owner1, _ := owner(t, dead, true)
	owner2, _ := owner(t, alive, true)
	dead.endUnmarked()
	pids := supervisors(owner1.Process.Pid)
	require.Len(t, pids, 2)
	for _, pid := range append([]int{owner1.Process.Pid}, pids...) {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	proc.Sweep()
	assert.NotEmpty(t, dead.running(), "the owner is stopped, not dead")
	for _, pid := range append([]int{owner1.Process.Pid}, pids...) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	require.NotEmpty(t, dead.running(), "something must be left to sweep")
	proc.Sweep()
	assert.Empty(t, dead.running())
	assert.Len(t, alive.running(), len(leftovers)+1, "the other owner lives")
	owner2.Process.Kill()
	alive.mustBeGone(t)
}

// With owner alive no longer, two stopped supervisors still lead the sweep to what has no marker.
func TestSweepEndsStoppedSupervisors(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	cmd, _ := owner(t, a, true)
	pids := supervisors(cmd.Process.Pid)
	require.Len(t, pids, 2)
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	cmd.Process.Kill()
	cmd.Wait()
	require.NotEmpty(t, a.running(), "something must be left to sweep")
	proc.Sweep()
	assert.Empty(t, a.running())
	for _, pid := range pids {
		assert.NotContains(t, cmdlines(), pid, "a supervisor is left")
	}
}
