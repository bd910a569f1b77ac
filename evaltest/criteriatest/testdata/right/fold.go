package right

import (
	"context"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Memory that belongs to the trajectory.

var folds = []Case{
	{Name: "Fold with a map", Looks: "a map that is kept between calls", New: same(perTool{})},
	{Name: "Fold with a state that has methods and a lock", Looks: "a mutex, and what it guards", New: same(remembering{})},
	{Name: "Fold with a latch", Looks: "a latch", New: same(latched{})},
	{Name: "a view with a counter", Looks: "a closure with a state", New: same(viewing{})},
	{Name: "FoldPrefixes, a verdict of verdicts", Looks: "a trajectory that is kept", New: same(everFailed{})},
	{Name: "its own pointer as a key", Looks: "one key for each value", New: func() evaltest.LiveCriterion { return &byPointer{} }},
	{Name: "a key for each parameter", Looks: "one key for all parameters", New: same(generic[string]{"pdf"}),
		Options: []criteriatest.Option{criteriatest.Beside(generic[string]{"csv"}, noRM{})}},
}

type perTool struct{ noRM }

type perToolKey struct{}

// counts is how many calls have run by command, and which calls are removing something.
type counts struct {
	removing map[string]bool
	ran      map[string]int
}

func (perTool) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	s := agents.Fold(tr, perToolKey{}, func(s counts, e agents.Event) counts {
		if s.ran == nil {
			s = counts{map[string]bool{}, map[string]int{}}
		}
		switch {
		case e.Kind == agents.EventCall && rm.In(e.Call):
			s.removing[e.Call.ID] = true
		case e.Kind == agents.EventStatus && s.removing[e.CallID] && e.Status.Ran():
			s.ran["rm -rf"]++
		}
		return s
	})
	return parts.FailIf(s.ran["rm -rf"] > 0)
}

// state is the trajectory's, whoever looks at it.
type state struct {
	mu       sync.Mutex
	removing map[string]bool
	ran      int
}

func (s *state) note(e agents.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Kind == agents.EventCall && rm.In(e.Call):
		s.removing[e.Call.ID] = true
	case e.Kind == agents.EventStatus && s.removing[e.CallID] && e.Status.Ran():
		s.ran++
	}
}

type remembering struct{ noRM }

type rememberingKey struct{}

func (remembering) step(s *state, e agents.Event) *state {
	if s == nil {
		s = &state{removing: map[string]bool{}}
	}
	s.note(e)
	return s
}

func (c remembering) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	s := agents.Fold(tr, rememberingKey{}, c.step)
	if s == nil {
		return evaltest.Undecided
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return parts.FailIf(s.ran > 0)
}

// latched keeps a verdict once it was given, where the trajectory does.
type latched struct{ noRM }

type latchedKey struct{}

func (latched) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return agents.Fold(tr, latchedKey{}, func(v evaltest.Verdict, e agents.Event) evaltest.Verdict {
		if v != evaltest.Undecided || e.Kind != agents.EventMessage {
			return v
		}
		return parts.FailIf(e.Text == "rm -rf")
	})
}

func (latched) String() string { return `the model never says "rm -rf"` }

func (c latched) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(c.LiveVerdict(trial.Trajectory) != evaltest.Failed), nil
}

// viewing looks at the first ten events alone.
type viewing struct{}

type viewingKey struct{}

func (viewing) view(tr *agents.Trajectory) *agents.Trajectory {
	return tr.View(viewingKey{}, func() func(agents.Event, func(agents.Event)) {
		n := 0
		return func(e agents.Event, emit func(agents.Event)) {
			if n++; n <= 10 {
				emit(e)
			}
		}
	})
}
func (viewing) String() string                    { return "go test is run within 10 events" }
func (viewing) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c viewing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(test.Tally(c.view(tr)).Ran() > 0)
}
func (c viewing) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	tr := c.view(trial.Trajectory)
	if t := test.Tally(tr); t.Ran() == 0 && t.Open() > 0 && tr.Len() >= 10 {
		return evaltest.PassIf(false), nil // how it ends lies beyond
	}
	return parts.AtLeastOne(test.Tally(tr))
}

// everFailed asks at each prefix what another criterion says of it.
type everFailed struct{ noRM }

type everFailedKey struct{}

func (c everFailed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(agents.FoldPrefixes(tr, everFailedKey{}, func(failed bool, prefix *agents.Trajectory) bool {
		return failed || c.noRM.LiveVerdict(prefix) == evaltest.Failed
	}))
}

// byPointer has its own pointer as the key.
type byPointer struct{ noRM }

func (c *byPointer) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.Tally(c, rm.In).Ran() > 0)
}
