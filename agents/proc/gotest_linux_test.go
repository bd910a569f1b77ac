package proc_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/internal/outside"
)

// These tests run the real `go test` on a small module, and end it in the ways that people and CI systems do.

// hangModule is an author's package that makes it hard: it prints in its init functions, before ours and after, has a TestMain,
// and a test that holds an agent until it is ended.
var hangModule = map[string]string{
	"aaa/aaa.go": `// Package aaa is initialised before the packages that it does not import.
package aaa

import (
	"fmt"
	"os"
)

func init() {
	fmt.Println("aaa prints to standard output")
	fmt.Fprintln(os.Stderr, "aaa prints to standard error")
}
`,
	"hang_test.go": `package hang

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	_ "example.com/hang/aaa"

	"github.com/evaltest-go/evaltest/agents/proc"
)

func init() { fmt.Println("the test package prints too") }

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Println("TestMain ran")
	os.Exit(code)
}

func TestHang(t *testing.T) {
	p, err := proc.Start(proc.Command{Path: "sh", Args: []string{os.Getenv("HANG_SCRIPT")}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("the agent says %q, %v", line, err)
	}
	if err := os.WriteFile(os.Getenv("HANG_READY"), []byte(fmt.Sprint(os.Getpid())), 0o666); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("HANG_RETURN") != "" {
		return
	}
	<-p.Exited()
	select {}
}
`,
	"wrap.sh": "#!/bin/sh\n\"$@\"\nexit $?\n",
}

var hangDirs []string

func removeHangDir() {
	for _, dir := range hangDirs {
		os.RemoveAll(dir)
	}
}

// hangDir writes the module once and builds its test, so that the runs find it in the build cache.
var hangDir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "proc-hang")
	if err != nil {
		return "", err
	}
	hangDirs = append(hangDirs, dir)
	if err := outside.Module(dir, "example.com/hang"); err != nil {
		return "", err
	}
	for name, text := range hangModule {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("go", goArgs("-run=NONE")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test: %w\n%s", err, out)
	}
	return dir, nil
})

// goArgs: the module is tested under the race detector when these tests are.
func goArgs(args ...string) []string {
	all := []string{"test", "-mod=mod", "-count=1"}
	if raceEnabled {
		all = append(all, "-race")
	}
	return append(all, args...)
}

type goRun struct {
	cmd    *exec.Cmd
	binary int // pid of the test binary
	output *bytes.Buffer
	ended  chan error
}

// startGo runs `go test` in a process group of its own, and returns when every leftover is running.
func startGo(t *testing.T, a agent, noNamespace bool, args []string, env ...string) *goRun {
	dir, err := hangDir()
	require.NoError(t, err)
	ready := filepath.Join(t.TempDir(), "ready")
	r := &goRun{cmd: exec.Command("go", goArgs(args...)...), output: &bytes.Buffer{}, ended: make(chan error, 1)}
	r.cmd.Dir = dir
	r.cmd.Env = append(os.Environ(), append(env, "HANG_SCRIPT="+a.script, "HANG_READY="+ready)...)
	if noNamespace {
		r.cmd.Env = append(r.cmd.Env, "EVALTEST_NAMESPACE=off")
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	r.cmd.WaitDelay = 100 * time.Millisecond // the test binary may live on and hold the pipe
	require.NoError(t, r.cmd.Start())
	go func() { r.ended <- r.cmd.Wait() }()
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(ready); err == nil && len(b) > 0 {
			fmt.Sscan(string(b), &r.binary)
			break
		}
		select {
		case err := <-r.ended:
			t.Fatalf("go test ended: %v\n%s", err, r.output)
		default:
		}
		if time.Since(begin) > 2*time.Minute {
			syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
			t.Fatalf("the agent of the module's test did not start\n%s", r.output)
		}
	}
	t.Cleanup(func() { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) })
	return r
}

func TestNothingSurvivesGoTest(t *testing.T) {
	t.Parallel()
	signal := func(sig syscall.Signal) func(*goRun) {
		return func(r *goRun) { syscall.Kill(r.cmd.Process.Pid, sig) }
	}
	ends := []struct {
		name string
		args []string
		end  func(r *goRun)
		long bool // not in -short
	}{
		{name: "kill -9 of go test", end: signal(syscall.SIGKILL)},
		{name: "kill -9 of go test with a wrapper", args: []string{"-exec=./wrap.sh"}, end: signal(syscall.SIGKILL), long: true},
		{name: "SIGTERM of go test", end: signal(syscall.SIGTERM), long: true},
		{name: "Ctrl-C", end: func(r *goRun) { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT) }},
		{name: "kill -9 of all of go test", end: func(r *goRun) { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }, long: true},
		{name: "a -timeout panic", args: []string{"-timeout=4s"}, end: func(r *goRun) { waitGone(r.binary) }},
		{name: "a -timeout panic with -cover", args: []string{"-timeout=4s", "-cover"}, end: func(r *goRun) { waitGone(r.binary) }, long: true},
	}
	slots := make(chan struct{}, 3) // linkers are hungry
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			if e.long && testing.Short() {
				t.Skip("-short")
			}
			t.Parallel()
			forModes(t, func(t *testing.T, noNamespace bool) {
				slots <- struct{}{}
				defer func() { <-slots }()
				a := newAgent(t)
				r := startGo(t, a, noNamespace, append([]string{"-run=TestHang"}, e.args...))
				if strings.Contains(e.name, "panic") {
					// The alarm may go off at any moment.
					require.NotEmpty(t, a.running())
				} else {
					a.mustRunAll(t)
				}
				e.end(r)
				a.mustBeGone(t)
			})
		})
	}
}

// waitGone waits for a process to end.
func waitGone(pid int) {
	for range 6000 {
		if args := cmdlines()[pid]; args == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A passing test whose agent leaves everything behind: go test must neither wait for nor complain about a process that
// holds its output.
func TestGoTestPassesWithLeftovers(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, noNamespace bool) {
		a := newAgent(t)
		r := startGo(t, a, noNamespace, []string{"-run=TestHang"}, "HANG_RETURN=1")
		select {
		case err := <-r.ended:
			require.NoError(t, err, r.output.String())
		case <-time.After(time.Minute):
			t.Fatal("go test does not end")
		}
		assert.NotContains(t, r.output.String(), "I/O incomplete")
		assert.Empty(t, a.running())
	})
}
