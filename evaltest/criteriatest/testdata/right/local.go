package right

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/right/words"
)

// State that lives as long as one look.

var local = []Case{
	{Name: "counters and maps of one look", Looks: "a memory", New: same(counting{})},
	{Name: "a field of a copy", Looks: "a counter in a field", New: same(countdown{left: 1})},
	{Name: "a stack of another package, for one look", Looks: "a helper that writes to what it is given", New: same(stacked{})},
	{Name: "a copy of a field, sorted", Looks: "a field sorted while judging", New: func() evaltest.LiveCriterion { return &sorting{forbidden: []string{"shred", "dd"}} }},
	{Name: "a buffer that is written to", Looks: "output", New: same(printing{})},
	{Name: "inputs that are decoded", Looks: "reading, and errors that are dropped", New: same(decoding{})},
	{Name: "sums of exact numbers", Looks: "a field that is added to", New: func() evaltest.LiveCriterion { return summing{price: big.NewRat(1, 10)} }},
	{Name: "a closure over a local variable", Looks: "a variable that a step captures", New: same(closing{})},
	{Name: "an atomic of its own, for one look", Looks: "an atomic that others share", New: same(atomically{})},
	{Name: "the time between events", Looks: "the clock", New: same(timed{limit: 90 * time.Second})},
	{Name: "a verdict set by a deferred function", Looks: "a verdict that no path returns", New: same(deferring{})},
}

// counting has everything that it needs made anew.
type counting struct{ noRM }

func (counting) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	removing, ran := map[string]bool{}, 0
	for _, e := range tr.Events() {
		switch {
		case e.Kind == agents.EventCall && rm.In(e.Call):
			removing[e.Call.ID] = true
		case e.Kind == agents.EventStatus && removing[e.CallID] && e.Status.Ran():
			ran++
		}
	}
	return parts.FailIf(ran > 0)
}

// countdown counts in itself, and is a copy.
type countdown struct {
	noRM
	left int
}

func (c countdown) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		if rm.In(call.ToolCall) && call.Status.Ran() {
			c.left--
		}
	}
	return parts.FailIf(c.left <= 0)
}

type stacked struct{ noRM }

func (stacked) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var s words.Stack
	for call := range tr.Calls() {
		if rm.In(call.ToolCall) && call.Status.Ran() {
			s.Push(call.Name)
		}
	}
	return parts.FailIf(s.Len() > 0)
}

// sorting looks for words in a list, of which it makes a copy that is sorted.
type sorting struct{ forbidden []string }

func (c *sorting) match(call agents.ToolCall) bool {
	forbidden := slices.Clone(c.forbidden)
	slices.Sort(forbidden)
	return call.Kind == agents.Execute && slices.ContainsFunc(words.Sorted(strings.Join(call.Commands, " ")), func(word string) bool {
		_, found := slices.BinarySearch(forbidden, word)
		return found
	})
}
func (c *sorting) String() string                  { return "never " + strings.Join(c.forbidden, ", ") }
func (*sorting) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c *sorting) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.Tally(c, c.match).Ran() > 0)
}
func (c *sorting) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(trial.Trajectory.Tally(c, c.match))
}

// printing writes down what was run, and looks there.
type printing struct{ noRM }

func (printing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var text strings.Builder
	var log bytes.Buffer
	for call := range tr.Calls() {
		if call.Kind == agents.Execute && call.Status.Ran() {
			fmt.Fprintln(&text, strings.Join(call.Commands, "\n"))
		}
	}
	_, _ = io.WriteString(&log, text.String())
	return parts.FailIf(strings.Contains(log.String(), "rm -rf"))
}

// decoding reads the command off the input.
type decoding struct{}

type decodingKey struct{}

func (decoding) match(c agents.ToolCall) bool {
	var input struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(c.Input, &input); err != nil {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(c.Input))
	dec.UseNumber()
	return dec.Decode(&input) == nil && strings.Contains(input.Command, "go test")
}
func (decoding) String() string                    { return "go test is run" }
func (decoding) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c decoding) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(tr.Tally(decodingKey{}, c.match).Ran() > 0)
}
func (c decoding) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(trial.Trajectory.Tally(decodingKey{}, c.match))
}

// summing adds up what commands cost.
type summing struct{ price *big.Rat }

func (c summing) tooMuch(ran int) bool {
	sum := new(big.Rat)
	for range ran {
		sum.Add(sum, c.price)
	}
	return sum.Cmp(big.NewRat(3, 10)) > 0
}
func (summing) String() string                    { return "at most 3 calls" }
func (summing) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c summing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.tooMuch(tr.MainCalls().Ran()))
}
func (c summing) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := trial.Trajectory.MainCalls()
	if !c.tooMuch(t.Ran()) && c.tooMuch(t.Ran()+t.Open()) {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.PassIf(!c.tooMuch(t.Ran())), nil
}

// closing has a function of its own count.
type closing struct{ noRM }

func (closing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	ran := 0
	each(tr, func(c agents.Call) {
		if rm.In(c.ToolCall) && c.Status.Ran() {
			ran++
		}
	})
	return parts.FailIf(ran > 0)
}

func each(tr *agents.Trajectory, f func(agents.Call)) {
	for c := range tr.Calls() {
		f(c)
	}
}

type atomically struct{ noRM }

func (atomically) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var ran atomic.Int64
	each(tr, func(c agents.Call) {
		if rm.In(c.ToolCall) && c.Status.Ran() {
			ran.Add(1)
		}
	})
	return parts.FailIf(ran.Load() > 0)
}

// timed goes by the times of events.
type timed struct{ limit time.Duration }

func (c timed) String() string                  { return fmt.Sprintf("at most %v", c.limit) }
func (timed) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c timed) late(tr *agents.Trajectory) bool {
	if tr.Len() == 0 {
		return false
	}
	end := tr.Event(0).Time.Add(c.limit).In(time.UTC)
	return tr.Event(tr.Len() - 1).Time.After(end)
}
func (c timed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return parts.FailIf(c.late(tr)) }
func (c timed) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(!c.late(trial.Trajectory)), nil
}

type deferring struct{ noRM }

func (deferring) LiveVerdict(tr *agents.Trajectory) (v evaltest.Verdict) {
	defer func() {
		if rm.Tally(tr).Ran() > 0 {
			v = evaltest.Failed
		}
	}()
	return evaltest.Undecided
}
