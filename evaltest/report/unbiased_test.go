package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// world is what an eval of ten trials meets: how often its agent is up to the task, and what breaks.
type world struct {
	rate     func(trial int) float64 // true rate of a trial
	provider float64                 // of sessions that an outage ends, at some moment of theirs
	judge    float64                 // of gradings that have no judge
	retries  int                     // of a session that an outage ended and that left no verdict
	smoke    bool                    // the trials may pass by what is armed alone
}

const trialsOfSuite = 10

// suite is a run of one eval of ten trials, used again for each suite of a setting: the summary reads, and changes nothing.
type suite struct {
	world
	rng  *rand.Rand
	book *book
	all  [trialsOfSuite][]*journal.TrialRecord // by trial, its attempts
}

func newSuite(w world, seed uint64) *suite {
	s := &suite{world: w, rng: rand.New(rand.NewPCG(seed, 2026)), book: newBook()}
	for i := range s.all {
		for a := range w.retries + 1 {
			r := s.book.add("TestSuite", passed(), attempt(a+1))
			r.Intent.ID.Trial, r.Intent.Policy.Retries = i+1, w.retries
			if w.smoke {
				smoke(r)
			}
			s.all[i] = append(s.all[i], r)
		}
	}
	return s
}

// The verdicts that trials of a suite come to are values that they share.
var (
	itPassed, itFailed = passed(), failed()
	itPassedArmed      = &journal.Verdict{Outcome: verdict.OutcomePassed, Smoke: true, Measured: true, Stop: &journal.Stop{Open: []string{"judge"}}}
)

// criteria of the eval: a must-not, a file at the end, and what a judge says.
func decide(mustNot, file, judge verdict.Interval) verdict.Outcome {
	switch (verdict.Gate{}).Decide([]verdict.Criterion{{Interval: mustNot}, {Interval: file}, {Interval: judge}}) {
	case verdict.Passed:
		return verdict.OutcomePassed
	case verdict.Failed:
		return verdict.OutcomeFailed
	}
	return verdict.OutcomeErrored
}

// brokenVerdicts are those of trials that an error had a part in, by who broke and what was known by then.
var brokenVerdicts = func() map[bool]map[[2]bool]*journal.Verdict {
	out := map[bool]map[[2]bool]*journal.Verdict{}
	lost := func(is bool) verdict.Interval {
		if is {
			return verdict.Of(verdict.Failed)
		}
		return verdict.Unknown
	}
	for _, judge := range []bool{false, true} {
		out[judge] = map[[2]bool]*journal.Verdict{}
		for _, known := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			v := &journal.Verdict{Err: overloaded}
			mustNot, file := lost(known[0]), lost(known[1])
			if judge {
				v.Err = nil // the criterion has it
				if !known[0] {
					mustNot = verdict.Of(verdict.Passed)
				}
				if !known[1] {
					file = verdict.Of(verdict.Passed)
				}
			}
			v.Outcome = decide(mustNot, file, verdict.Unknown)
			out[judge][known] = v
		}
	}
	return out
}()

var judgeErred = []journal.CriterionResult{{Name: "judge", Score: verdict.Unknown, Err: judgeGone}}

// once makes one attempt at a trial with a true rate of p, and reports whether it would have passed with nothing broken. A lost trial
// breaks the must-not at some moment, or lacks its file at the end, or does not please the judge.
func (s *suite) once(r *journal.TrialRecord, p float64) (passes bool) {
	passes = s.rng.Float64() < p
	why := -1
	if !passes {
		why = s.rng.IntN(3)
	}
	brokeRuleAt, diesAt := s.rng.Float64(), s.rng.Float64()
	dies, judgeless := s.rng.Float64() < s.provider, s.rng.Float64() < s.judge
	r.Criteria = nil
	switch {
	case dies:
		r.Verdict = brokenVerdicts[false][[2]bool{why == 0 && brokeRuleAt < diesAt, false}]
	case judgeless && !s.smoke:
		r.Verdict, r.Criteria = brokenVerdicts[true][[2]bool{why == 0, why == 1}], judgeErred
	case passes && s.smoke:
		r.Verdict = itPassedArmed
	case passes:
		r.Verdict = itPassed
	default:
		r.Verdict = itFailed
	}
	return passes
}

// run runs the suite once, and returns its summary and how many of its trials would have passed with nothing broken.
func (s *suite) run() (sum *report.Summary, would int) {
	s.book.run.Trials = s.book.run.Trials[:0]
	for i, attempts := range s.all {
		passes := false
		for a, r := range attempts {
			passes = s.once(r, s.rate(i))
			s.book.run.Trials = append(s.book.run.Trials, r)
			if r.Verdict.Outcome != verdict.OutcomeErrored || r.Verdict.Err == nil || a == len(attempts)-1 {
				break
			}
		}
		if passes { // in the last attempt, which is the one that counts
			would++
		}
	}
	return report.Summarize(s.book.run), would
}

// estimate is the mean of a rate over suites, as far as they have one.
type estimate struct{ n, sum, squares float64 }

func (e *estimate) add(x float64) { e.n, e.sum, e.squares = e.n+1, e.sum+x, e.squares+x*x }

func (e *estimate) mean() float64 { return e.sum / e.n }

// off is how many standard errors the mean lies above the truth.
func (e *estimate) off(truth float64) float64 {
	variance := e.squares/e.n - e.mean()*e.mean()
	return (e.mean() - truth) / math.Sqrt(variance/e.n)
}

// most is how many standard errors may be put down to chance, in hundreds of settings.
const most = 4.5

// seen is what the suites of a setting come to on average.
type seen struct {
	among, verdicts, spared, zeros estimate
	outside                        int // suites whose true part lies outside of the interval
}

func (s *suite) simulate(suites int) (out seen) {
	for range suites {
		sum, would := s.run()
		rate := sum.Full
		if s.smoke {
			rate = sum.Smoke
		}
		if rate.Trials() != trialsOfSuite {
			panic(fmt.Sprintf("a trial was lost: %+v", rate))
		}
		among, ok := rate.Among()
		if ok {
			out.among.add(among)
		}
		if all := rate.Measured() + rate.Known(); all > 0 {
			out.verdicts.add(float64(rate.Passed+rate.KnownPassed) / float64(all))
		}
		if with, spared := rate.WithSpared(); spared {
			out.spared.add(with)
		} else if ok {
			out.spared.add(among)
		}
		out.zeros.add(float64(rate.Passed+rate.KnownPassed) / trialsOfSuite)
		lo, hi := rate.Bounds()
		if truth := float64(would) / trialsOfSuite; truth < lo || truth > hi {
			out.outside++
		}
	}
	return out
}

// suitesOf is how many suites a setting has.
func suitesOf() int {
	if testing.Short() {
		return 1000
	}
	return 10_000
}

func always(p float64) func(int) float64 { return func(int) float64 { return p } }

// Outages leave the rate among the measured what it is, whatever it is and however many they are: counting all verdicts, or errors as
// failures, would not. And what the whole suite would have come to lies in the interval, each time.
func TestRatesAreUnbiased(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		for _, outage := range []float64{0.05, 0.2, 0.4} {
			for name, w := range map[string]world{
				"provider": {rate: always(p), provider: outage},
				"judge":    {rate: always(p), judge: outage},
			} {
				t.Run(fmt.Sprintf("%s out for %v at a true rate of %v", name, outage, p), func(t *testing.T) {
					t.Parallel()
					got := newSuite(w, uint64(1000*p+100*outage)).simulate(suitesOf())
					assert.Zero(t, got.outside, "suites whose true part lies outside of the interval")
					assert.Less(t, math.Abs(got.among.off(p)), most, "mean of the rate among the measured: %.4f", got.among.mean())
					if outage < 0.4 || testing.Short() { // the bias is as small as the outages are few
						return
					}
					assert.Less(t, got.verdicts.off(p), -most, "counting all verdicts, %.4f, is no better", got.verdicts.mean())
					assert.Less(t, got.zeros.off(p), -most, "counting errors as failures, %.4f, is no better", got.zeros.mean())
				})
			}
		}
	}
}

// The same where evals differ in how hard they are, where both break at once, where errors are tried again, and in smoke checks.
func TestRatesAreUnbiasedInOtherWorlds(t *testing.T) {
	t.Parallel()
	mixed := func(i int) float64 { return []float64{0, 0.2, 0.5, 0.9, 1}[i%5] }
	for name, w := range map[string]world{
		"hard and easy evals":              {rate: mixed, provider: 0.3, judge: 0.2},
		"both break":                       {rate: always(0.6), provider: 0.4, judge: 0.4},
		"nothing breaks":                   {rate: mixed},
		"errors are tried again":           {rate: always(0.6), provider: 0.4, judge: 0.1, retries: 2},
		"judges break, errors tried again": {rate: mixed, judge: 0.4, retries: 2},
		"smoke checks":                     {rate: mixed, provider: 0.3, smoke: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := 0.0
			for i := range trialsOfSuite {
				p += w.rate(i) / trialsOfSuite
			}
			got := newSuite(w, 7).simulate(suitesOf())
			assert.Zero(t, got.outside)
			assert.Less(t, math.Abs(got.among.off(p)), most, "mean of the rate among the measured: %.4f, of %.4f", got.among.mean(), p)
		})
	}
}

// Where errors are tried again and verdicts that were known before an error are not, and evals differ in how hard they are, those
// that are lost early are measured more rarely than others. With these the rate leans the other way, if at all, and the interval
// does not lean.
func TestTheTruthLiesBetweenBothWhereTheRateLeans(t *testing.T) {
	t.Parallel()
	for _, outage := range []float64{0.1, 0.4} {
		t.Run(fmt.Sprint(outage), func(t *testing.T) {
			t.Parallel()
			hardOrEasy := func(i int) float64 { return float64(i % 2) }
			got := newSuite(world{rate: hardOrEasy, provider: outage, retries: 2}, 7).simulate(suitesOf())
			assert.Zero(t, got.outside)
			assert.Greater(t, got.among.off(0.5), most, "%.4f", got.among.mean())
			assert.Less(t, got.spared.off(0.5), most, "%.4f", got.spared.mean())
			t.Logf("true 0.5, among the measured %.4f, with what was spared another attempt %.4f", got.among.mean(), got.spared.mean())
		})
	}
}

// The world of the simulation breaks in every way that a trial can: else nothing would be shown.
func TestTheSimulationBreaksInEveryWay(t *testing.T) {
	t.Parallel()
	s := newSuite(world{rate: always(0.5), provider: 0.3, judge: 0.3}, 7)
	var all report.Rate
	errors := map[agents.ErrorKind]int{}
	for range 1000 {
		sum, _ := s.run()
		r := sum.Full
		all.Passed, all.Failed, all.KnownFailed, all.Errored = all.Passed+r.Passed, all.Failed+r.Failed, all.KnownFailed+r.KnownFailed, all.Errored+r.Errored
		for _, c := range sum.Errors {
			errors[c.Kind] += c.N
		}
	}
	assert.Positive(t, all.Passed)
	assert.Positive(t, all.Failed)
	assert.Positive(t, all.KnownFailed)
	assert.Positive(t, all.Errored)
	assert.InDelta(t, 3000, errors[agents.Overloaded], 300)
	assert.InDelta(t, 2100, errors[agents.Judge], 300)
}
