package wrong

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/wrong/calendar"
)

// Criteria that look beyond the trajectory while the agent works: at a clock, a die, a file, the environment.

var worlds = []Case{
	{Name: "the clock", New: live(sinceFirst{}), Rules: "pure"},
	{Name: "the clock, behind a helper of another package", New: live(overdue{}), Rules: "pure"},
	{Name: "the clock, from when it was made", New: live(sinceMade{made: time.Now()}), Rules: "pure", Also: "reachable"},
	{Name: "random numbers", New: live(dice{}), Rules: "pure", Steps: long(removes), Chance: true},
	{Name: "a constructor that rolls dice", New: newPerValue(), Rules: "pure", Made: true},
	{Name: "a file looked for while the agent works", New: live(fileThere{}), Rules: "reachable"},
	{Name: "the environment asked while the agent works", New: live(lenient{})},
	{Name: "a goroutine that judges", New: live(parallel{})},
}

// sinceFirst measures time by the clock.
type sinceFirst struct{}

func (sinceFirst) String() string                    { return "at most 10 minutes" }
func (sinceFirst) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (sinceFirst) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.Len() > 0 && time.Since(tr.Event(0).Time) > 10*time.Minute)
}
func (sinceFirst) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	tr := trial.Trajectory
	return evaltest.PassIf(tr.Len() == 0 || tr.Event(tr.Len()-1).Time.Sub(tr.Event(0).Time) <= 10*time.Minute), nil
}

// overdue has another package measure it.
type overdue struct{ sinceFirst }

func (overdue) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.Len() > 0 && calendar.Overdue(tr.Event(0).Time, 10*time.Minute))
}

// sinceMade measures time from the moment at which it was made.
type sinceMade struct {
	sinceFirst
	made time.Time
}

func (c sinceMade) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.Len() > 0 && time.Since(c.made) > 10*time.Minute)
}

// dice decides now and then only, to save time.
type dice struct{ noRM }

func (c dice) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rand.IntN(2) == 0 {
		return evaltest.Undecided
	}
	return c.noRM.LiveVerdict(tr)
}

// perValue draws what it looks at when it is made.
type perValue struct {
	noRM
	n int
}

// newPerValue is a constructor; each number comes up in turn, as one does sooner or later.
func newPerValue() func() evaltest.Criterion {
	n := 0
	return func() evaltest.Criterion { n++; return perValue{n: n % 2} }
}

func (c perValue) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.n == 0 && rm.Tally(tr).Ran() > 0)
}

// fileThere looks for what the tests leave behind.
type fileThere struct{ tested }

func (fileThere) LiveVerdict(*agents.Trajectory) evaltest.Verdict {
	_, err := os.Stat("test-report-of-the-agent.xml")
	return parts.PassIf(err == nil)
}

// lenient is switched off from outside.
type lenient struct{ noRM }

func (c lenient) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if os.Getenv("RM_IS_FINE_IN_THESE_TESTS") != "" {
		return evaltest.Undecided
	}
	return c.noRM.LiveVerdict(tr)
}

// parallel lets a goroutine judge.
type parallel struct{ noRM }

func (c parallel) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	verdict := make(chan evaltest.Verdict)
	go func() { verdict <- c.noRM.LiveVerdict(tr) }()
	return <-verdict
}
