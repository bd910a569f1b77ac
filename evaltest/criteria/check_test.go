package criteria_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

func check(f func(require.TestingT, *evaltest.Trial)) *criteria.CheckFunc {
	return criteria.Check("rows add up", f)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	runEndRows(t, []endRow{
		{name: "nothing to report", c: check(func(t require.TestingT, trial *evaltest.Trial) {
			require.FileExists(t, filepath.Join(trial.Dir, "a"))
			assert.Equal(t, 1, 1)
		}), files: files{"a": ""}, score: "1"},
		{name: "require ends it", c: check(func(t require.TestingT, trial *evaltest.Trial) {
			require.FileExists(t, filepath.Join(trial.Dir, "a"), "the %s", "table")
			panic("not reached")
		}), score: "0", reason: "the table: unable to find file"},
		{name: "require says what it compared", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			require.Equal(t, []int{1, 2}, []int{1, 3})
		}), score: "0", reason: "Not equal: expected: []int{1, 2} actual : []int{1, 3} (check_test.go:"},
		{name: "assert goes on", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			assert.True(t, false, "first")
			assert.Equal(t, "a", "b", "second")
			assert.Len(t, []int{1}, 2)
		}), score: "0", reason: "3 failures; first: Should be true"},
		{name: "a diff of go-cmp", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			if diff := cmp.Diff([]string{"a", "b"}, []string{"a", "c"}); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		}), score: "0", reason: "rows (-want +got): []string{"},
		{name: "FailNow alone", c: check(func(t require.TestingT, _ *evaltest.Trial) { t.FailNow() }), score: "0", reason: "FailNow was called"},
		{name: "deferred functions run", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			defer t.Errorf("deferred")
			t.FailNow()
		}), score: "0", reason: "deferred"},
		{name: "failures of other goroutines count", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() { assert.Fail(t, "in a goroutine") })
			}
			wg.Wait()
		}), score: "0", reason: "20 failures; in a goroutine"},
		{name: "FailNow in another goroutine ends that one", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				t.FailNow()
			}()
			<-done
			t.Errorf("went on")
		}), score: "0", reason: "went on"},
		{name: "an endless report", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			t.Errorf("%s", strings.Repeat("x\x00\n", 1<<20))
		}), score: "0", reason: "x? x?"},
		{name: "testify's waiting assertions", c: check(func(t require.TestingT, _ *evaltest.Trial) {
			assert.Eventually(t, func() bool { return false }, 20*time.Millisecond, time.Millisecond)
		}), score: "0", reason: "Condition never satisfied"},
	})
}

// here is the place of its caller, some lines further down.
func here(further int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+further)
}

func explode(m map[string]int) { m["x"] = 1 }

func TestCheckPanicIsTheAuthorsError(t *testing.T) {
	t.Parallel()
	var at string
	for name, c := range map[string]*criteria.CheckFunc{
		"a panic": check(func(require.TestingT, *evaltest.Trial) {
			at = here(1)
			panic("no such \x1b[31mrow")
		}),
		"of another's code": check(func(_ require.TestingT, _ *evaltest.Trial) {
			at = here(1)
			_ = strings.Repeat("x", -1)
		}),
		"a score": criteria.CheckScore("x", func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
			at = here(1)
			panic(errors.New("no such row"))
		}),
		"while FailNow unwinds": check(func(t require.TestingT, _ *evaltest.Trial) {
			at = here(1)
			defer func() { panic("in a deferred function") }()
			t.FailNow()
		}),
	} {
		score, err := c.Grade(t.Context(), &evaltest.Trial{})
		require.Error(t, err, "%s: %v", name, score)
		assertAuthors(t, err)
		assert.Contains(t, err.Error(), "panicked at "+at+": ", name)
		assert.NotContains(t, err.Error(), "\x1b")
	}
	_, err := check(func(require.TestingT, *evaltest.Trial) { explode(nil) }).Grade(t.Context(), &evaltest.Trial{})
	require.ErrorContains(t, err, "check_test.go:")
	require.ErrorContains(t, err, "nil map")
}

// The test's own t is not the check's: what it says is not about the agent.
func TestCheckOnTheTestsOwnT(t *testing.T) {
	t.Parallel()
	outer := &fakeT{}
	_, err := check(func(require.TestingT, *evaltest.Trial) { require.True(outer, false) }).Grade(t.Context(), &evaltest.Trial{})
	require.ErrorContains(t, err, "use the t that it is given")
	require.ErrorContains(t, err, "check_test.go:")
	assertAuthors(t, err)
}

type fakeT struct{}

func (*fakeT) Errorf(string, ...any) {}
func (*fakeT) FailNow()              { runtime.Goexit() }

// A check that hangs has no score; the error says where it hangs.
func TestCheckHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	at := make(chan string, 1)
	begin := time.Now()
	score, err := check(func(t require.TestingT, _ *evaltest.Trial) {
		at <- here(1)
		<-release
		t.Errorf("too late to be heard")
	}).Grade(ctx, &evaltest.Trial{})
	var typed *agents.Error
	require.ErrorAs(t, err, &typed, "score %v", score)
	assert.Equal(t, agents.Timeout, typed.Kind)
	assert.Equal(t, agents.FromGrader, typed.Source)
	assert.Contains(t, err.Error(), "at "+<-at+":")
	assert.Less(t, time.Since(begin), 20*time.Second)
}

// A failure that comes of the end of time is none of the agent's.
func TestCheckThatNoticesTheEndOfTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := check(func(t require.TestingT, _ *evaltest.Trial) {
		ctx := t.(interface{ Context() context.Context }).Context()
		<-ctx.Done()
		require.NoError(t, ctx.Err())
	}).Grade(ctx, &evaltest.Trial{})
	var typed *agents.Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, agents.Timeout, typed.Kind)
}

// A goroutine that outlives its check cannot change what was said, nor end anything but itself.
func TestCheckGoroutineThatComesLate(t *testing.T) {
	t.Parallel()
	release, done := make(chan struct{}), make(chan struct{})
	score, err := check(func(t require.TestingT, _ *evaltest.Trial) {
		go func() {
			defer close(done)
			<-release
			t.Errorf("late")
			require.True(t, false)
		}()
	}).Grade(t.Context(), &evaltest.Trial{})
	close(release)
	<-done
	require.NoError(t, err)
	assert.Equal(t, "1", score.String())
}

func TestCheckScore(t *testing.T) {
	t.Parallel()
	scored := func(s evaltest.Score, err error) *criteria.CheckFunc {
		return criteria.CheckScore("share of rows", func(context.Context, *evaltest.Trial) (evaltest.Score, error) { return s, err })
	}
	score, err := scored(evaltest.Ratio(2, 3).Because("two"), nil).Grade(t.Context(), &evaltest.Trial{})
	require.NoError(t, err)
	assert.Equal(t, 0, score.Cmp(evaltest.Ratio(2, 3)))
	assert.Equal(t, "two", score.Reason)

	_, err = scored(evaltest.Score{}, os.ErrNotExist).Grade(t.Context(), &evaltest.Trial{})
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = scored(evaltest.Score{}, agents.Errorf(agents.RateLimit, agents.FromProvider, "429")).Grade(t.Context(), &evaltest.Trial{})
	var typed *agents.Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, agents.RateLimit, typed.Kind)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = criteria.CheckScore("slow", func(ctx context.Context, _ *evaltest.Trial) (evaltest.Score, error) {
		<-ctx.Done()
		return evaltest.Score{}, fmt.Errorf("asked: %w", ctx.Err())
	}).Grade(ctx, &evaltest.Trial{})
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, agents.Timeout, typed.Kind)
}
