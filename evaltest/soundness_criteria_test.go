package evaltest_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// The criteria of the property. Each is decided live through what the library offers (Tally, Fold), and graded from the
// bare events by loops that share nothing with it: a fault of either shows.

// simSymbols are the acts that simulated agents carry out; criteria name them by their bits.
var simSymbols = []struct {
	title string
	call  agents.ToolCall
}{
	{"`go test`", agents.ToolCall{Kind: agents.Execute, Name: "Bash", Commands: []string{"go test ./..."}}},
	{"`rm -rf`", agents.ToolCall{Kind: agents.Execute, Name: "Bash", Commands: []string{"rm -rf build"}}},
	{"read input.txt", agents.ToolCall{Kind: agents.Read, Name: "Read", Paths: []string{"input.txt"}}},
	{"write out.csv", agents.ToolCall{Kind: agents.Edit, Name: "Write", Paths: []string{"out.csv"}}},
	{"skill pdf", agents.ToolCall{Kind: agents.Skill, Name: "Skill", Skill: "pdf"}},
	{"skill xlsx", agents.ToolCall{Kind: agents.Skill, Name: "Skill", Skill: "xlsx"}},
	{"mcp query", agents.ToolCall{Kind: agents.Other, Name: "mcp__db__query"}},
	{"sub-agent", agents.ToolCall{Kind: agents.Sub, Name: "Task"}},
}

const simSub = 7

// simSymbol is the act of a call: ids end with it.
func simSymbol(c agents.ToolCall) int { return int(c.ID[len(c.ID)-1] - '0') }

// simMask is a set of acts.
type simMask uint16

func (m simMask) has(c agents.ToolCall) bool { return m>>simSymbol(c)&1 == 1 }

func (m simMask) String() string {
	var names []string
	for i, s := range simSymbols {
		if m>>i&1 == 1 {
			names = append(names, s.title)
		}
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// simStatuses is the last status of each call, from the bare events.
func simStatuses(tr *agents.Trajectory) (order []agents.ToolCall, status map[string]agents.Status) {
	status = map[string]agents.Status{}
	for _, e := range tr.Events() {
		switch e.Kind {
		case agents.EventCall:
			order = append(order, e.Call)
			status[e.Call.ID] = "pending"
		case agents.EventStatus:
			status[e.CallID] = e.Status
		}
	}
	return order, status
}

func simRan(s agents.Status) bool { return s == "completed" || s == "failed" }

// simCount asks how often acts have run.
type simCount struct {
	i    int
	mask simMask
	n    int
	form simForm
}

type simForm int

const (
	atLeast  simForm = iota // passes with n
	atMost                  // fails with n+1
	upTo                    // k/n for k of n
	downFrom                // 1 − k/n for k of n
)

func (c simCount) String() string {
	return fmt.Sprintf("c%d: %s %d of %v", c.i, [...]string{"at least", "at most", "partial credit up to", "partial credit down from"}[c.form], c.n, c.mask)
}

func (c simCount) ran(tr *agents.Trajectory) int { return tr.Tally(c.mask, c.mask.has).Ran() }

func (c simCount) StopPolarities() evaltest.Polarity {
	if c.form == atLeast || c.form == upTo {
		return evaltest.Pass
	}
	return evaltest.Fail
}

func (c simCount) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch n := c.ran(tr); {
	case (c.form == atLeast || c.form == upTo) && n >= c.n:
		return evaltest.Passed
	case c.form == atMost && n > c.n, c.form == downFrom && n >= c.n:
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (c simCount) score(n int) evaltest.Score {
	switch c.form {
	case atLeast:
		return evaltest.PassIf(n >= c.n)
	case atMost:
		return evaltest.PassIf(n <= c.n)
	case upTo:
		return evaltest.Ratio(min(n, c.n), c.n)
	}
	return evaltest.Ratio(c.n-min(n, c.n), c.n)
}

func (c simCount) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	ran, maybe := 0, 0
	order, status := simStatuses(trial.Trajectory)
	for _, call := range order {
		if !c.mask.has(call) || status[call.ID] == "denied" {
			continue
		}
		if maybe++; simRan(status[call.ID]) {
			ran++
		}
	}
	if s := c.score(ran); s.Cmp(c.score(maybe)) == 0 {
		return s, nil
	}
	return evaltest.Score{}, evaltest.ErrOpen
}

// simPartial is a simCount with partial credit.
type simPartial struct{ simCount }

func (c simPartial) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	s := c.score(c.ran(tr))
	if c.form == upTo {
		return s, evaltest.PassIf(true)
	}
	return evaltest.PassIf(false), s
}

// bounds are what the bare events say of the score: what has run has run, and anything may follow.
func (c simCount) bounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	n := 0
	order, status := simStatuses(tr)
	for _, call := range order {
		if c.mask.has(call) && simRan(status[call.ID]) {
			n++
		}
	}
	switch s := c.score(n); {
	case c.form == atLeast && n < c.n || c.form == upTo:
		return s, evaltest.PassIf(true)
	case c.form == atMost && n <= c.n || c.form == downFrom:
		return evaltest.PassIf(false), s
	default:
		return s, s
	}
}

// simWindow is a simCount over the first calls of the main thread, and what sub-agents did inside them until the last of
// them settled.
type simWindow struct {
	simCount
	calls int
}

func (c simWindow) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	inside := map[string]bool{"": true}
	begun, open := 0, map[string]bool{}
	ran, maybe := map[string]bool{}, map[string]bool{}
	closed := false
	for _, e := range trial.Trajectory.Events() {
		switch e.Kind {
		case agents.EventCall:
			if closed || !inside[e.Call.Parent] || e.Call.Parent == "" && begun == c.calls {
				continue
			}
			inside[e.Call.ID] = true
			if e.Call.Parent == "" {
				begun++
				open[e.Call.ID] = true
			}
			if c.mask.has(e.Call) {
				maybe[e.Call.ID] = true
			}
		case agents.EventStatus:
			if simRan(e.Status) || e.Status == "denied" {
				delete(open, e.CallID)
				if maybe[e.CallID] && simRan(e.Status) {
					ran[e.CallID] = true
				}
				if e.Status == "denied" {
					delete(maybe, e.CallID)
				}
			}
			closed = closed || begun == c.calls && len(open) == 0
		}
	}
	if s := c.score(len(ran)); s.Cmp(c.score(len(maybe))) == 0 {
		return s, nil
	}
	return evaltest.Score{}, evaltest.ErrOpen
}

// simTwin is a criterion of the library that is graded by one of ours, which should say the same.
type simTwin struct {
	evaltest.BoundedCriterion
	grade evaltest.Criterion
}

func (c simTwin) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return c.grade.Grade(ctx, trial)
}

// simSays passes when the model says a word.
type simSays struct {
	i    int
	word string
}

func (c simSays) String() string                  { return fmt.Sprintf("c%d: says %q", c.i, c.word) }
func (simSays) StopPolarities() evaltest.Polarity { return evaltest.Pass }

func (c simSays) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if agents.Fold(tr, c, func(said bool, e agents.Event) bool {
		return said || e.Kind == agents.EventMessage && strings.Contains(e.Text, c.word)
	}) {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

func (c simSays) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	for _, e := range trial.Trajectory.Events() {
		if e.Kind == "message" && strings.Contains(e.Text, c.word) {
			return evaltest.PassIf(true), nil
		}
	}
	return evaltest.PassIf(false), nil
}

// simTokens fails when the model spends too much.
type simTokens struct {
	i   int
	max int64
}

func (c simTokens) String() string                  { return fmt.Sprintf("c%d: at most %d tokens", c.i, c.max) }
func (simTokens) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c simTokens) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if tr.Usage().Tokens() > c.max {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (c simTokens) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	var n int64
	for _, e := range trial.Trajectory.Events() {
		n += e.Usage.InputTokens + e.Usage.OutputTokens + e.Usage.CachedTokens
	}
	return evaltest.PassIf(n <= c.max), nil
}

// simFile is what no trajectory decides: it has the score that the case gives it, or none.
type simFile struct {
	i     int
	score evaltest.Score
	err   error
}

func (c simFile) String() string {
	if c.err != nil {
		return fmt.Sprintf("c%d: end state, without a score: %v", c.i, c.err)
	}
	return fmt.Sprintf("c%d: end state, scored %v", c.i, c.score)
}

func (c simFile) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return c.score, c.err
}

// simFickle breaks its contract: it takes back what it said, once a second act has been dispatched.
type simFickle struct {
	i    int
	mask simMask
}

func (c simFickle) String() string                  { return fmt.Sprintf("c%d: a fickle one on %v", c.i, c.mask) }
func (simFickle) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail } //nolint:evaltest // it breaks its contract on purpose

func (c simFickle) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if n := tr.Tally(c.mask, c.mask.has).Dispatched(); n == 1 {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

func (c simFickle) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	order, _ := simStatuses(trial.Trajectory)
	n := 0
	for _, call := range order {
		if c.mask.has(call) {
			n++
		}
	}
	return evaltest.PassIf(n == 1), nil
}
