// Package right has criteria of which nothing wrong can be said without running them.
package right

import (
	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/livepolarity/testdata/lib"
)

// What is reached is in a field.
type configured struct {
	lib.Base
	reach evaltest.Polarity
}

func (c configured) StopPolarities() evaltest.Polarity { return c.reach }

func (c configured) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) > 3 {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// In a table.
var table = map[string]evaltest.Polarity{"min": evaltest.Pass, "max": evaltest.Fail}

type tabled struct {
	lib.Base
	kind string
}

func (c tabled) StopPolarities() evaltest.Polarity { return table[c.kind] }

func (c tabled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.kind == "min" && lib.Calls(tr) > 3 {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// As the case may be.
type either struct {
	lib.Base
	max int
}

func (c *either) StopPolarities() evaltest.Polarity {
	if c.max > 0 {
		return evaltest.Fail
	}
	return evaltest.Pass
}

func (c *either) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch n := lib.Calls(tr); {
	case c.max > 0 && n > c.max:
		return evaltest.Failed
	case c.max == 0 && n > 0:
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// A helper that serves others, too, may never answer all that it can.
type shared struct{ lib.Base }

func (*shared) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c *shared) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return lib.Verdict(evaltest.Interval{Lo: evaltest.PassIf(false), Hi: evaltest.PassIf(lib.Calls(tr) == 0)})
}

type sharing struct{ lib.Base }

func (*sharing) StopPolarities() evaltest.Polarity { return evaltest.Pass }

func (c *sharing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(lib.Calls(tr), 0) }

type sharingToo struct{ lib.Base }

func (*sharingToo) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c *sharingToo) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return judge(0, lib.Calls(tr))
}

func judge(good, bad int) evaltest.Verdict {
	switch {
	case good > 3:
		return evaltest.Passed
	case bad > 3:
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// A criterion around another says what that one says.
type renamed struct {
	evaltest.LiveCriterion
	name string
}

func (r renamed) String() string { return r.name }

type around struct {
	lib.Base
	part evaltest.LiveCriterion
}

func (a *around) StopPolarities() evaltest.Polarity { return a.part.StopPolarities() }

func (a *around) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if v := a.part.LiveVerdict(tr); v != evaltest.Passed {
		return v
	}
	return evaltest.Passed
}

// The opposite, by arithmetic.
type opposite struct {
	lib.Base
	part evaltest.LiveCriterion
}

func (o *opposite) StopPolarities() evaltest.Polarity { return o.part.StopPolarities() ^ 3 }

func (o *opposite) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return (3 - o.part.LiveVerdict(tr)) % 3
}

// A verdict that a trajectory remembers.
type remembered struct{ lib.Base }

type rememberedKey struct{}

func (*remembered) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (*remembered) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return agents.Fold(tr, rememberedKey{}, func(v evaltest.Verdict, e agents.Event) evaltest.Verdict {
		if e.Kind == agents.EventMessage {
			return evaltest.Failed
		}
		return v
	})
}

// Bounds that rise, and a verdict that never passes.
type rising struct{ lib.Base }

func (*rising) StopPolarities() evaltest.Polarity { return evaltest.Pass }

func (*rising) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

func (*rising) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	return evaltest.Ratio(min(lib.Calls(tr), 9), 10), evaltest.PassIf(true)
}

// Nothing is reached, and nothing said.
type neither struct{ lib.Base }

func (neither) StopPolarities() evaltest.Polarity { return 0 }

func (neither) LiveVerdict(*agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// What is embedded is complete.
type skill struct{ *criteria.SkillUse }

type strictSkill struct{ *criteria.SkillUse }

// It passes later than what it is made of.
func (s strictSkill) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) > 3 {
		return s.SkillUse.LiveVerdict(tr)
	}
	return evaltest.Undecided
}

// What no path comes to.
type debugging struct{ lib.Base }

const debug = false

func (*debugging) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (*debugging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if debug {
		return evaltest.Passed
	}
	return lib.FailIf(lib.Calls(tr) > 3)
}

// A function value.
type functional struct {
	lib.Base
	judge func(*agents.Trajectory) evaltest.Verdict
}

func (*functional) StopPolarities() evaltest.Polarity { return lib.Both }

func (f *functional) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return f.judge(tr) }

// A generic base.
type of[T any] struct {
	lib.Base
	item T
}

func (of[T]) StopPolarities() evaltest.Polarity { return evaltest.Fail }

type ofInt struct{ of[int] }

func (o ofInt) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) > o.item {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

var _ = []evaltest.LiveCriterion{configured{}, tabled{}, &either{}, &shared{}, &sharing{}, &sharingToo{}, renamed{}, &around{}, &opposite{}, &remembered{},
	&rising{}, neither{}, skill{}, strictSkill{}, &debugging{}, &functional{}, ofInt{}}

// The verdict is its own, and the polarity that of what it embeds.
type stricter struct{ shared }

func (c *stricter) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) > 0 {
		return evaltest.Failed
	}
	return c.shared.LiveVerdict(tr)
}
