package criteriatest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/randtraj"
)

// tape is a trajectory being written.
type tape struct {
	events []agents.Event
	now    time.Time
	calls  int
	name   string // begins the ids of its calls
	answer string // id of the answer under way; "": the agent gives none
	open   []openCall
}

type openCall struct{ id, output string }

func newTape() *tape {
	t := &tape{now: randtraj.Start, name: "c"}
	t.add(agents.Prompt("Do it."))
	return t
}

// resumed is a tape that goes on after events, a few seconds later. name begins the ids of its calls.
func resumed(events []agents.Event, name string) *tape {
	t := &tape{events: events[:len(events):len(events)], now: randtraj.Start, name: name}
	if len(events) > 0 {
		t.now = events[len(events)-1].Time
	}
	return t
}

func (t *tape) add(e agents.Event) {
	t.now = t.now.Add(10 * time.Millisecond)
	t.events = append(t.events, e.At(t.now))
}

// begin does an act; a call stays open. It returns the call's id, "" for what is no call.
func (t *tape) begin(a act, parent string) string {
	t.now = t.now.Add(a.wait)
	e := a.event
	if e.Kind == agents.EventCall {
		t.calls++
		e.Call.ID = fmt.Sprintf("%s%d", t.name, t.calls)
		t.open = append(t.open, openCall{e.Call.ID, a.output})
	}
	if e.Kind != agents.EventPrompt {
		e = e.Under(parent)
		if parent == "" {
			e = e.In(t.answer)
		}
	}
	t.add(e)
	return e.Call.ID
}

// end settles the i-th open call.
func (t *tape) end(i int, s agents.Status) {
	c := t.open[i]
	t.open = append(t.open[:i:i], t.open[i+1:]...)
	t.add(agents.End(c.id, s, c.output))
}

// do does an act; a call ends at once.
func (t *tape) do(a act, s agents.Status) {
	if t.begin(a, "") != "" {
		t.end(len(t.open)-1, s)
	}
}

// all does acts one after the other; calls complete.
func (t *tape) all(acts []act) *tape {
	for _, a := range acts {
		t.do(a, agents.Completed)
	}
	return t
}

// weave does the acts in this order, as agents do: some side by side, some inside a sub-agent, with statuses of every kind, with other
// things in between.
func (t *tape) weave(rng *rand.Rand, acts []act) {
	parent, answers, together := "", rng.IntN(3) > 0, rng.IntN(3) > 0
	for _, a := range acts {
		if answers && rng.IntN(2) == 0 {
			t.answer = fmt.Sprintf("%sm%d", t.name, len(t.events))
		}
		switch rng.IntN(16) {
		case 0:
			if parent == "" {
				parent = t.begin(callAct(agents.ToolCall{Kind: agents.Sub}), "")
			} else {
				parent = ""
			}
		case 1:
			t.do(nothing, status(rng))
		case 2:
			t.add(agents.Request().In(t.answer))
		case 3:
			t.add(agents.Spent(agents.Usage{InputTokens: 40, OutputTokens: 2, Cost: 0.001}).In(t.answer))
		case 4:
			t.now = t.now.Add(time.Duration(rng.IntN(90)) * time.Second)
		case 5:
			t.add(agents.Say("Let me look.").In(t.answer).Under(parent))
		}
		id := t.begin(a, parent)
		if id != "" && rng.IntN(6) == 0 {
			t.add(agents.End(id, agents.InProgress, ""))
		}
		for len(t.open) > 0 && (!together || rng.IntN(2) == 0) {
			i := len(t.open) - 1
			if together {
				i = rng.IntN(len(t.open))
			}
			if t.open[i].id == parent {
				break
			}
			if rng.IntN(8) == 0 {
				t.open = append(t.open[:i:i], t.open[i+1:]...) // its end is never seen
				break
			}
			t.end(i, status(rng))
			if !together {
				break
			}
		}
	}
	for len(t.open) > 0 && rng.IntN(5) > 0 {
		t.end(rng.IntN(len(t.open)), status(rng))
	}
}

func status(rng *rand.Rand) agents.Status {
	switch rng.IntN(12) {
	case 0, 1:
		return agents.Failed
	case 2, 3:
		return agents.Denied
	case 4:
		return agents.Unresolved
	}
	return agents.Completed
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }
