//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/proc"
)

// modes are the two ways to hold descendants together on Linux.
var modes = []struct {
	name        string
	noNamespace bool
}{{"namespace", false}, {"subreaper", true}}

// forModes runs a test in each mode that this machine has.
func forModes(t *testing.T, test func(t *testing.T, noNamespace bool)) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			if !m.noNamespace && proc.Containment() != "pid namespace" {
				t.Skip("PID namespaces are not allowed here")
			}
			t.Parallel()
			test(t, m.noNamespace)
		})
	}
}

func sh(script string, noNamespace bool) proc.Command {
	return proc.Command{Path: "sh", Args: []string{"-c", script}, Env: os.Environ(), NoNamespace: noNamespace}
}

func run(t *testing.T, c proc.Command, stdin string) proc.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := proc.Run(ctx, c, stdin)
	require.NoError(t, err)
	return r
}

func TestExitCodesAndSignalsAreReported(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		assert.True(t, run(t, sh("exit 0", no), "").Status.Success())
		assert.Equal(t, proc.ExitStatus{Code: 255}, run(t, sh("exit 255", no), "").Status)
		assert.Equal(t, proc.ExitStatus{Code: -1, Signal: syscall.SIGUSR1}, run(t, sh("kill -USR1 $$", no), "").Status)
		p, err := proc.Start(sh("exec sleep 1000", no))
		require.NoError(t, err)
		defer p.Close()
		require.NoError(t, p.Signal(os.Interrupt))
		assert.Equal(t, "signal: interrupt", p.Status().String())
		assert.ErrorIs(t, p.Signal(os.Interrupt), os.ErrProcessDone)
		q, err := proc.Start(sh("exec sleep 1000", no))
		require.NoError(t, err)
		require.NoError(t, q.Close())
		assert.Equal(t, syscall.SIGKILL, q.Status().Signal)
	})
}

func TestPidIsTheCommandAsSeenFromHere(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		p, err := proc.Start(sh("read x", no))
		require.NoError(t, err)
		defer p.Close()
		out, err := exec.Command("ps", "-o", "args=", "-p", fmt.Sprint(p.Pid())).Output()
		require.NoError(t, err)
		assert.Contains(t, string(out), "read x")
	})
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		start := func(change func(*proc.Command)) error {
			c := sh("true", no)
			change(&c)
			p, err := proc.Start(c)
			if err == nil {
				p.Close()
			}
			require.Error(t, err)
			return err
		}
		var execError *exec.Error
		err := start(func(c *proc.Command) { c.Path = "no-such-program" })
		assert.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorAs(t, err, &execError)
		err = start(func(c *proc.Command) { c.Env = []string{"PATH=/nowhere"} })
		assert.ErrorIs(t, err, exec.ErrNotFound, "the PATH of Env counts, not ours")
		assert.ErrorIs(t, start(func(c *proc.Command) { c.Path = "/no/such/program" }), os.ErrNotExist)
		assert.ErrorIs(t, start(func(c *proc.Command) { c.Dir = "/no/such/folder" }), os.ErrNotExist)
		assert.ErrorIs(t, start(func(c *proc.Command) { c.Dir = "/dev/null" }), syscall.ENOTDIR)
		assert.ErrorIs(t, start(func(c *proc.Command) { c.Path = "/" }), os.ErrPermission)
		assert.ErrorIs(t, start(func(c *proc.Command) { c.Args = []string{strings.Repeat("x", 4<<20)} }), syscall.E2BIG)
		assert.ErrorContains(t, start(func(c *proc.Command) { c.Path = "" }), "Command.Path")
		assert.ErrorContains(t, start(func(c *proc.Command) { c.Args = []string{"a\x00b"} }), "NUL")
	})
}

func TestTenMegabytesBothWays(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		var stderr bytes.Buffer
		c := sh("tee /dev/stderr", no)
		c.Stderr = &stderr
		p, err := proc.Start(c)
		require.NoError(t, err)
		defer p.Close()
		want := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
		go func() {
			p.Stdin.Write(want)
			p.Stdin.Close()
		}()
		got, err := io.ReadAll(p.Stdout)
		require.NoError(t, err)
		<-p.Exited() // its output is closed a little before it has ended
		require.NoError(t, p.Close())
		assert.True(t, bytes.Equal(want, got), "%d bytes", len(got))
		assert.True(t, bytes.Equal(want, stderr.Bytes()), "%d bytes on stderr", stderr.Len())
		assert.True(t, p.Status().Success())
	})
}

// A megabyte of arguments and variables, not all of it UTF-8, arrives as it was given.
func TestBigSpec(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		c := sh(`printf '%s' "$BIG1$BIG2$BIG3$BIG4" "$@"`, no)
		big := strings.Repeat("\xff\xfex\n", 30_000)
		c.Args = append(c.Args, "sh", big, big, big, big, big)
		c.Env = append(c.Env, "BIG1="+big, "BIG2="+big, "BIG3="+big, "BIG4="+big)
		p, err := proc.Start(c)
		require.NoError(t, err)
		defer p.Close()
		got, _ := io.ReadAll(p.Stdout)
		assert.True(t, strings.Repeat(big, 9) == string(got), "%d bytes", len(got))
	})
}

func TestCommandSeesOnlyItsEnvironment(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		c := proc.Command{Path: "/usr/bin/env", Env: []string{"A=1", "EVALTEST_SUPERVISED=of another"}, Dir: dir, NoNamespace: no}
		lines := strings.Split(strings.TrimSpace(string(run(t, c, "").Stdout)), "\n")
		require.Len(t, lines, 2, "%q", lines)
		assert.Equal(t, "A=1", lines[0])
		assert.Regexp(t, `^EVALTEST_SUPERVISED=\d+\.`, lines[1])
		c.Path, c.Env = "pwd", os.Environ()
		assert.Equal(t, dir+"\n", string(run(t, c, "").Stdout))
	})
}

// No descriptor but the standard three, no environment of ours in reach, no capability that we have not.
func TestCommandInheritsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Setenv("PROC_TEST_SECRET", "hunter2")
	for _, m := range modes {
		c := sh("grep Cap /proc/self/status", m.noNamespace)
		caps, err := exec.Command("grep", "Cap", "/proc/self/status").Output()
		require.NoError(t, err)
		if os.Getuid() == 0 {
			assert.Equal(t, string(caps), string(run(t, c, "").Stdout))
		} else { // the bounding set of a new user namespace is full, and gives nothing
			got := string(run(t, c, "").Stdout)
			for _, set := range []string{"CapPrm", "CapEff", "CapAmb"} {
				assert.Contains(t, got, set+":\t0000000000000000\n")
			}
		}
		c = sh("ls -l /proc/$$/fd; for p in $PPID; do tr '\\0' ' ' </proc/$p/environ; done", m.noNamespace)
		c.Env = []string{"PATH=" + os.Getenv("PATH")}
		r := run(t, c, "")
		assert.Equal(t, 3, strings.Count(string(r.Stdout), " -> "), "%s: %s", m.name, r.Stdout)
		assert.NotContains(t, string(r.Stdout), "hunter2")
		if !m.noNamespace && proc.Containment() == "pid namespace" {
			c.Args[1] = "cat /proc/[0-9]*/environ"
			assert.NotContains(t, string(run(t, c, "").Stdout), "hunter2")
			c.Args[1] = "ls -d /proc/[0-9]*"
			assert.LessOrEqual(t, strings.Count(string(run(t, c, "").Stdout), "/proc/"), 3, "it sees itself, ls, and the supervisor")
		}
	}
}

func TestClosingStdinEndsTheInput(t *testing.T) {
	t.Parallel()
	p, err := proc.Start(sh("cat; echo end", false))
	require.NoError(t, err)
	defer p.Close()
	io.WriteString(p.Stdin, "text ")
	require.NoError(t, p.Stdin.Close())
	require.NoError(t, p.Stdin.Close())
	got, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	assert.Equal(t, "text end\n", string(got))
}

func TestCloseDuringOutput(t *testing.T) {
	t.Parallel()
	forModes(t, func(t *testing.T, no bool) {
		var stderr bytes.Buffer
		c := sh("yes out & yes err >&2", no)
		c.Stderr = &stderr
		p, err := proc.Start(c)
		require.NoError(t, err)
		_, err = io.ReadFull(p.Stdout, make([]byte, 1)) // output is on its way
		require.NoError(t, err)
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, p.Stdout)
		}()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { assert.NoError(t, p.Close()) })
		}
		wg.Wait()
		select {
		case <-read:
		case <-time.After(time.Minute):
			t.Error("the reader gets no end of file")
		}
		stderr.Len() // under -race: nobody writes any more
	})
}

func TestOutputCanBeReadAfterClose(t *testing.T) {
	t.Parallel()
	p, err := proc.Start(sh("echo early; sleep 1000 & echo late", false))
	require.NoError(t, err)
	<-p.Exited()
	require.NoError(t, p.Close())
	got, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	assert.Equal(t, "early\nlate\n", string(got))
}

func TestTwentyAtOnceAndNoDescriptorLeaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	many := func() {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				r, err := proc.Run(ctx, sh("sleep 1000 & cat", i%2 == 0), fmt.Sprint(i))
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprint(i), string(r.Stdout))
			})
		}
		wg.Wait()
		_, err := proc.Start(proc.Command{Path: "/no/such/program"})
		assert.Error(t, err)
	}
	count := func() int {
		fds, _ := os.ReadDir("/proc/self/fd")
		return len(fds)
	}
	many()
	before := count()
	many()
	assert.LessOrEqual(t, count(), before)
}

func TestRun(t *testing.T) {
	t.Parallel()
	r := run(t, sh("cat; echo problem >&2; exit 3", false), "input")
	assert.Equal(t, "input", string(r.Stdout))
	assert.Equal(t, "problem\n", string(r.Stderr))
	assert.Equal(t, 3, r.Status.Code)
	assert.False(t, r.Truncated)

	r = run(t, sh("echo first; head -c 5000000 /dev/zero; echo last", false), "")
	assert.True(t, r.Truncated)
	assert.Less(t, len(r.Stdout), 2<<20)
	assert.True(t, bytes.HasPrefix(r.Stdout, []byte("first\n")))
	assert.True(t, bytes.HasSuffix(r.Stdout, []byte("last\n")))
	assert.Contains(t, string(r.Stdout), " bytes left out ...]")

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r, err := proc.Run(ctx, sh("echo before; trap '' TERM; sleep 1000", false), "")
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, syscall.SIGKILL, r.Status.Signal)
	_, err = proc.Run(ctx, sh("true", false), "")
	assert.ErrorIs(t, err, context.DeadlineExceeded, "nothing is started after the end")
}

// A writer that fails, or never returns, does not hold up the command or Close.
func TestBadStderrWriter(t *testing.T) {
	t.Parallel()
	c := sh("head -c 1000000 /dev/zero >&2", false)
	c.Stderr = writerFunc(func([]byte) (int, error) { return 0, errors.New("full") })
	p, err := proc.Start(c)
	require.NoError(t, err)
	assert.True(t, p.Status().Success())
	require.NoError(t, p.Close())
	block := make(chan struct{})
	defer close(block)
	c = sh("echo problem >&2", false)
	c.Stderr = writerFunc(func(b []byte) (int, error) { <-block; return len(b), nil })
	p, err = proc.Start(c)
	require.NoError(t, err)
	<-p.Exited()
	assert.ErrorContains(t, p.Close(), "Command.Stderr does not return")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestEnvironIsHermetic(t *testing.T) {
	t.Setenv("MADE_UP_SECRET", "s")
	t.Setenv("ANTHROPIC_API_KEY", "k")
	t.Setenv("XDG_CONFIG_HOME", "/x")
	t.Setenv("HTTPS_PROXY", "http://u:p@proxy")
	t.Setenv("LC_TIME", "C")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOCACHE", "")
	os.Unsetenv("GOCACHE")
	env := proc.Environ("/h", "/t", nil)
	for _, name := range []string{"MADE_UP_SECRET", "ANTHROPIC_API_KEY", "XDG_CONFIG_HOME", "HTTPS_PROXY"} {
		assert.False(t, slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }), name)
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	for _, want := range []string{"HOME=/h", "TMPDIR=/t", "TERM=dumb", "LC_TIME=C", "GOPROXY=off", "PATH=" + os.Getenv("PATH"), "GOCACHE=" + filepath.Join(cache, "go-build")} {
		assert.Contains(t, env, want)
	}
	env = proc.Environ("/h", "/t", []string{"ANTHROPIC_*", "NOT_SET"}, "HOME=/other", "A=b=c")
	assert.Contains(t, env, "ANTHROPIC_API_KEY=k")
	assert.Contains(t, env, "HOME=/other")
	assert.Contains(t, env, "A=b=c")
	assert.NotContains(t, env, "HOME=/h")
	assert.True(t, slices.IsSorted(env))
}

// BenchmarkStartClose is the cost of supervision; "plain" is the same command by os/exec.
func BenchmarkStartClose(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, m := range modes {
		b.Run(m.name, func(b *testing.B) {
			c := proc.Command{Path: "true", Env: os.Environ(), NoNamespace: m.noNamespace}
			for b.Loop() {
				p, err := proc.Start(c)
				if err != nil {
					b.Fatal(err)
				}
				<-p.Exited()
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
