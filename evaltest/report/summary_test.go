package report_test

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// eventful is a run in which everything happens.
func eventful() *book {
	b := newBook()
	reused := func(regraded bool) *journal.Verdict {
		v := passed()
		v.Reused = &journal.Reused{Run: "20260202T000000-271", Dir: "/shop/.evaltest/20260202T000000-271", Folder: "trials/x", Regraded: regraded}
		return v
	}
	limited := func(r *journal.TrialRecord) { r.Intent.Limits.Turns = 30 }
	stopped := func(v *journal.Verdict) *journal.Verdict {
		v.Stop = &journal.Stop{Reason: "rm was run", TurnsLeft: 12}
		return v
	}
	b.several(5, "TestPDF", passed, limited)
	b.add("TestPDF/clean", stopped(failed()), limited)
	b.add("TestPDF/slow", stopped(passed()))
	b.add("TestUndecided", &journal.Verdict{Outcome: verdict.OutcomeUndecided, Limit: "step budget of 5 calls", Complete: true})
	// Two errors, then a result.
	b.add("TestHealed", retried(errored(rateLimit)(), 1500*time.Millisecond))
	b.add("TestHealed", retried(errored(overloaded)(), 3*time.Second), attempt(2))
	b.add("TestHealed", passed(), attempt(3))
	// Errors without one.
	b.add("TestErrored", retried(errored(rateLimit)(), time.Second))
	b.add("TestErrored", errored(agents.Errorf(agents.RateLimit, agents.FromProvider, "429 Too Many Requests\n\x16--- FAIL: TestForged (0.00s)\x1b[31m"))(), attempt(2))
	b.several(2, "TestErroredToo", errored(rateLimit))
	b.add("TestJudged", errored(nil)(), func(r *journal.TrialRecord) {
		r.Criteria = []journal.CriterionResult{{Name: "judge: is it polite?", Score: verdict.Unknown, Err: judgeGone}, {Name: "another judge", Score: verdict.Unknown, Err: judgeGone}}
	})
	b.several(2, "TestRefused", notRun(agents.Errorf(agents.Auth, agents.FromProvider, "2 errors in a row, the last auth (provider): 401")))
	b.add("TestLate", notRun(agents.Errorf(agents.Timeout, agents.FromAuthor, "run with -timeout 12m or more"))())
	b.add("TestKilled", nil, func(r *journal.TrialRecord) { r.Grading = "calls os.Exit" })
	// Lost before its provider was.
	lost := errored(overloaded)()
	lost.Outcome = verdict.OutcomeFailed
	b.add("TestLostBefore", lost)
	// Beside the verdict.
	b.add("TestLies", &journal.Verdict{Outcome: verdict.OutcomeFailed, Complete: true}, func(r *journal.TrialRecord) {
		r.Criteria = []journal.CriterionResult{{Name: "liar", Violation: "it was decided live as 1 and graded as 0"}}
	})
	b.add("TestAsserted", passed(), func(r *journal.TrialRecord) { r.Failures = []string{"want 3\n got 4", "want 5"} })
	healedByAgent := passed()
	healedByAgent.Version, healedByAgent.Requests = "2.1.333", &journal.Requests{N: 9,
		Models:   []journal.AnsweredModel{{Asked: "sonnet", Answered: "claude-sonnet-4-5", N: 5}, {Asked: "haiku", Answered: "haiku", N: 1}},
		Failures: []journal.RequestFailure{{N: 1, Kind: agents.Overloaded, Status: 529, Overcome: true}, {N: 2, Kind: agents.Overloaded, Status: 529, Overcome: true}, {N: 3, Kind: agents.Network, Overcome: true}, {N: 9, Kind: agents.Network}},
	}
	b.add("TestOvercome", healedByAgent)
	b.add("TestDirect", passed(), func(r *journal.TrialRecord) {
		r.Intent.Agent.Upstream, r.Intent.Policy = "direct: Bedrock", journal.Policy{OnError: "skip"}
	})
	b.add("TestScripted", passed(), func(r *journal.TrialRecord) {
		r.Intent.Agent, r.Intent.Mode = journal.Agent{Name: "scripted", Upstream: "script"}, verdict.Shadow
	})
	// Smoke checks.
	b.several(3, "TestSmoke/armed", func() *journal.Verdict {
		v := passed()
		v.Smoke, v.Stop = true, &journal.Stop{Mode: verdict.Armed, Open: []string{"out.csv exists"}}
		return v
	}, smoke)
	b.add("TestSmoke/full", passed(), smoke)
	b.add("TestSmoke/lost", failed(), smoke, func(r *journal.TrialRecord) {
		r.Criteria = []journal.CriterionResult{{Name: "never rm", Violated: true}}
	})
	b.add("TestSmoke/errored", errored(rateLimit)(), smoke)
	// Of an earlier run.
	b.several(2, "TestOld", func() *journal.Verdict { return reused(false) })
	b.add("TestOldGraded", reused(true))
	b.run.Problems = []string{"journal-evals-4711-k3f9q2xa.jsonl:17: a second intent of trials/x"}
	b.process.Resumes = "/shop/.evaltest/20260202T000000-271"
	return b
}

func TestSummary(t *testing.T) {
	t.Parallel()
	all := func(n int, v func() *journal.Verdict) func(b *book) {
		return func(b *book) { b.several(n, "TestPDF", v) }
	}
	for name, fill := range map[string]func(b *book){
		"none asked":   func(*book) {},
		"all passed":   all(10, passed),
		"all errored":  all(10, errored(rateLimit)),
		"all not run":  all(3, notRun(agents.Errorf(agents.Missing, agents.FromAgent, "2 errors in a row"))),
		"one survivor": func(b *book) { b.add("TestPDF/lucky", passed()); all(9, errored(overloaded))(b) },
		"smoke alone":  func(b *book) { b.several(4, "TestPDF", passed, smoke); b.add("TestPDF/lost", failed(), smoke) },
		"an old record": func(b *book) {
			b.add("TestPDF", passed(), func(r *journal.TrialRecord) { r.Intent.Policy, r.Intent.Mode = journal.Policy{}, "" })
		},
		"many kinds": func(b *book) {
			for i, k := range []agents.ErrorKind{agents.Missing, agents.Auth, agents.Quota, agents.RateLimit, agents.Overloaded, agents.Network, agents.Protocol, agents.Crash, agents.Timeout, agents.Interrupted} {
				b.several(i+1, "Test"+string(k), errored(agents.Errorf(k, agents.FromAgent, "it is %s; %s", k, strings.Repeat("and so on ", 50))))
			}
		},
		"everything": func(b *book) { *b = *eventful() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBook()
			fill(b)
			golden(t, strings.ReplaceAll(name, " ", "-")+".txt", report.Summarize(b.run).Text()+"\n")
		})
	}
}

// Each thing that a summary counts is what was put into the run, whatever the words.
func TestSummaryCounts(t *testing.T) {
	t.Parallel()
	s := report.Summarize(eventful().run)
	assert.Equal(t, report.Rate{Passed: 14, Failed: 1, KnownFailed: 2, SparedFailed: 1, Undecided: 1, Errored: 5, NotRun: 3}, s.Full)
	assert.Equal(t, report.Rate{Passed: 4, Failed: 1, Errored: 1}, s.Smoke)
	assert.Equal(t, 3, s.ArmedPasses)
	assert.Equal(t, 1, s.LeftOpen)
	kinds := map[string]int{}
	for _, c := range s.Errors {
		kinds[string(c.Kind)+" "+string(c.Source)] = c.N
	}
	assert.Equal(t, map[string]int{
		"rate_limit provider": 4, "judge grader": 1, "interrupted harness": 1, "overloaded provider": 1, "auth provider": 2, "timeout author": 1,
	}, kinds,
		"a trial counts once for each kind, and attempts that another followed are not among them")
	assert.Equal(t, agents.RateLimit, s.Errors[0].Kind, "the most frequent first")
	assert.Equal(t, 3, s.Contracts.N+s.Asserted.N)
	assert.Equal(t, report.Stops{Trials: 5, Limited: 1, TurnsLeft: 12}, s.Stops)
	assert.Equal(t, 1, s.Unobserved)

	one := agents.Usage{InputTokens: 10, CachedTokens: 50, CacheWriteTokens: 20, OutputTokens: 5, Cost: 0.25}
	assert.Equal(t, report.Reused{Trials: 3, Regraded: 1, Usage: times(one, 3)}, s.Reused)
	r := s.Retries
	assert.Equal(t, []any{3, 1, times(one, 3), 6 * time.Second, 5500 * time.Millisecond}, []any{r.Attempts, r.Healed, r.Usage, r.Took, r.Waited})
	// All attempts but those not run, the one left open, and the three that were taken over; a script costs no money.
	want := times(one, len(eventful().run.Trials)-3-1-3)
	want.Cost -= one.Cost
	assert.Equal(t, want, s.Usage)
	assert.Equal(t, 2*time.Second*time.Duration(len(eventful().run.Trials)-1), s.Took)
	assert.Equal(t, time.Second*time.Duration(len(eventful().run.Trials)+1), s.Elapsed)
}

func times(u agents.Usage, n int) (sum agents.Usage) {
	for range n {
		sum = sum.Add(u)
	}
	return sum
}

// Each outcome is counted as what it is, by whether an error had a part in it.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		outcome  verdict.Outcome
		measured bool
		want     report.Rate
	}{
		{"passed", verdict.OutcomePassed, true, report.Rate{Passed: 1}},
		{"failed", verdict.OutcomeFailed, true, report.Rate{Failed: 1}},
		{"passed, in spite of an error", verdict.OutcomePassed, false, report.Rate{KnownPassed: 1}},
		{"failed before an error", verdict.OutcomeFailed, false, report.Rate{KnownFailed: 1}},
		{"undecided", verdict.OutcomeUndecided, false, report.Rate{Undecided: 1}},
		{"errored", verdict.OutcomeErrored, false, report.Rate{Errored: 1}},
		{"not run", verdict.OutcomeNotRun, false, report.Rate{NotRun: 1}},
		{"of a later version", "improved", false, report.Rate{Errored: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBook()
			b.add("TestPDF", &journal.Verdict{Outcome: tc.outcome, Measured: tc.measured})
			assert.Equal(t, tc.want, report.Summarize(b.run).Full)
		})
	}
}

// A trial counts for each kind of error that it had, and once for each.
func TestErrorsOfOneTrial(t *testing.T) {
	t.Parallel()
	b := newBook()
	b.add("TestPDF", errored(agents.Errorf(agents.Timeout, agents.FromProvider, "no answer"))(), func(r *journal.TrialRecord) {
		r.Criteria = []journal.CriterionResult{{Name: "one", Err: judgeGone}, {Name: "two", Err: judgeGone}, {Name: "three", Err: agents.Errorf(agents.Timeout, agents.FromGrader, "slow")}}
	})
	var got []string
	for _, c := range report.Summarize(b.run).Errors {
		assert.Equal(t, 1, c.N)
		got = append(got, string(c.Kind)+" "+string(c.Source))
	}
	assert.Equal(t, []string{"judge grader", "timeout grader", "timeout provider"}, got)
}

// Who answered is told from who was asked, whether the gateway saw it or the session showed it.
func TestAgents(t *testing.T) {
	t.Parallel()
	b := newBook()
	for _, model := range []string{"sonnet", "", "claude-sonnet-4-5", "claude-sonnet-4-5"} {
		v := passed()
		v.Model = model
		b.add("TestPDF/"+model, v)
	}
	s := report.Summarize(b.run)
	assert.Equal(t, []report.Agent{{Agent: b.run.Trials[0].Intent.Agent, Answered: []string{"claude-sonnet-4-5"}, Trials: 3}}, s.Agents)
	assert.Contains(t, s.Text(), "claude 2.1.332, model sonnet, answered by claude-sonnet-4-5, at api.example.com; 3 trials")
}

// A rate never mixes gates, nor the trials of one gate by what they came to: smoke checks that were lost, or never begun, are in the
// rate of smoke checks, too.
func TestARateNeverMixesGates(t *testing.T) {
	t.Parallel()
	armed := func() *journal.Verdict {
		v := passed()
		v.Smoke = true
		return v
	}
	b := newBook()
	b.several(4, "TestSmoke/passed", armed, smoke)
	b.several(3, "TestSmoke/lost", failed, smoke)
	b.several(2, "TestSmoke/errored", errored(rateLimit), smoke)
	b.several(1, "TestSmoke/refused", notRun(rateLimit), smoke)
	b.add("TestSmoke/open", nil, smoke)
	b.several(5, "TestFull", passed)
	mustNotOnly := func(r *journal.TrialRecord) { // nothing armed can pass, so that the gate is the full one
		r.Intent.Mode, r.Intent.Criteria = verdict.Armed, []journal.CriterionSpec{{Name: "never rm", Armed: "Fail"}, {Name: "out.csv exists"}}
	}
	b.several(1, "TestMustNot", passed, mustNotOnly)
	s := report.Summarize(b.run)
	assert.Equal(t, report.Rate{Passed: 4, Failed: 3, Errored: 3, NotRun: 1}, s.Smoke)
	assert.Equal(t, report.Rate{Passed: 6}, s.Full)
	assert.Equal(t, 4, s.ArmedPasses)
	b.add("TestOldRecord", armed()) // its intent does not say that it is one
	assert.Equal(t, 5, report.Summarize(b.run).Smoke.Passed)
}

// One package can be summed up by itself, and the packages add up to the run.
func TestSummaryOfAPackage(t *testing.T) {
	t.Parallel()
	b := eventful()
	other := func(r *journal.TrialRecord) { r.Intent.ID.Package = "example.com/shop/more" }
	b.several(3, "TestMore", failed, other)
	b.add("TestMore/errored", errored(overloaded)(), other)
	one, two := report.Summarize(b.run, pkg), report.Summarize(b.run, "example.com/shop/more")
	assert.Equal(t, report.Summarize(eventful().run).Text(), one.Text())
	assert.Equal(t, report.Rate{Failed: 3, Errored: 1}, two.Full)
	assert.Equal(t, []string{"example.com/shop/more"}, two.Packages)
	assert.Contains(t, two.Text(), "4 trials of example.com/shop/more, run ")
	assert.NotContains(t, two.Text(), "retries ")

	all := report.Summarize(b.run)
	assert.Contains(t, all.Text(), "of 2 packages, run ")
	assert.Equal(t, one.Full.Trials()+two.Full.Trials(), all.Full.Trials())
	assert.Equal(t, one.Took+two.Took, all.Took)
	assert.Equal(t, all.Text(), report.Summarize(b.run, pkg, "example.com/shop/more").Text())
	assert.Contains(t, report.Summarize(b.run, "example.com/none").Text(), "nothing was measured (coverage 0 of 0)")
}

// A trial whose process is at work is no error yet, and neither is one that waits for its next attempt. Once the process is
// gone, or cannot be seen, both are.
func TestTrialsUnderWay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		owner owner.Owner
		want  report.Rate
	}{
		{"alive", owner.Self(), report.Rate{Passed: 1, UnderWay: 2}},
		{"gone", owner.Owner{PID: os.Getpid(), Start: "before", Host: owner.Self().Host, Namespace: owner.Self().Namespace}, report.Rate{Passed: 1, Errored: 2}},
		{"on another machine", owner.Owner{PID: os.Getpid(), Start: owner.Self().Start, Host: "elsewhere", Namespace: owner.Self().Namespace}, report.Rate{Passed: 1, Errored: 2}},
		{"not on record", owner.Owner{}, report.Rate{Passed: 1, Errored: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.name == "gone" && owner.Self().Start == "" {
				t.Skip("this system does not tell one process from a later one of the same number")
			}
			b := newBook()
			b.process.Owner = tc.owner
			b.add("TestOver", passed())
			b.add("TestAtWork", nil)
			b.add("TestWaiting", retried(errored(rateLimit)(), time.Hour))
			s := report.Summarize(b.run)
			assert.Equal(t, tc.want, s.Full)
			assert.Equal(t, tc.want.UnderWay > 0, len(s.Errors) == 0)
			assert.Equal(t, tc.want.UnderWay > 0, strings.Contains(s.Text(), "2 under way"))
			m := report.NewManifest(b.run)
			require.Len(t, m.Unmeasured, 2)
			assert.Equal(t, tc.want.UnderWay > 0, m.Unmeasured[0].UnderWay)
		})
	}
}

// Whatever an agent, an error or the name of a test holds, the text is lines of printable characters that begin as ours do.
func TestNothingForgesALine(t *testing.T) {
	t.Parallel()
	const evil = "x\n\x16--- FAIL: TestForged (0.00s)\r\x1b[2J\u009b31m\x7f\x00\u0085\u2028"
	e := agents.Errorf(agents.Crash, agents.FromAgent, "%s", evil)
	b := newBook()
	b.run.Dir, b.run.Problems = "/x/"+evil, []string{evil}
	b.add("TestX"+evil, retried(errored(e)(), 0))
	b.add("TestX"+evil, errored(e)(), attempt(2))
	b.add("TestY", notRun(e)())
	b.add("TestZ", passed(), func(r *journal.TrialRecord) {
		r.Intent.ID.Package = evil
		r.Intent.Agent = journal.Agent{Name: evil, Version: evil, Model: evil, Upstream: "direct: " + evil}
		r.Intent.Policy = journal.Policy{OnError: evil, Resumes: evil}
		r.Intent.Mode = evil
		r.Failures = []string{evil}
		r.Criteria = []journal.CriterionResult{{Name: evil, Violation: evil, Violated: true, Err: e}}
		r.Verdict.Requests = &journal.Requests{
			Models:   []journal.AnsweredModel{{Asked: evil, Answered: evil + "2", N: 1}},
			Failures: []journal.RequestFailure{{Kind: evil, Message: evil, Overcome: true}},
		}
	})
	for _, s := range []*report.Summary{report.Summarize(b.run), report.Summarize(b.run, pkg), report.Summarize(b.run, evil)} {
		for i, line := range strings.Split(s.Text(), "\n") {
			assert.False(t, strings.ContainsFunc(line, unicode.IsControl), "%q", line)
			assert.True(t, i == 0 && strings.HasPrefix(line, "evaltest: ") || i > 0 && strings.HasPrefix(line, "  "), "%q", line)
		}
	}
	m := report.NewManifest(b.run)
	for _, u := range m.Unmeasured {
		for _, e := range u.Errors {
			assert.False(t, strings.ContainsFunc(strings.ReplaceAll(e.Message, "\n", ""), unicode.IsControl), "%q", e.Message)
		}
	}
}
