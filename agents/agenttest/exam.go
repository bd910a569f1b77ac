package agenttest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// exam is one rule at work: a workspace, a session in it, and the trajectory.
type exam struct {
	testing.TB
	h     Harness
	ctx   context.Context
	setup agents.Setup

	session agents.Session
	tr      *agents.Trajectory
	once    sync.Once
	final   agents.Final
}

func newExam(t testing.TB, h Harness) *exam {
	ctx, cancel := context.WithTimeout(context.Background(), h.Timeout)
	t.Cleanup(cancel)
	// A short name, other than t.TempDir's: some agents make a socket in TMPDIR, and its path is bounded.
	base, err := os.MkdirTemp("", "exam")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	x := &exam{TB: t, h: h, ctx: ctx, tr: new(agents.Trajectory)}
	for name, dir := range map[string]*string{"work": &x.setup.Dir, "home": &x.setup.Home, "temp": &x.setup.Temp} {
		*dir = filepath.Join(base, name)
		require.NoError(t, os.Mkdir(*dir, 0o755))
	}
	return x
}

// open opens the session. It is closed at the end of the test at the latest.
func (x *exam) open(steps ...script.Step) {
	x.Helper()
	x.session = x.h.Open(x, x.setup, steps...)
	x.Cleanup(func() { _, _ = x.session.Close() }) // what Close must return is a rule of its own
}

// send sends a prompt, adds what comes to the trajectory and returns the error that ended it. see may be nil; false breaks.
func (x *exam) send(ctx context.Context, prompt string, see func(agents.Event) bool) (err *agents.Error) {
	x.Helper()
	x.append(agents.Prompt(prompt))
	for e, raw := range x.session.Send(ctx, prompt) {
		require.Nil(x, err, "the sequence went on after an error")
		if raw != nil {
			err = x.typed(raw)
			require.Empty(x, e.Kind, "an error came with an event")
			continue
		}
		require.NotContains(x, []agents.EventKind{agents.EventPrompt, agents.EventDone, ""}, e.Kind, "an event that sessions do not yield")
		x.append(e)
		if see != nil && !see(e) {
			return nil
		}
	}
	if err == nil {
		x.append(agents.Event{Kind: agents.EventDone})
	}
	return err
}

// finish sends a prompt that is answered without an error.
func (x *exam) finish(prompt string) {
	x.Helper()
	if err := x.send(x.ctx, prompt, nil); err != nil {
		x.Fatalf("sending %q: %v", prompt, err)
	}
}

// append adds an event; the trajectory refuses what contradicts it: a result before its call, an id used twice, a second end.
func (x *exam) append(e agents.Event) {
	x.Helper()
	require.NoError(x, x.tr.Append(e))
}

// typed is err as the *agents.Error that it has to be.
func (x *exam) typed(err error) *agents.Error {
	x.Helper()
	var e *agents.Error
	if !errors.As(err, &e) {
		x.Fatalf("an error that is no *agents.Error: %T %v", err, err)
	}
	require.NotEmpty(x, e.Kind)
	require.NotEmpty(x, e.Source)
	require.Error(x, e.Err)
	return e
}

// close closes the session within the time of the rule, and returns what is known then.
func (x *exam) close() agents.Final {
	x.Helper()
	x.once.Do(func() {
		done := make(chan error, 1)
		go func() {
			var err error
			x.final, err = x.session.Close()
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				x.Fatalf("Close: %v", x.typed(err))
			}
		case <-x.ctx.Done():
			x.Fatal("Close does not return")
		}
	})
	return x.final
}

// call is the only call for which match holds.
func (x *exam) call(match func(agents.Call) bool) agents.Call {
	x.Helper()
	var found []agents.Call
	for c := range x.tr.Calls() {
		if match(c) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		x.Fatalf("%d calls where 1 was expected, of:\n%s", len(found), x.log())
	}
	return found[0]
}

// kind is the only call of kind k.
func (x *exam) kind(k agents.Kind) agents.Call {
	x.Helper()
	return x.call(func(c agents.Call) bool { return c.Kind == k })
}

// command is the only call whose command has this text in it.
func (x *exam) command(text string) agents.Call {
	x.Helper()
	return x.call(func(c agents.Call) bool { return strings.Contains(strings.Join(c.Commands, "\n"), text) })
}

// edit is the only call that edits the file with this path.
func (x *exam) edit(path string) agents.Call {
	x.Helper()
	return x.call(func(c agents.Call) bool { return c.Kind == agents.Edit && len(c.Paths) == 1 && c.Paths[0] == path })
}

// log is the trajectory, for people.
func (x *exam) log() string {
	var b strings.Builder
	for c := range x.tr.Calls() {
		b.WriteString(describe(c) + "\n")
	}
	return b.String()
}

// file is the content of a file in the workspace, "" when there is none.
func (x *exam) file(name string) string {
	x.Helper()
	data, err := os.ReadFile(filepath.Join(x.setup.Dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		x.Fatal(err)
	}
	return string(data)
}

// holds checks the content of a file, where the agent has effects.
func (x *exam) holds(name, want string) {
	x.Helper()
	if !x.h.NoEffects {
		require.Equal(x, want, x.file(name), "content of %s", name)
	}
}

// effects skips the rule where the agent has none.
func (x *exam) effects() {
	if x.h.NoEffects {
		x.Skip("the agent does not carry calls out")
	}
}

// shows skips the rule where the agent's stream does not show calls of a kind.
func (x *exam) shows(kinds ...agents.Kind) {
	for _, k := range kinds {
		if !x.h.Info.CanShow(k) {
			x.Skipf("the agent's stream does not show calls of kind %s", k)
		}
	}
}

// until waits for a condition.
func (x *exam) until(what string, holds func() bool) {
	x.Helper()
	for !holds() {
		select {
		case <-x.ctx.Done():
			x.Errorf("waited in vain for %s", what)
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// quiet checks that a file which a process keeps adding to has stopped growing.
func (x *exam) quiet(name string) {
	x.Helper()
	before := x.file(name)
	time.Sleep(5 * beat)
	if after := x.file(name); len(after) != len(before) {
		x.Errorf("%s still grows: a process is left", name)
	}
}

// beat is how often the processes of the suite show that they live; beatSh is the same for sleep(1).
const (
	beat   = 50 * time.Millisecond
	beatSh = "0.05"
)

// beats is a shell loop that adds to a file until it is ended.
func beats(file string) string {
	return "while :; do echo x >>" + file + "; sleep " + beatSh + "; done"
}
