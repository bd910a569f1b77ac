package wrong

import (
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

type key struct{ name string }

// A step sees each event once, whoever asks first.
type captured struct{ base }

func (c *captured) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	n := 0
	agents.Fold(tr, key{c.name}, func(s struct{}, e agents.Event) struct{} {
		if e.Kind == agents.EventCall {
			n++ // want `a step of agents.Fold is not pure: it writes to the variable n; keep it in what the step returns`
		}
		return s
	})
	return failIf(n > 3)
}

type capturedMap struct{ base }

func (c *capturedMap) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	tools := map[string]bool{}
	tr.Tally(key{c.name}, func(call agents.ToolCall) bool {
		tools[call.Name] = true // want `a step of agents.Tally is not pure: it writes to the variable tools`
		return true
	})
	return failIf(tools["rm"])
}

type steppedField struct {
	base
	n int
}

func (c *steppedField) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	agents.Fold(tr, key{c.name}, func(s int, e agents.Event) int {
		c.n = s // want `writes to the field n`
		return s + 1
	})
	return failIf(c.n > 3)
}

type steppedMethod struct {
	base
	n int
}

func (c *steppedMethod) step(s int, e agents.Event) int {
	c.n++
	return s + 1
}

func (c *steppedMethod) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(agents.Fold(tr, key{c.name}, c.step) > 3) // want `calls steppedMethod.step, which writes to the field n`
}

type steppedClock struct{ base }

func (c *steppedClock) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(agents.Fold(tr, key{c.name}, func(last time.Time, e agents.Event) time.Time {
		return time.Now() // want `calls time.Now`
	}).IsZero())
}

type weighing struct {
	base
	tally func(*agents.Trajectory) agents.Tally
}

// A step in a constructor is one, too.
func newWeighing(name string) *weighing {
	c := &weighing{base: base{name}}
	asked := 0
	c.tally = func(tr *agents.Trajectory) agents.Tally {
		return tr.Weigh(key{name}, func(call agents.ToolCall) int {
			asked++ // want `a step of agents.Weigh is not pure: it writes to the variable asked`
			return asked
		})
	}
	return c
}

func (c *weighing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(c.tally(tr).Ran() > 3)
}

var _ = newWeighing

type viewed struct{ base }

func (c *viewed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	started := 0
	v := tr.View(key{c.name}, func() func(agents.Event, func(agents.Event)) {
		started++ // want `a step of agents.View is not pure: it writes to the variable started`
		return func(e agents.Event, emit func(agents.Event)) { emit(e) }
	})
	return failIf(started > 0 && v.Len() > 0)
}
