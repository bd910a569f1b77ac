package wrong

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria whose names are no names.

var names = []Case{
	{Name: "a name that is blank", New: live(nameless{}), Rules: "string"},
	{Name: "a name of two lines", New: live(twoLines{}), Rules: "string"},
	{Name: "a name that tells the progress", New: func() evaltest.Criterion { return progress{done: new(atomic.Bool)} }, Rules: "string"},
}

// Criteria that do not return.

var ends = []Case{
	{Name: "an index into the commands of a call that has none", New: live(noCommand{}), Rules: "returns"},
	{Name: "a panic in Grade", New: live(gradePanics{}), Rules: "returns", Also: "sound trajectory"},
	{Name: "waiting for a channel", New: live(waits{}), Rules: "returns", Options: []criteriatest.Option{criteriatest.Limit(500 * time.Millisecond)}, Hangs: true},
	{Name: "FailNow in a verdict", New: live(exits{}), Rules: "returns"},
}

// nameless has no name.
type nameless struct{ tested }

func (nameless) String() string { return " " }

// twoLines has a name that breaks a report.
type twoLines struct{ tested }

func (twoLines) String() string { return "go test\nis run" }

// progress tells in its name how far it is.
type progress struct {
	tested
	done *atomic.Bool
}

func (c progress) String() string {
	if c.done.Load() {
		return "go test (done)"
	}
	return "go test"
}
func (c progress) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := c.tested.LiveVerdict(tr)
	if v == evaltest.Passed {
		c.done.Store(true)
	}
	return v
}

// noCommand does not reckon with a call whose command is hidden.
type noCommand struct{ noRM }

func (noCommand) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	failed := false
	for c := range tr.Calls() {
		failed = failed || c.Kind == agents.Execute && strings.Contains(c.Commands[0], "rm -rf") && c.Status.Ran()
	}
	return parts.FailIf(failed)
}

// gradePanics does so where nothing was done.
type gradePanics struct{ tested }

func (gradePanics) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	all := parts.Statuses(trial.Trajectory, test.In)
	return evaltest.PassIf(all[0].Ran()), nil
}

// waits for what does not come: its channel is nil.
type waits struct {
	noRM
	never chan struct{}
}

func (c waits) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		<-c.never
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// exits is a test that fails where it should give a verdict.
type exits struct{ noRM }

func (exits) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rm.Tally(tr).Ran() > 0 {
		runtime.Goexit()
	}
	return evaltest.Undecided
}
