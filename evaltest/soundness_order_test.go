package evaltest_test

import (
	"context"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// simFirst asks which of two sets of acts is the first, by dispatch, to have one that runs.
type simFirst struct {
	i            int
	right, wrong simMask
}

func (c simFirst) String() string { return fmt.Sprintf("c%d: first %v, not %v", c.i, c.right, c.wrong) }

func (simFirst) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

type simFirstKey struct{ mask simMask }

type simFirstState struct {
	order  []agents.ToolCall
	status map[string]agents.Status
}

func (c simFirst) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	mask := c.right | c.wrong
	s := agents.Fold(tr, simFirstKey{mask}, func(s simFirstState, e agents.Event) simFirstState {
		switch {
		case e.Kind == agents.EventCall && mask.has(e.Call):
			if s.status == nil {
				s.status = map[string]agents.Status{}
			}
			s.order = append(s.order, e.Call)
			s.status[e.Call.ID] = agents.Pending
		case e.Kind == agents.EventStatus && s.status[e.CallID] != "":
			s.status[e.CallID] = e.Status
		}
		return s
	})
	for _, call := range s.order {
		switch st := s.status[call.ID]; {
		case st.Ran() && c.right.has(call):
			return evaltest.Passed
		case st.Ran():
			return evaltest.Failed
		case st.Open():
			return evaltest.Undecided
		}
	}
	return evaltest.Undecided
}

func (c simFirst) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	order, status := simStatuses(trial.Trajectory)
	for _, call := range order {
		if s := status[call.ID]; (c.right | c.wrong).has(call) && s != "denied" {
			if !simRan(s) {
				return evaltest.Score{}, evaltest.ErrOpen
			}
			return evaltest.PassIf(c.right.has(call)), nil
		}
	}
	return evaltest.PassIf(false), nil
}

// simShare is the share of right acts among the first n, of both kinds, that run; those that never come are not right.
type simShare struct {
	simFirst
	n int
}

func (c simShare) String() string {
	return fmt.Sprintf("c%d: share of %v in the first %d of both with %v", c.i, c.right, c.n, c.wrong)
}

type simShareKey struct {
	right, wrong simMask
	n            int
}

func (c simShare) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	type state struct {
		calls        map[string]agents.ToolCall
		right, wrong int
	}
	s := agents.Fold(tr, simShareKey{c.right, c.wrong, c.n}, func(s state, e agents.Event) state {
		if e.Kind == agents.EventCall && (c.right | c.wrong).has(e.Call) {
			if s.calls == nil {
				s.calls = map[string]agents.ToolCall{}
			}
			s.calls[e.Call.ID] = e.Call
		}
		if call, ok := s.calls[e.CallID]; ok && e.Kind == agents.EventStatus && e.Status.Ran() && s.right+s.wrong < c.n {
			if c.right.has(call) {
				s.right++
			} else {
				s.wrong++
			}
		}
		return s
	})
	return evaltest.Ratio(s.right, c.n), evaltest.Ratio(c.n-s.wrong, c.n)
}

func (c simShare) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch lo, hi := c.LiveBounds(tr); {
	case lo.Cmp(evaltest.PassIf(true)) == 0:
		return evaltest.Passed
	case hi.Cmp(evaltest.PassIf(false)) == 0:
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (c simShare) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	right, n := 0, 0
	order, status := simStatuses(trial.Trajectory)
	byID := map[string]agents.ToolCall{}
	open := false
	for _, call := range order {
		if (c.right | c.wrong).has(call) {
			byID[call.ID] = call
			open = open || !simRan(status[call.ID]) && status[call.ID] != "denied"
		}
	}
	for _, e := range trial.Trajectory.Events() {
		if call, ok := byID[e.CallID]; ok && simRan(e.Status) && n < c.n {
			if n++; c.right.has(call) {
				right++
			}
		}
	}
	if n < c.n && open {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.Ratio(right, c.n), nil
}
