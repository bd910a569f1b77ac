package runstate_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
)

// soon is a bound for what takes milliseconds, on a machine that does much else besides.
const soon = 60 * time.Second

// A child is another process of the run, which does what it is told, a line at a time, each in a goroutine of its own:
//
//	NAME acquire MAX    → NAME waiting, NAME has
//	NAME release        → NAME releases
//	NAME enter KEY      → NAME waiting, NAME entered | NAME open ERRORS KIND
//	NAME done RESULT    → NAME done          (RESULT: measured, nothing, or the kind of an error)
//	NAME look KEY       → NAME open … | NAME closed
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	once  sync.Once
}

func start(t *testing.T, dir string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"=command")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{t: t, cmd: cmd, in: in, lines: make(chan string, 1000)}
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	t.Cleanup(c.kill)
	return c
}

// kill is kill -9.
func (c *child) kill() {
	c.once.Do(func() {
		c.cmd.Process.Kill()
		for range c.lines { // to the end of it, before Wait closes the pipe
		}
		_ = c.cmd.Wait()
	})
}

func (c *child) say(format string, args ...any) {
	c.t.Helper()
	_, err := fmt.Fprintf(c.in, format+"\n", args...)
	require.NoError(c.t, err)
}

// hear is the next line.
func (c *child) hear(want string) {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		require.True(c.t, ok, "the process ended; it was to say %q", want)
		require.Equal(c.t, want, line)
	case <-time.After(soon):
		require.FailNow(c.t, "nothing was said", "it was to be %q", want)
	}
}

// silent is that nothing is said for a moment.
func (c *child) silent(why string) {
	c.t.Helper()
	select {
	case line := <-c.lines:
		require.FailNow(c.t, "it was to be silent", "%s; it said %q", why, line)
	case <-time.After(150 * time.Millisecond):
	}
}

func (c *child) ask(say, want string) {
	c.t.Helper()
	c.say("%s", say)
	c.hear(want)
}

// obey is what the child does.
func obey(in io.Reader, out io.Writer) {
	s, err := runstate.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	var mu sync.Mutex
	releases, trials := map[string]func(){}, map[string]*runstate.Trial{}
	say := func(name, format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, name+" "+format+"\n", args...)
	}
	opened := func(name string, o *runstate.Opened, err error, else_ string) {
		switch {
		case err != nil:
			say(name, "error %v", err)
		case o != nil:
			say(name, "open %d %s", o.Errors, o.Kind)
		default:
			say(name, "%s", else_)
		}
	}
	ctx := context.Background()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		f := append(strings.Fields(lines.Text()), "", "")
		name, arg := f[0], f[2]
		waiting := func() { say(name, "waiting") }
		do := func() {
			switch f[1] {
			case "acquire":
				most := 0
				_, _ = fmt.Sscan(arg, &most)
				release, err := s.Acquire(ctx, most, waiting)
				mu.Lock()
				releases[name] = release
				mu.Unlock()
				opened(name, nil, err, "has")
			case "release":
				mu.Lock()
				release := releases[name]
				mu.Unlock()
				say(name, "releases") // before: another of this process may have it at once, and say so
				release()
			case "enter":
				trial, o, err := s.Enter(ctx, arg, waiting)
				mu.Lock()
				trials[name] = trial
				mu.Unlock()
				opened(name, o, err, "entered")
			case "done":
				mu.Lock()
				trial := trials[name]
				mu.Unlock()
				trial.Done(result(arg))
				say(name, "done")
			case "look":
				o, err := s.Opened(arg)
				opened(name, o, err, "closed")
			}
		}
		go do()
	}
}

// result is a result by its name: measured, nothing, or an error's kind; grader/KIND has another source.
func result(name string) runstate.Result {
	switch name {
	case "measured":
		return runstate.Result{Measured: true}
	case "nothing":
		return runstate.Result{}
	}
	source := agents.FromProvider
	if from, kind, ok := strings.Cut(name, "/"); ok {
		source, name = agents.ErrorSource(from), kind
	}
	return runstate.Result{Err: agents.Errorf(agents.ErrorKind(name), source, "it said no\nat length")}
}
