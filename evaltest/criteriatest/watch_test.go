package criteriatest_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// standIn is a test that an eval may end without ending ours.
type standIn struct {
	testing.TB // nil: what is not overridden is not to be called
	name       string
	deadline   time.Time

	mu       sync.Mutex
	log      []string
	failed   bool
	cleanups []func()
}

func (s *standIn) add(args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprint(args...))
}

func (s *standIn) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

func (s *standIn) Helper()                     {}
func (s *standIn) Name() string                { return s.name }
func (s *standIn) Log(args ...any)             { s.add(args...) }
func (s *standIn) Fail()                       { s.failed = true }
func (s *standIn) Failed() bool                { return s.failed }
func (s *standIn) Skipped() bool               { return false }
func (s *standIn) Error(args ...any)           { s.add(args...); s.Fail() }
func (s *standIn) FailNow()                    { s.Fail(); runtime.Goexit() }
func (s *standIn) Fatal(args ...any)           { s.add(args...); s.FailNow() }
func (s *standIn) Skip(args ...any)            { s.add(args...); runtime.Goexit() }
func (s *standIn) Attr(string, string)         {}
func (s *standIn) Cleanup(f func())            { s.cleanups = append(s.cleanups, f) }
func (s *standIn) Context() context.Context    { return context.Background() }
func (s *standIn) Output() io.Writer           { return io.Discard }
func (s *standIn) Deadline() (time.Time, bool) { return s.deadline, !s.deadline.IsZero() }

// run runs f as a test, and returns when it is over.
func (s *standIn) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

// act is what the embedded agent does in an eval.
type act struct {
	steps   []script.Step
	prompts []string // nil: one
	denied  bool     // all its commands are
	hangs   bool     // the criterion does not return: the test has a deadline
}

// run has the agent act, in a full run or in a smoke check, and asks this one thing of it.
func (a act) run(t *testing.T, c evaltest.Criterion, smoke bool) *standIn {
	t.Helper()
	tb := &standIn{name: t.Name() + map[bool]string{false: "/full run", true: "/smoke check"}[smoke]}
	if a.hangs {
		tb.deadline = time.Now().Add(8 * time.Second)
	}
	opts := []evaltest.Option{evaltest.Script(a.steps...), evaltest.Skills(skills(t)), evaltest.Retries(0), evaltest.NoBreaker()}
	if a.denied {
		opts = append(opts, evaltest.DenyTools("Bash"))
	}
	if smoke {
		opts = append(opts, evaltest.Smoke())
	}
	prompts := a.prompts
	if prompts == nil {
		prompts = []string{"Do it."}
	}
	tb.run(func() {
		e := evaltest.New(tb, opts...)
		if smoke {
			e.StopWhen(evaltest.Decided, c.(evaltest.LiveCriterion))
		} else {
			e.Expect(c)
		}
		e.Run(prompts...)
	})
	return tb
}

// skills is a folder with the skill pdf.
func skills(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: reads PDF\n---\n")},
		"csv/SKILL.md": {Data: []byte("---\nname: csv\ndescription: reads CSV\n---\n")},
	}))
	return dir
}

// recorded is what is on disk of the evals of these tests, by the name of the test.
func recorded(t *testing.T) map[string]*journal.TrialRecord {
	t.Helper()
	run, err := journal.Read(os.Getenv("EVALTEST_DIR"))
	require.NoError(t, err)
	trials := map[string]*journal.TrialRecord{}
	for _, r := range run.Trials {
		trials[r.Intent.ID.Test] = r
	}
	return trials
}

// watched are words for how a criterion broke its contract in a run, by what its record says of it.
var watched = []struct{ word, says string }{
	{"declared", "which StopPolarities ("},
	{"declared", "which is no verdict"},
	{"monotone", "a verdict is final"},
	{"bounds", "bounds only narrow"},
	{"bounds", "where LiveBounds says"},
	{"bounds", "LiveBounds: "},
	{"agreement", "and graded as"},
	{"agreement", "and cannot be graded"},
	{"returns", "panicked"},
	{"returns", "ended its goroutine"},
	{"returns", "does not return"},
	{"returns", "panic: "},
	{"score", "score"},
}

// breach is the word for how the criterion broke its contract in the run of tb; "": it did not.
func breach(t *testing.T, tb *standIn, trials map[string]*journal.TrialRecord) string {
	t.Helper()
	if strings.Contains(tb.text(), "evaltest: MISUSE: ") {
		require.True(t, tb.failed)
		return "refused"
	}
	r := trials[tb.name]
	require.NotNil(t, r, "no record of %s: %s", tb.name, tb.text())
	require.NotNil(t, r.Verdict, "no verdict of %s: %s", tb.name, tb.text())
	var said []string
	for _, c := range r.Criteria {
		if c.Violation != "" {
			said = append(said, c.Violation)
		}
		if c.Err != nil && c.Err.Source == "author" {
			said = append(said, c.Err.Message())
		}
	}
	if e := r.Verdict.Err; e != nil && e.Source == "author" {
		said = append(said, e.Message())
	}
	if len(said) == 0 {
		return ""
	}
	require.True(t, tb.failed, "a breach leaves the test green: %s\n%s", said, tb.text())
	require.False(t, r.Verdict.Measured, "a breach enters rates: %s", said)
	for _, w := range watched {
		if strings.Contains(said[0], w.says) {
			return w.word
		}
	}
	require.Fail(t, "the watcher said something new", "%s", said)
	return ""
}
