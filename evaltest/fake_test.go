package evaltest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// fakeTB is a test that an eval may end without ending ours.
type fakeTB struct {
	testing.TB // nil: what is not overridden is not to be called
	name       string
	deadline   time.Time
	ctx        context.Context

	mu       sync.Mutex
	log      []string
	attrs    map[string]string
	lines    []string // file:line of each Error, Fatal and Skip
	failed   bool
	skipped  bool
	cleanups []func()
}

// inFake runs f as a test and returns when it is over.
func inFake(name string, f func(tb *fakeTB)) *fakeTB {
	tb := &fakeTB{name: name, attrs: map[string]string{}, ctx: context.Background()}
	tb.run(f)
	return tb
}

func (tb *fakeTB) run(f func(tb *fakeTB)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(tb)
	}()
	<-done
	for i := len(tb.cleanups) - 1; i >= 0; i-- {
		tb.cleanups[i]()
	}
}

func (tb *fakeTB) add(s string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.log = append(tb.log, s)
	for skip := 1; ; skip++ { // the first frame that is no method of T or of the fake
		pc, file, line, ok := runtime.Caller(skip)
		if !ok {
			break
		}
		name := runtime.FuncForPC(pc).Name()
		if !strings.Contains(name, "fakeTB") && !strings.Contains(name, "evaltest/evaltest.") {
			tb.lines = append(tb.lines, fmt.Sprintf("%s:%d", filepath.Base(file), line))
			break
		}
	}
}

func (tb *fakeTB) text() string { return strings.Join(tb.log, "\n") }

func (tb *fakeTB) Helper()                     {}
func (tb *fakeTB) Name() string                { return tb.name }
func (tb *fakeTB) Log(args ...any)             { tb.add(fmt.Sprint(args...)) }
func (tb *fakeTB) Fail()                       { tb.failed = true }
func (tb *fakeTB) Failed() bool                { return tb.failed }
func (tb *fakeTB) Skipped() bool               { return tb.skipped }
func (tb *fakeTB) Error(args ...any)           { tb.add(fmt.Sprint(args...)); tb.failed = true }
func (tb *fakeTB) FailNow()                    { tb.failed = true; runtime.Goexit() }
func (tb *fakeTB) Fatal(args ...any)           { tb.Error(args...); tb.FailNow() }
func (tb *fakeTB) Skip(args ...any)            { tb.add(fmt.Sprint(args...)); tb.skipped = true; runtime.Goexit() }
func (tb *fakeTB) Attr(k, v string)            { tb.mu.Lock(); defer tb.mu.Unlock(); tb.attrs[k] = v }
func (tb *fakeTB) Cleanup(f func())            { tb.cleanups = append(tb.cleanups, f) }
func (tb *fakeTB) Context() context.Context    { return tb.ctx }
func (tb *fakeTB) Output() io.Writer           { return io.Discard }
func (tb *fakeTB) Deadline() (time.Time, bool) { return tb.deadline, !tb.deadline.IsZero() }

// skill is a live criterion of our own: a skill was used.
type skill struct{ name string }

func (c *skill) String() string                    { return "uses skill " + c.name }
func (c *skill) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c *skill) used(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(c, func(k agents.ToolCall) bool { return k.Skill == c.name })
}

func (c *skill) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.used(tr).Ran() > 0 {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

func (c *skill) Grade(_ context.Context, t *evaltest.Trial) (evaltest.Score, error) {
	n := c.used(t.Trajectory)
	if n.Ran() == 0 && n.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(n.Ran() > 0), nil
}

// never is a live criterion of our own: no command holds these words.
type never struct{ words string }

func (c *never) String() string                    { return "never runs " + c.words }
func (c *never) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c *never) broken(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(c, func(k agents.ToolCall) bool { return strings.Contains(strings.Join(k.Commands, "\n"), c.words) })
}

func (c *never) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.broken(tr).Ran() > 0 {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (c *never) Grade(_ context.Context, t *evaltest.Trial) (evaltest.Score, error) {
	n := c.broken(t.Trajectory)
	if n.Ran() == 0 && n.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(n.Ran() == 0), nil
}

// file is an end-state criterion of our own: a file is there.
type file struct{ path string }

func (c *file) String() string { return c.path + " exists" }

func (c *file) Grade(_ context.Context, t *evaltest.Trial) (evaltest.Score, error) {
	switch _, err := os.Stat(filepath.Join(t.Dir, c.path)); {
	case errors.Is(err, fs.ErrNotExist):
		return evaltest.PassIf(false).Because("%s is not there", c.path), nil
	case err != nil:
		return evaltest.Score{}, err
	}
	return evaltest.PassIf(true), nil
}

// scores is a criterion that answers what it is told.
type scores struct {
	name string
	f    func(context.Context, *evaltest.Trial) (evaltest.Score, error)
}

func (c *scores) String() string { return c.name }
func (c *scores) Grade(ctx context.Context, t *evaltest.Trial) (evaltest.Score, error) {
	return c.f(ctx, t)
}

// scored is a criterion with this score.
func scored(s evaltest.Score) *scores {
	return &scores{"scored", func(context.Context, *evaltest.Trial) (evaltest.Score, error) { return s, nil }}
}
