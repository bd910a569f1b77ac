package evaltest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/internal/faulty"
)

const providerKey = "sk-provider-0123456789"

// at is an agent whose provider is somewhere else than its environment says: evals that run in parallel cannot each set
// theirs.
type at struct {
	agents.Agent
	url, key string
}

func (a at) Provider(func(string) string) (agents.Provider, error) {
	if a.key == "" {
		return agents.Provider{}, agents.Errorf(agents.Auth, agents.FromAgent, "there is no key")
	}
	return agents.Provider{URL: a.url, Header: http.Header{"X-Api-Key": {a.key}}}, nil
}

func (at) Fingerprint() string { return "" }

// live runs an eval on the real Claude Code, whose provider fails as planned.
func live(t *testing.T, plan faulty.Plan, opts []evaltest.Option, steps ...script.Step) (*evaltest.Result, *fakeTB, *faulty.Provider) {
	t.Helper()
	plan.Key = providerKey
	p := faulty.Start(t, plan, steps...)
	agent := at{Agent: claude.New(claude.Path(claudePath(t))), url: p.URL, key: providerKey}
	var r *evaltest.Result
	tb := inFake(t.Name(), func(tb *fakeTB) {
		e := evaltest.New(tb, append([]evaltest.Option{evaltest.Agent(agent), asked, evaltest.Model("claude-sonnet-4-5"), evaltest.NoBreaker(),
			evaltest.Backoff(50*time.Millisecond, 100*time.Millisecond)}, opts...)...)
		e.Expect(criteria.FileExists("out.txt"))
		r = e.Run("Write out.txt.")
	})
	return r, tb, p
}

// asked has evals of an agent that costs money run: nothing here does.
var asked = evaltest.Live()

// recordsOf are the verdicts of a test's attempts.
func recordsOf(t *testing.T, name string) []*journal.TrialRecord {
	run, err := journal.Read(os.Getenv("EVALTEST_DIR"))
	require.NoError(t, err)
	var out []*journal.TrialRecord
	for _, r := range run.Trials {
		if r.Intent.ID.Test == name {
			out = append(out, r)
		}
	}
	return out
}

// Every fault of a provider, at the first request and at a later one, once and for good. None is a verdict; one that passes is
// healed by the agent's own retries or by the harness's.
func TestFaultsOfProviders(t *testing.T) {
	t.Parallel()
	claudePath(t)
	kinds := map[faulty.Fault]agents.ErrorKind{
		faulty.Unauthorized: agents.Auth, faulty.Forbidden: agents.Auth, faulty.RateLimited: agents.RateLimit, faulty.RateLimitedAfter: agents.RateLimit,
		faulty.Internal: agents.Overloaded, faulty.Overloaded: agents.Overloaded, faulty.Refused: agents.Network, faulty.Cut: agents.Network,
		faulty.Malformed: agents.Protocol, faulty.Page: agents.Protocol, faulty.Drip: agents.Timeout, faulty.Babble: agents.Timeout, faulty.Silence: agents.Timeout,
	}
	slots := make(chan struct{}, 2) // the CLI is hungry
	for _, fault := range faulty.Faults {
		for _, first := range []int{1, 2} {
			for _, forever := range []bool{false, true} {
				if testing.Short() && (first == 1 || !forever) {
					continue
				}
				if fault == faulty.Babble && (first == 1 || !forever) && os.Getenv("EVALTEST_SOAK") == "" {
					continue // it takes its time
				}
				name := fmt.Sprintf("%s at request %d, once", fault, first)
				if forever {
					name = fmt.Sprintf("%s from request %d on", fault, first)
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					begin := time.Now()
					r, tb, p := live(t, faulty.Plan{Fault: fault, At: first, Forever: forever},
						[]evaltest.Option{evaltest.Retries(1), evaltest.IdleTimeout(4 * time.Second)},
						script.Run("echo working"), script.Run("echo x > out.txt"), script.Say("Done."))
					records := recordsOf(t, t.Name())
					require.NotEmpty(t, records)
					var total agents.Usage
					for _, rec := range records {
						require.NotNil(t, rec.Verdict)
						require.NotNil(t, rec.Verdict.Requests)
						total = total.Add(rec.Verdict.Usage)
						if first == 2 && rec.Intent.ID.Attempt == 1 {
							assert.Positive(t, rec.Verdict.Usage.Tokens(), "the answer that came was paid for")
						}
					}
					last := records[len(records)-1].Verdict
					t.Logf("%s: %v, %v, %d attempts, %d requests, %d tokens, %v", name, last.Outcome, last.Err, len(records), p.Requests(), total.Tokens(), time.Since(begin).Round(10*time.Millisecond))
					assert.NotEqual(t, evaltest.OutcomeFailed, last.Outcome)
					kind := kinds[fault]
					passes := kind != agents.Auth // with time
					switch {
					case !forever && last.Outcome == evaltest.OutcomePassed:
						require.NotNil(t, r, tb.text())
						assert.False(t, tb.failed, tb.text())
						assert.Equal(t, total, r.Usage)
					case !forever && passes:
						t.Errorf("it was not healed: %s", tb.text())
					default:
						require.NotNil(t, last.Err, tb.text())
						assert.Equal(t, evaltest.OutcomeErrored, last.Outcome)
						assert.Equal(t, kind, last.Err.Kind, "%v", last.Err)
						assert.Equal(t, agents.FromProvider, last.Err.Source, "%v", last.Err)
						assert.True(t, tb.failed)
						assert.Contains(t, tb.text(), "evaltest: ERROR")
						assert.NotContains(t, tb.text(), "FAILED")
						want := 1
						if passes {
							want = 2
						}
						assert.Len(t, records, want, "attempts")
					}
					assert.NotContains(t, tb.text(), providerKey)
				})
			}
		}
	}
}

// Another model than the one that was asked for answered.
func TestSubstituteOfAModel(t *testing.T) {
	t.Parallel()
	claudePath(t)
	for _, tc := range []struct {
		answers string
		allow   []evaltest.Option
		kind    agents.ErrorKind
	}{
		{"claude-haiku-4-5", nil, agents.Protocol},
		{"claude-haiku-4-5", []evaltest.Option{evaltest.AllowModels("claude-haiku-*")}, ""},
		{"claude-sonnet-4-5-20250929", nil, ""},
	} {
		t.Run(fmt.Sprintf("%s, %d allowed", tc.answers, len(tc.allow)), func(t *testing.T) {
			t.Parallel()
			_, tb, _ := live(t, faulty.Plan{Model: tc.answers}, tc.allow, script.Run("echo x > out.txt"), script.Say("Done."))
			v := recordsOf(t, t.Name())[0].Verdict
			require.NotEmpty(t, v.Requests.Models)
			assert.Equal(t, tc.answers, v.Requests.Models[len(v.Requests.Models)-1].Answered)
			if tc.kind == "" {
				assert.Equal(t, evaltest.OutcomePassed, v.Outcome, tb.text())
				return
			}
			require.NotNil(t, v.Err, tb.text())
			assert.Equal(t, evaltest.OutcomeErrored, v.Outcome)
			assert.Equal(t, tc.kind, v.Err.Kind)
			assert.Contains(t, v.Err.Error(), "AllowModels")
			assert.Len(t, recordsOf(t, t.Name()), 1, "trying again would bring the same")
		})
	}
}

// The provider's key is nowhere that the agent can look, and in no record.
func TestKeyIsOutOfReach(t *testing.T) {
	t.Parallel()
	claudePath(t)
	look := `{ env; cat /proc/self/environ; for p in /proc/[0-9]*; do cat $p/environ $p/cmdline; done; grep -rs sk-provider "$HOME" "$TMPDIR" . ; } > seen.txt 2>/dev/null; echo x > out.txt; grep -c ANTHROPIC_API_KEY seen.txt`
	searched := false
	r, tb, _ := live(t, faulty.Plan{}, []evaltest.Option{evaltest.TearDown(func(_ context.Context, trial *evaltest.Trial) error {
		data, err := os.ReadFile(filepath.Join(trial.Dir, "seen.txt"))
		searched = err == nil && strings.Contains(string(data), "ANTHROPIC_API_KEY")
		if strings.Contains(string(data), providerKey) {
			return fmt.Errorf("the agent can read the key")
		}
		return err
	})}, script.Run(look), script.Say("Done."))
	require.NotNil(t, r, tb.text())
	assert.False(t, tb.failed, tb.text())
	assert.True(t, searched, "what it has instead was found")
	requireNowhere(t, r.Trials[0].Record, providerKey)
	assert.Contains(t, recordsOf(t, t.Name())[0].Intent.Agent.Upstream, "127.0.0.1:")
}

// requireNowhere requires that no file below dir, and no journal, holds a text.
func requireNowhere(t *testing.T, dir, text string) {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(os.Getenv("EVALTEST_DIR"), "journal-*"))
	require.NoError(t, err)
	files := journals
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}))
	require.Greater(t, len(files), 3)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NotContains(t, string(data), text, f)
	}
}

// Without a credential nothing is started, and the error says what is missing.
func TestNoCredential(t *testing.T) {
	t.Parallel()
	claudePath(t)
	agent := at{Agent: claude.New(claude.Path(claudePath(t)))}
	_, tb := eval(t, []evaltest.Option{evaltest.Agent(agent), asked}, func(e *evaltest.T) { e.Expect(&file{"x"}) })
	assert.Equal(t, "auth (agent)", tb.attrs["evaltest.error"], tb.text())
	assert.True(t, tb.failed)
}

// EVALTEST_UPSTREAM names another upstream than the agent's own, with what authenticates there; an agent with a login of its
// own is forwarded with that.
func TestOtherWaysToTheModel(t *testing.T) {
	cli := claudePath(t)
	for _, kv := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN",
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		t.Setenv(kv, "")
	}
	work := []script.Step{script.Run("env > env.txt; echo x > out.txt"), script.Say("Done.")}
	run := func(t *testing.T, seen func(env string) error) (*fakeTB, *journal.TrialRecord) {
		_, tb := eval(t, []evaltest.Option{evaltest.Agent(claude.New(claude.Path(cli))), asked, evaltest.TearDown(func(_ context.Context, trial *evaltest.Trial) error {
			data, err := os.ReadFile(filepath.Join(trial.Dir, "env.txt"))
			if err != nil {
				return err
			}
			return seen(string(data))
		})}, func(e *evaltest.T) { e.Expect(&file{"out.txt"}) })
		recs := recordsOf(t, t.Name())
		require.Len(t, recs, 1, tb.text())
		return tb, recs[0]
	}
	hidden := func(env string) error {
		if strings.Contains(env, providerKey) {
			return fmt.Errorf("the agent has the key")
		}
		return nil
	}
	t.Run("a company's gateway", func(t *testing.T) {
		p := faulty.Start(t, faulty.Plan{Key: providerKey}, work...)
		t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-provider-itself")
		t.Setenv("EVALTEST_UPSTREAM", p.URL)
		t.Setenv("EVALTEST_UPSTREAM_AUTH", "Authorization: Bearer "+providerKey)
		tb, rec := run(t, hidden)
		assert.False(t, tb.failed, tb.text())
		assert.Equal(t, strings.TrimPrefix(p.URL, "http://"), rec.Intent.Agent.Upstream)
		for _, h := range p.Headers() {
			assert.NotContains(t, fmt.Sprint(h), "sk-of-the-provider-itself", "another one's key")
		}
		requireNowhere(t, rec.Dir, providerKey)
	})
	t.Run("a key in the environment", func(t *testing.T) {
		p := faulty.Start(t, faulty.Plan{Key: providerKey}, work...)
		t.Setenv("ANTHROPIC_BASE_URL", p.URL)
		t.Setenv("ANTHROPIC_API_KEY", providerKey)
		tb, rec := run(t, hidden)
		assert.False(t, tb.failed, tb.text())
		requireNowhere(t, rec.Dir, providerKey)
	})
	t.Run("its own login", func(t *testing.T) {
		const login = "sk-ant-oat01-its-own-login"
		p := faulty.Start(t, faulty.Plan{Key: login}, work...)
		t.Setenv("ANTHROPIC_BASE_URL", p.URL)
		t.Setenv("CLAUDE_CODE_OAUTH_TOKEN", login)
		tb, rec := run(t, func(string) error { return nil })
		assert.False(t, tb.failed, tb.text())
		assert.NotNil(t, rec.Verdict.Requests, "observed all the same")
		requireNowhere(t, rec.Dir, login)
	})
	t.Run("without a gateway", func(t *testing.T) {
		p := faulty.Start(t, faulty.Plan{Key: providerKey}, work...)
		t.Setenv("ANTHROPIC_BASE_URL", p.URL)
		t.Setenv("ANTHROPIC_API_KEY", providerKey)
		t.Setenv("EVALTEST_GATEWAY", "off")
		tb, rec := run(t, func(string) error { return nil })
		assert.False(t, tb.failed, tb.text())
		assert.Nil(t, rec.Verdict.Requests, "not observed")
		assert.Contains(t, rec.Intent.Agent.Upstream, "direct")
		requireNowhere(t, rec.Dir, providerKey)
	})
	for env, want := range map[string]string{"ftp://x": "EVALTEST_UPSTREAM: give the base URL", "http://x": "write each line as a header"} {
		t.Run(env, func(t *testing.T) {
			t.Setenv("EVALTEST_UPSTREAM", env)
			t.Setenv("EVALTEST_UPSTREAM_AUTH", "no header")
			_, tb := eval(t, []evaltest.Option{evaltest.Agent(claude.New(claude.Path(cli))), asked}, func(*evaltest.T) {})
			assert.Contains(t, tb.text(), want)
			assert.Contains(t, tb.text(), "MISUSE")
		})
	}
}
