package runstate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
)

func open(t testing.TB, dir string) *runstate.State {
	t.Helper()
	s, err := runstate.Open(dir)
	require.NoError(t, err)
	return s
}

// enter begins a trial that must not be refused.
func enter(t testing.TB, s *runstate.State, key string) *runstate.Trial {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	trial, o, err := s.Enter(ctx, key, nil)
	require.NoError(t, err)
	require.Nil(t, o)
	return trial
}

// looked is the state of the breaker of key: how many errors opened it, 0 for not open.
func looked(t testing.TB, s *runstate.State, key string) int {
	t.Helper()
	o, err := s.Opened(key)
	require.NoError(t, err)
	if o == nil {
		return 0
	}
	return o.Errors
}

func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results string
		errors  int // that opened it; 0: it is not open
	}{
		"nothing yet":                                 {"", 0},
		"four errors":                                 {"crash crash crash crash", 0},
		"five errors":                                 {"crash crash crash crash crash", 5},
		"four errors, then a pass, then four":         {"network network network network measured network network network network", 0},
		"errors of several kinds":                     {"network crash timeout overloaded rate_limit", 5},
		"one key refused":                             {"auth", 0},
		"two keys refused":                            {"auth auth", 2},
		"the agent is missing twice":                  {"missing missing", 2},
		"no money twice":                              {"quota quota", 2},
		"no money, and then no key":                   {"quota auth", 2},
		"a key refused, a pass, a key refused":        {"auth measured auth", 0},
		"a key refused on either side of an error":    {"auth network auth", 3},
		"a key refused, then others":                  {"auth crash crash crash crash", 5},
		"an author's mistake between errors":          {"crash crash nothing crash nothing crash nothing nothing", 0},
		"and the fifth error after that":              {"crash crash nothing crash nothing crash nothing crash", 5},
		"graders' errors":                             {"grader/judge grader/judge grader/judge grader/judge grader/judge grader/judge", 0},
		"the author's and the harness's own":          {"author/auth harness/auth author/missing harness/harness author/setup", 0},
		"errors of the agent count as the provider's": {"agent/crash agent/crash crash agent/crash crash", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			for _, r := range strings.Fields(c.results) {
				enter(t, s, "k").Done(result(r))
			}
			assert.Equal(t, c.errors, looked(t, s, "k"))
			assert.Zero(t, looked(t, s, "another"))
			enter(t, s, "another").Done(result("nothing"))
		})
	}
}

func TestWhatIsSaidOfAnOpenOne(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	before := time.Now()
	for range 4 {
		enter(t, s, "k").Done(result("network"))
	}
	enter(t, s, "k").Done(runstate.Result{Err: &agents.Error{Kind: agents.Overloaded, Source: agents.FromAgent,
		Err: errors.New(strings.Repeat("ü", 2000))}})
	called := false
	trial, o, err := s.Enter(context.Background(), "k", func() { called = true })
	require.NoError(t, err)
	require.NotNil(t, o)
	assert.Nil(t, trial)
	assert.False(t, called, "nobody waits for one that is open")
	assert.Equal(t, 5, o.Errors)
	assert.Equal(t, agents.Overloaded, o.Kind)
	assert.Equal(t, agents.FromAgent, o.Source)
	assert.Equal(t, strings.Repeat("ü", 500)+"…", o.Message)
	assert.WithinRange(t, o.Since, before.Add(-time.Second), time.Now().Add(time.Second))
	again, err := open(t, s.Dir()).Opened("k")
	require.NoError(t, err)
	assert.True(t, o.Since.Equal(again.Since))
	again.Since = o.Since
	assert.Equal(t, o, again)
}

func TestDoneIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	trial := enter(t, s, "k")
	for range 9 {
		trial.Done(result("auth"))
	}
	assert.Zero(t, looked(t, s, "k"))
	trial.Done(result("measured"))
	enter(t, s, "k").Done(result("auth"))
	assert.Equal(t, 2, looked(t, s, "k"), "the measured one after the first word is no word")
}

// Five quick errors beside five slow trials: the new ones are held.
func TestSlowOnesDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slow   string // what they come to, one after the other
		errors int
	}{
		"passes":                      {"measured measured measured measured measured", 0},
		"one pass, the last":          {"nothing crash crash crash measured", 0},
		"one pass, the first":         {"measured crash crash crash crash", 0},
		"a pass, then keys refused":   {"measured auth auth auth auth", 0},
		"nothing measured":            {"nothing nothing nothing nothing nothing", 5},
		"errors, which add":           {"crash nothing crash grader/judge crash", 8},
		"the author's mistakes alone": {"author/contract author/contract nothing nothing nothing", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			var slow, quick []*runstate.Trial
			for range 5 {
				slow, quick = append(slow, enter(t, s, "k")), append(quick, enter(t, s, "k"))
			}
			for _, q := range quick {
				q.Done(result("network"))
			}
			assert.Zero(t, looked(t, s, "k"), "it is not open as long as something is under way")
			entrants := make(chan *runstate.Opened, 10)
			var waiting, working sync.WaitGroup
			defer working.Wait() // they write to the folder
			for range cap(entrants) {
				waiting.Add(1)
				working.Go(func() {
					trial, o, err := s.Enter(context.Background(), "k", waiting.Done)
					assert.NoError(t, err)
					entrants <- o
					if o == nil {
						trial.Done(runstate.Result{})
					}
				})
			}
			waiting.Wait() // all of them are held
			results := strings.Fields(c.slow)
			measured := false
			for i, r := range results {
				if !measured {
					assert.Empty(t, entrants)
				}
				slow[i].Done(result(r))
				measured = measured || r == "measured"
			}
			for range cap(entrants) {
				o := receive(t, entrants)
				if c.errors == 0 {
					assert.Nil(t, o)
				} else if assert.NotNil(t, o) {
					assert.Equal(t, c.errors, o.Errors)
				}
			}
			assert.Equal(t, c.errors, looked(t, s, "k"))
		})
	}
}

func receive[T any](t testing.TB, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(soon):
		require.FailNow(t, "nobody came")
	}
	return v
}

// After the slow one's pass the count is the new trials' own.
func TestNewTrialsCountAnew(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	pass, late := enter(t, s, "k"), enter(t, s, "k")
	for range 3 {
		trials := []*runstate.Trial{enter(t, s, "k"), enter(t, s, "k")}
		for _, trial := range trials {
			trial.Done(result("auth"))
		}
		pass.Done(result("measured"))
		pass = enter(t, s, "k")
	}
	for range 4 {
		enter(t, s, "k").Done(result("crash"))
	}
	late.Done(result("crash"))
	assert.Zero(t, looked(t, s, "k"), "four in a row, and one that was asked for long before")
	enter(t, s, "k").Done(result("crash"))
	assert.Zero(t, looked(t, s, "k"), "one is under way")
	pass.Done(result("nothing"))
	assert.Equal(t, 5, looked(t, s, "k"))
}

// One pass, then nothing but errors: of 199 trials hardly more begin than it takes to see that.
func TestADeadProviderIsNotAskedOnAndOn(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 10} {
		t.Run(fmt.Sprintf("%d at once", parallel), func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			enter(t, s, "k").Done(result("measured"))
			var begun, refused, next atomic.Int64
			var all sync.WaitGroup
			for range parallel {
				all.Go(func() {
					for next.Add(1) <= 199 {
						trial, o, err := s.Enter(context.Background(), "k", nil)
						if !assert.NoError(t, err) {
							return
						}
						if o != nil {
							refused.Add(1)
							continue
						}
						begun.Add(1)
						time.Sleep(rand.N(time.Millisecond))
						trial.Done(result("overloaded"))
					}
				})
			}
			all.Wait()
			assert.GreaterOrEqual(t, begun.Load(), int64(5))
			assert.LessOrEqual(t, begun.Load(), int64(5+parallel-1))
			assert.Equal(t, int64(199), begun.Load()+refused.Load())
			assert.Equal(t, int(begun.Load()), looked(t, s, "k"))
		})
	}
}

func TestWhoIsHeldCanLeave(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	slow := enter(t, s, "k")
	quick := []*runstate.Trial{enter(t, s, "k"), enter(t, s, "k")}
	for _, q := range quick {
		q.Done(result("quota"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	trial, o, err := s.Enter(ctx, "k", func() { calls++; cancel() })
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, trial)
	assert.Nil(t, o)
	assert.Equal(t, 1, calls)
	_, _, err = s.Enter(ctx, "k", nil)
	assert.ErrorIs(t, err, context.Canceled, "a ctx that has ended begins nothing")
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, _, err = s.Enter(short, "k", func() { calls++ })
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 2, calls, "once, however often it looks")
	slow.Done(result("nothing"))
	assert.Equal(t, 2, looked(t, s, "k"), "who left was not under way")
}

// What is over leaves nothing: a folder after a thousand trials is as one after one.
func TestTheFolderDoesNotGrow(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for i := range 1000 {
		release, err := s.Acquire(context.Background(), 2, nil)
		require.NoError(t, err)
		enter(t, s, "k").Done(result([]string{"measured", "crash"}[i%2]))
		release()
	}
	var files []string
	require.NoError(t, filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, filepath.Base(path))
		}
		return err
	}))
	assert.Len(t, files, 3, "places.lock, the breaker's lock and its count: %s", files)
}
