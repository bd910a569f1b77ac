// Package own has types of its own that are called as those of evaltest are.
package own

import "time"

// Trajectory is no agents.Trajectory.
type Trajectory struct{}

// Verdict is no evaltest.Verdict.
type Verdict int

// LiveCriterion is no evaltest.LiveCriterion.
type LiveCriterion interface {
	LiveVerdict(tr *Trajectory) Verdict
}

type clock struct{ n int }

func (c *clock) LiveVerdict(tr *Trajectory) Verdict {
	c.n++
	return Verdict(time.Now().Unix())
}

var _ LiveCriterion = (*clock)(nil)
