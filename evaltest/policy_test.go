package evaltest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
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
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/internal/faulty"
)

// moody is an agent whose n-th session, from 1, does what it is told.
type moody struct {
	name string
	n    atomic.Int64
	do   func(n int, dir string, yield func(agents.Event) bool) error
}

func (m *moody) Info() agents.Info { return agents.Info{Name: m.name} }
func (m *moody) Open(_ context.Context, s agents.Setup) (agents.Session, error) {
	return &moodySession{m, int(m.n.Add(1)), s.Dir}, nil
}

type moodySession struct {
	m   *moody
	n   int
	dir string
}

func (s *moodySession) Send(ctx context.Context, _ string) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) {
		err := s.m.do(s.n, s.dir, func(e agents.Event) bool { return ctx.Err() == nil && yield(e, nil) })
		if err != nil {
			yield(agents.Event{}, err)
		}
	}
}
func (s *moodySession) Close() (agents.Final, error) { return agents.Final{}, nil }

func works(dir string, yield func(agents.Event) bool) error {
	if err := os.WriteFile(filepath.Join(dir, "out.txt"), []byte("x"), 0o644); err != nil {
		return err
	}
	yield(agents.Say("Done.").In("m1"))
	yield(agents.Spent(agents.Usage{InputTokens: 100, OutputTokens: 10}))
	return nil
}

// tokens has it spend some before it fails.
func fails(kind agents.ErrorKind, yield func(agents.Event) bool) error {
	yield(agents.Spent(agents.Usage{InputTokens: 40, CacheWriteTokens: 2}))
	return agents.Errorf(kind, agents.FromProvider, "no luck")
}

var quick = evaltest.Backoff(time.Millisecond, 2*time.Millisecond)

// policy runs an eval of a moody agent.
func policy(t *testing.T, agent agents.Agent, opts ...evaltest.Option) (*evaltest.Result, *fakeTB) {
	var r *evaltest.Result
	tb := inFake(t.Name(), func(tb *fakeTB) {
		e := evaltest.New(tb, append([]evaltest.Option{evaltest.Agent(agent), quick}, opts...)...)
		e.Expect(&file{"out.txt"})
		r = e.Run("Go.")
	})
	return r, tb
}

func TestErrorsThatPassAreTriedAgain(t *testing.T) {
	t.Parallel()
	var dirs []string
	agent := &moody{name: t.Name(), do: func(n int, dir string, yield func(agents.Event) bool) error {
		dirs = append(dirs, dir)
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			return fmt.Errorf("the workspace is not fresh: %v, %w", entries, err)
		}
		if n < 3 {
			_ = os.WriteFile(filepath.Join(dir, "dirt"), nil, 0o644)
			return fails(agents.Overloaded, yield)
		}
		return works(dir, yield)
	}}
	r, tb := policy(t, agent)
	require.NotNil(t, r, tb.text())
	assert.False(t, tb.failed, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome)
	require.Len(t, r.Trials, 1)
	trial := r.Trials[0]
	assert.Equal(t, 3, trial.Attempt)
	require.Len(t, trial.Earlier, 2)
	assert.Equal(t, agents.Overloaded, trial.Earlier[0].Err.Kind)
	assert.Equal(t, agents.Usage{InputTokens: 180, CacheWriteTokens: 4, OutputTokens: 10}, r.Usage, "of all attempts")
	assert.Equal(t, agents.Usage{InputTokens: 100, OutputTokens: 10}, trial.Usage)
	assert.Equal(t, "3", tb.attrs["evaltest.attempts"])
	assert.Equal(t, "194", tb.attrs["evaltest.tokens"])
	assert.Contains(t, tb.text(), "attempt    1 ended in an error: overloaded (provider): no luck")
	assert.NotEqual(t, dirs[0], dirs[1])

	records := recordsOf(t, t.Name())
	require.Len(t, records, 3)
	for i, rec := range records {
		assert.Equal(t, i+1, rec.Intent.ID.Attempt)
		assert.Equal(t, i == 2, rec.Verdict.Measured)
		assert.Equal(t, i < 2, rec.Verdict.RetryIn != nil)
		assert.Positive(t, rec.Verdict.Usage.Tokens())
	}
}

// A verdict is never tried again, nor is an error that trying again would bring again.
func TestWhatIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(n int, dir string, yield func(agents.Event) bool) error
		opts []evaltest.Option
		note string
	}{
		"a failure":           {func(int, string, func(agents.Event) bool) error { return nil }, nil, "FAILED"},
		"an error that stays": {func(_ int, _ string, yield func(agents.Event) bool) error { return fails(agents.Auth, yield) }, nil, "auth (provider)"},
		"no retries":          {func(_ int, _ string, yield func(agents.Event) bool) error { return fails(agents.Network, yield) }, []evaltest.Option{evaltest.Retries(0)}, "network (provider)"},
		"no tokens left":      {func(_ int, _ string, yield func(agents.Event) bool) error { return fails(agents.Network, yield) }, []evaltest.Option{evaltest.MaxTokens(42)}, "tokens are used up"},
		"no time for Retry-After": {func(int, string, func(agents.Event) bool) error {
			return &agents.Error{Kind: agents.RateLimit, Source: agents.FromProvider, Retryable: true, RetryAfter: time.Hour, Err: errors.New("later")}
		}, []evaltest.Option{evaltest.MaxDuration(time.Minute)}, "does not last for the wait"},
		"known before the error": {func(_ int, _ string, yield func(agents.Event) bool) error {
			yield(agents.Begin(agents.ToolCall{ID: "1", Name: "Bash", Kind: agents.Execute, Commands: []string{"rm x"}}))
			yield(agents.End("1", agents.Completed, ""))
			return fails(agents.Network, yield)
		}, nil, "FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := &moody{name: t.Name(), do: tc.do}
			tb := inFake(t.Name(), func(tb *fakeTB) {
				e := evaltest.New(tb, append([]evaltest.Option{evaltest.Agent(agent), quick}, tc.opts...)...)
				e.Expect(&file{"out.txt"})
				e.Expect(&never{"rm"})
				e.Run("Go.")
			})
			assert.EqualValues(t, 1, agent.n.Load(), tb.text())
			assert.Contains(t, tb.text(), tc.note)
			assert.True(t, tb.failed)
		})
	}
}

// The time until the test's deadline bounds the waiting, too.
func TestNoRetryBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	agent := &moody{name: t.Name(), do: func(int, string, func(agents.Event) bool) error {
		return &agents.Error{Kind: agents.RateLimit, Source: agents.FromProvider, Retryable: true, RetryAfter: time.Hour, Err: errors.New("later")}
	}}
	tb := &fakeTB{name: t.Name(), attrs: map[string]string{}, ctx: context.Background(), deadline: time.Now().Add(time.Minute)}
	begin := time.Now()
	tb.run(func(tb *fakeTB) {
		e := evaltest.New(tb, evaltest.Agent(agent))
		e.Expect(&file{"out.txt"})
		e.Run("Go.")
	})
	assert.Less(t, time.Since(begin), 20*time.Second)
	assert.Contains(t, tb.text(), "-timeout comes before")
}

// A grader's error that may pass is tried again without the agent; one that stays leaves the others standing.
func TestGradersAreTriedAgain(t *testing.T) {
	t.Parallel()
	agent := &moody{name: t.Name(), do: func(_ int, dir string, yield func(agents.Event) bool) error { return works(dir, yield) }}
	var asks atomic.Int64
	outage := agents.Errorf(agents.RateLimit, agents.FromGrader, "the judge is busy")
	judge := func(well int64) evaltest.Criterion {
		return &scores{"judge", func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
			if asks.Add(1) < well {
				return evaltest.Score{}, outage
			}
			return evaltest.PassIf(true), nil
		}}
	}
	run := func(well int64) (*fakeTB, *journal.Verdict) {
		asks.Store(0)
		name := fmt.Sprintf("%s/%d", t.Name(), well)
		tb := inFake(name, func(tb *fakeTB) {
			e := evaltest.New(tb, evaltest.Agent(agent), quick)
			e.Expect(&file{"out.txt"})
			e.Expect(judge(well))
			e.Expect(&file{"out.txt"})
			e.Run("Go.")
		})
		recs := recordsOf(t, name)
		require.Len(t, recs, 1)
		require.Len(t, recs[0].Criteria, 3)
		assert.Equal(t, evaltest.Passed, recs[0].Criteria[0].Verdict)
		assert.Equal(t, evaltest.Passed, recs[0].Criteria[2].Verdict)
		return tb, recs[0].Verdict
	}
	tb, v := run(3)
	assert.Equal(t, evaltest.OutcomePassed, v.Outcome, tb.text())
	assert.EqualValues(t, 3, asks.Load())
	tb, v = run(100)
	assert.Equal(t, evaltest.OutcomeErrored, v.Outcome, tb.text())
	assert.False(t, v.Measured)
	assert.True(t, v.Complete)
	assert.EqualValues(t, 3, asks.Load())
	assert.EqualValues(t, 2, agent.n.Load(), "once each")
}

// sequence runs evals one after the other, or n at once, and returns what each came to.
func sequence(t *testing.T, agent agents.Agent, n, atOnce int, opts ...evaltest.Option) []evaltest.Outcome {
	t.Helper()
	outcomes := make([]evaltest.Outcome, n)
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			tb := inFake(fmt.Sprintf("%s/eval%03d", t.Name(), i), func(tb *fakeTB) {
				e := evaltest.New(tb, append([]evaltest.Option{evaltest.Agent(agent), evaltest.Retries(0)}, opts...)...)
				e.Expect(&file{"out.txt"})
				e.Run("Go.")
			})
			outcomes[i] = evaltest.Outcome(tb.attrs["evaltest.outcome"])
		})
	}
	wg.Wait()
	return outcomes
}

func tally(outcomes []evaltest.Outcome) string {
	n := map[evaltest.Outcome]int{}
	for _, o := range outcomes {
		n[o]++
	}
	return fmt.Sprintf("%d passed, %d errored, %d not run", n[evaltest.OutcomePassed], n[evaltest.OutcomeErrored], n[evaltest.OutcomeNotRun])
}

// unique is a name that no other agent of the run has: the breaker goes by it.
func unique(t *testing.T) string { return t.Name() + " " + rand.Text() }

func TestBreaker(t *testing.T) {
	t.Parallel()
	type doing = func(n int, dir string, yield func(agents.Event) bool) error
	failing := func(kind agents.ErrorKind, when func(n int) bool) doing {
		return func(n int, dir string, yield func(agents.Event) bool) error {
			if when(n) {
				return fails(kind, yield)
			}
			return works(dir, yield)
		}
	}
	for _, tc := range []struct {
		name string
		do   doing
		n    int
		want string
	}{
		{"four errors, then a pass", failing(agents.Overloaded, func(n int) bool { return n%5 != 0 }), 20, "4 passed, 16 errored, 0 not run"},
		{"five errors", failing(agents.Overloaded, func(int) bool { return true }), 8, "0 passed, 5 errored, 3 not run"},
		{"a pass, and 199 errors", failing(agents.Network, func(n int) bool { return n > 1 }), 200, "1 passed, 5 errored, 194 not run"},
		{"two of auth", failing(agents.Auth, func(int) bool { return true }), 5, "0 passed, 2 errored, 3 not run"},
		{"two of quota", failing(agents.Quota, func(int) bool { return true }), 5, "0 passed, 2 errored, 3 not run"},
		{"authors' mistakes", func(int, string, func(agents.Event) bool) error {
			return agents.Errorf(agents.SetupError, agents.FromAuthor, "oops")
		}, 10, "0 passed, 10 errored, 0 not run"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tally(sequence(t, &moody{name: unique(t), do: tc.do}, tc.n, 1)))
		})
	}
}

// Five quick errors do not outvote five slow successes that are under way.
func TestBreakerWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, slowOnesPass := range []bool{true, false} {
		t.Run(fmt.Sprint(slowOnesPass), func(t *testing.T) {
			t.Parallel()
			var all, quickOnes sync.WaitGroup // all ten have begun; the quick ones have failed
			all.Add(10)
			quickOnes.Add(5)
			release := make(chan struct{})
			agent := &moody{name: unique(t), do: func(n int, dir string, yield func(agents.Event) bool) error {
				if n > 10 {
					return works(dir, yield)
				}
				all.Done()
				all.Wait()
				if n%2 == 0 {
					defer quickOnes.Done()
					return fails(agents.Overloaded, yield)
				}
				quickOnes.Wait()
				<-release
				if slowOnesPass {
					return works(dir, yield)
				}
				return fails(agents.Overloaded, yield)
			}}
			var before []evaltest.Outcome
			var under sync.WaitGroup
			under.Go(func() { before = sequence(t, agent, 10, 10, evaltest.MaxAgents(20)) })
			require.Eventually(t, func() bool { return errored(t, t.Name()) == 5 }, time.Minute, 10*time.Millisecond)
			time.Sleep(300 * time.Millisecond) // the verdict comes before the count
			var after []evaltest.Outcome
			under.Go(func() { after = sequence(t, agent, 10, 10, evaltest.MaxAgents(20)) })
			time.Sleep(300 * time.Millisecond)
			assert.EqualValues(t, 10, agent.n.Load(), "new trials are held")
			close(release)
			under.Wait()
			if slowOnesPass {
				assert.Equal(t, "5 passed, 5 errored, 0 not run", tally(before))
				assert.Equal(t, "10 passed, 0 errored, 0 not run", tally(after))
			} else {
				assert.Equal(t, "0 passed, 10 errored, 0 not run", tally(before))
				assert.Equal(t, "0 passed, 0 errored, 10 not run", tally(after))
			}
		})
	}
}

// errored counts the errored trials of a test's evals on record.
func errored(t *testing.T, name string) (n int) {
	run, err := journal.Read(os.Getenv("EVALTEST_DIR"))
	require.NoError(t, err)
	for _, r := range run.Trials {
		if strings.HasPrefix(r.Intent.ID.Test, name+"/") && r.Verdict != nil && r.Verdict.Outcome == evaltest.OutcomeErrored {
			n++
		}
	}
	return n
}

// Where one agent is missing, the others go on; and what the breaker keeps from running says so, soon, and is in the summary.
func TestBreakerIsOfOneAgent(t *testing.T) {
	t.Parallel()
	missing := &moody{name: unique(t) + " missing", do: func(int, string, func(agents.Event) bool) error {
		return agents.Errorf(agents.Missing, agents.FromAgent, "install it with npm")
	}}
	there := &moody{name: unique(t) + " there", do: func(_ int, dir string, yield func(agents.Event) bool) error { return works(dir, yield) }}
	assert.Equal(t, "0 passed, 2 errored, 2 not run", tally(sequence(t, missing, 4, 1)))
	assert.Equal(t, "3 passed, 0 errored, 0 not run", tally(sequence(t, there, 3, 1)))

	begin := time.Now()
	r, tb := policy(t, missing)
	took := time.Since(begin)
	assert.Nil(t, r)
	assert.True(t, tb.failed)
	assert.Equal(t, "not_run", tb.attrs["evaltest.outcome"])
	assert.Equal(t, "missing (agent)", tb.attrs["evaltest.error"])
	assert.Contains(t, tb.text(), "not run: 2 errors in a row, the last missing (agent): install it with npm")
	assert.Less(t, took, 5*time.Second)
	_, tb = policy(t, missing, evaltest.OnError("skip"))
	assert.True(t, tb.skipped, tb.text())
}

// No more agents are at work at once than may be.
func TestAgentsAtOnce(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	agent := &moody{name: t.Name(), do: func(_ int, dir string, yield func(agents.Event) bool) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(30 * time.Millisecond)
		return works(dir, yield)
	}}
	outcomes := sequence(t, agent, 12, 12, evaltest.MaxAgents(3))
	assert.Equal(t, "12 passed, 0 errored, 0 not run", tally(outcomes))
	assert.LessOrEqual(t, most.Load(), int64(3))
}

// Silence ends an attempt, while a command at work may take its time.
func TestSilenceEndsAnAttempt(t *testing.T) {
	t.Parallel()
	silent := func(working bool) *moody {
		return &moody{name: fmt.Sprint(t.Name(), working), do: func(_ int, dir string, yield func(agents.Event) bool) error {
			yield(agents.Begin(agents.ToolCall{ID: "1", Name: "Bash", Kind: agents.Execute}))
			if !working {
				yield(agents.End("1", agents.Completed, ""))
			}
			time.Sleep(time.Second)
			if working {
				yield(agents.End("1", agents.Completed, ""))
			}
			return works(dir, yield)
		}}
	}
	_, tb := policy(t, silent(false), evaltest.IdleTimeout(200*time.Millisecond), evaltest.Retries(0))
	assert.Equal(t, "timeout (agent)", tb.attrs["evaltest.error"], tb.text())
	r, tb := policy(t, silent(true), evaltest.IdleTimeout(200*time.Millisecond), evaltest.Retries(0))
	require.NotNil(t, r, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome, tb.text())
}

// An agent that asks its model for ever is ended.
func TestRequestsHaveALimit(t *testing.T) {
	t.Parallel()
	agent := &moody{name: t.Name(), do: func(_ int, _ string, yield func(agents.Event) bool) error {
		for yield(agents.Request()) {
		}
		return nil
	}}
	_, tb := policy(t, agent, evaltest.MaxRequests(20))
	assert.Equal(t, "protocol (agent)", tb.attrs["evaltest.error"], tb.text())
	assert.Contains(t, tb.text(), "more than 20 times")
	assert.EqualValues(t, 1, agent.n.Load())
}

// Mistakes of authors are told at their line, are red whatever the policy, and are nobody else's.
func TestAuthorsMistakesInATrial(t *testing.T) {
	t.Parallel()
	_, tb := eval(t, []evaltest.Option{evaltest.Script(script.Say("hi")), evaltest.OnError("skip"), evaltest.Setup(func(context.Context, *evaltest.Trial) error {
		return errors.New("exit status 1")
	})}, func(e *evaltest.T) { e.Expect(&file{"x"}) })
	assert.True(t, tb.failed)
	assert.False(t, tb.skipped)
	assert.Equal(t, "setup (author)", tb.attrs["evaltest.error"])
	assert.Regexp(t, `policy_test\.go:\d+: Setup: exit status 1`, tb.text())
}

// What comes after the end changes nothing that was recorded, and is kept.
func TestLateEventsChangeNothing(t *testing.T) {
	t.Parallel()
	rm := agents.Begin(agents.ToolCall{ID: "late", Name: "Bash", Kind: agents.Execute, Commands: []string{"rm x"}})
	agent := &custom{send: func(_ context.Context, yield func(agents.Event, error) bool) {
		yield(agents.Say("hi"), nil)
		yield(agents.Event{}, agents.Errorf(agents.Network, agents.FromProvider, "gone"))
	}, final: agents.Final{Tail: []agents.Event{rm, agents.End("late", agents.Completed, "")}}}
	_, tb := eval(t, []evaltest.Option{evaltest.Agent(agent)}, func(e *evaltest.T) {
		e.Expect(&never{"rm"})
		e.Expect(&file{"x"})
	})
	assert.Equal(t, "errored", tb.attrs["evaltest.outcome"], tb.text())
	data, err := os.ReadFile(filepath.Join(tb.attrs["evaltest.record"], "transcript.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(data), `{"late":`), string(data))
}

// careless is an agent that asks its model once, and calls it a normal end whatever came of it.
type careless struct{}

func (*careless) Info() agents.Info {
	return agents.Info{Name: "careless", Live: true, Wire: agents.AnthropicMessages}
}

func (*careless) Open(_ context.Context, s agents.Setup) (agents.Session, error) {
	ask := &moody{do: func(_ int, _ string, yield func(agents.Event) bool) error {
		body := `{"model":"m","messages":[{"role":"user","content":"Go."}],"tools":[{"name":"Bash","input_schema":{"type":"object"}}]}`
		r, err := http.NewRequest(http.MethodPost, s.Gateway.URL+"/v1/messages", strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("X-Api-Key", s.Gateway.Token)
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
		yield(agents.Say("All is well."))
		return nil
	}}
	return &moodySession{m: ask, dir: s.Dir}, nil
}

// An agent that calls the end over a dead provider a normal one is not believed, whatever its criteria would say.
func TestNormalEndOverADeadProvider(t *testing.T) {
	t.Parallel()
	for fault, want := range map[faulty.Fault]string{faulty.Overloaded: "overloaded (provider)", faulty.Cut: "network (provider)", faulty.Unauthorized: "auth (provider)", faulty.None: ""} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			p := faulty.Start(t, faulty.Plan{Key: providerKey, Fault: fault, At: 1, Forever: true}, script.Say("Hi."))
			agent := at{Agent: new(careless), url: p.URL, key: providerKey}
			_, tb := eval(t, []evaltest.Option{evaltest.Agent(agent), asked}, func(e *evaltest.T) { e.Expect(criteria.ReplyContains("well")) })
			assert.Equal(t, want, tb.attrs["evaltest.error"], tb.text())
			assert.Equal(t, want != "", tb.failed)
		})
	}
}

// Limits on tokens hold for all attempts together.
func TestTokensOfAllAttempts(t *testing.T) {
	t.Parallel()
	agent := &moody{name: unique(t), do: func(n int, dir string, yield func(agents.Event) bool) error {
		if n == 1 {
			return fails(agents.Overloaded, yield) // for 42 tokens
		}
		return works(dir, yield) // for 110
	}}
	r, tb := policy(t, agent, evaltest.MaxTokens(150))
	require.NotNil(t, r, tb.text())
	assert.Equal(t, "tokens: 152 of 150", r.Limit)
}

// The files that an agent changed are kept for grading again, but for those of an eval whose secret is in one.
func TestChangedFilesAreKept(t *testing.T) {
	t.Parallel()
	for _, secret := range []bool{false, true} {
		r, tb := eval(t, []evaltest.Option{evaltest.Secret("KEY", "hunter2-hunter2"), evaltest.Script(script.Write("a.txt", map[bool]string{false: "x", true: "hunter2-hunter2"}[secret]))},
			func(e *evaltest.T) { e.Expect(&file{"a.txt"}) })
		require.NotNil(t, r, tb.text())
		_, err := os.Stat(filepath.Join(r.Trials[0].Record, "changed", "a.txt"))
		assert.Equal(t, secret, errors.Is(err, os.ErrNotExist), "%v", err)
	}
}
