// Package wrong has criteria that do not say what they declare.
package wrong

import (
	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/livepolarity/testdata/lib"
)

// The other way round.
type swapped struct{ lib.Base }

func (swapped) StopPolarities() evaltest.Polarity { return evaltest.Pass } // want `swapped declares Pass, and its LiveVerdict never says Passed; do not declare what no path returns`

func (swapped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) > 3 {
		return evaltest.Failed // want `swapped says Failed, and its StopPolarities declares Pass; declare Fail, or leave it undecided`
	}
	return evaltest.Undecided
}

// A fail that was added later.
type extended struct{ lib.Base }

func (*extended) StopPolarities() evaltest.Polarity { return evaltest.Pass }

func (*extended) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch n := lib.Calls(tr); {
	case n > 100:
		return evaltest.Failed // want `extended says Failed`
	case n > 3:
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// Out of the body of a range over a function.
type ranging struct{ lib.Base }

func (*ranging) StopPolarities() evaltest.Polarity { return evaltest.Pass } // want `ranging declares Pass`

func (*ranging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		if call.Name == "rm" {
			return evaltest.Failed // want `ranging says Failed`
		}
	}
	return evaltest.Undecided
}

// A variable, a default that is no Undecided.
type variable struct{ lib.Base }

func (*variable) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (*variable) LiveVerdict(tr *agents.Trajectory) (v evaltest.Verdict) {
	v = evaltest.Passed
	if lib.Calls(tr) > 3 {
		v = evaltest.Failed
	}
	return v // want `variable says Passed, and its StopPolarities declares Fail`
}

// A named result that a deferred function sets.
type deferred struct{ lib.Base }

func (*deferred) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `deferred declares Fail`

func (*deferred) LiveVerdict(tr *agents.Trajectory) (v evaltest.Verdict) {
	defer func() {
		if lib.Calls(tr) > 3 {
			v = evaltest.Passed // want `deferred says Passed`
		}
	}()
	return evaltest.Undecided
}

// A helper of its own.
type helped struct{ lib.Base }

func (*helped) StopPolarities() evaltest.Polarity { return evaltest.Pass }

func (c *helped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return c.decide(lib.Calls(tr)) }

func (c *helped) decide(n int) evaltest.Verdict {
	if n > 100 {
		return evaltest.Failed // want `helped says Failed`
	}
	return passIf(n > 3)
}

func passIf(ok bool) evaltest.Verdict {
	if ok {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// A function that serves it alone.
type served struct{ lib.Base }

func (*served) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (*served) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return serve(lib.Calls(tr)) }

func serve(n int) evaltest.Verdict {
	if n == 0 {
		return evaltest.Passed // want `served says Passed`
	}
	return lib.FailIf(n > 3)
}

// A helper of another package that has one thing to say.
type elsewhere struct{ lib.Base }

func (*elsewhere) StopPolarities() evaltest.Polarity { return evaltest.Pass } // want `elsewhere declares Pass`

func (*elsewhere) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return lib.FailIf(lib.Calls(tr) > 3) // want `elsewhere says Failed`
}

// One is never said.
type optimistic struct{ lib.Base }

func (*optimistic) StopPolarities() evaltest.Polarity {
	return evaltest.Pass | evaltest.Fail // want `optimistic declares Fail, and its LiveVerdict never says Failed`
}

func (*optimistic) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(lib.Calls(tr) > 3)
}

type constant struct{ lib.Base }

func (*constant) StopPolarities() evaltest.Polarity { return lib.Both } // want `constant declares Pass` `constant declares Fail`

func (*constant) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// & is not |.
type both struct{ lib.Base }

func (*both) StopPolarities() evaltest.Polarity { return evaltest.Pass & evaltest.Fail }

func (*both) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) > 3 {
		return evaltest.Failed // want `both says Failed, and its StopPolarities declares neither; declare Fail`
	}
	return evaltest.Undecided
}

// Decided is for StopWhen.
type decided struct{ lib.Base }

func (*decided) StopPolarities() evaltest.Polarity { return evaltest.Decided } // want `StopPolarities of decided returns Decided, which is for StopWhen alone; return Pass, Fail or both`

func (*decided) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return passIf(lib.Calls(tr) > 3) }

// What is embedded declares, what is around it says.
type overridden struct{ lib.MustNot }

func (overridden) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if lib.Calls(tr) == 0 {
		return evaltest.Passed // want `overridden says Passed, and its StopPolarities declares Fail`
	}
	return evaltest.Undecided
}

type redeclared struct{ lib.MustNot }

func (redeclared) StopPolarities() evaltest.Polarity { return evaltest.Pass } // want `redeclared declares Pass, and its LiveVerdict never says Passed`

type ceiling struct{ *criteria.Ceiling }

func (ceiling) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(lib.Calls(tr) == 0) // want `ceiling says Passed, and its StopPolarities declares Fail`
}

// A generic type.
type generic[T any] struct {
	lib.Base
	of func(agents.Call) T
}

func (*generic[T]) StopPolarities() evaltest.Polarity { return evaltest.Pass } // want `generic declares Pass`

func (c *generic[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		if any(c.of(call)) != nil {
			return evaltest.Failed // want `generic says Failed`
		}
	}
	return evaltest.Undecided
}

// Behind a condition that is constant.
const strict = false

type lenient struct{ lib.Base }

func (*lenient) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `lenient declares Fail`

func (*lenient) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if strict {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// Polarities that are put together.
type assembled struct {
	lib.Base
	max int
}

func (c *assembled) StopPolarities() evaltest.Polarity {
	p := evaltest.Pass
	if c.max > 0 {
		p |= evaltest.Fail
	}
	return p // want `assembled declares Fail, and its LiveVerdict never says Failed`
}

func (c *assembled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return passIf(lib.Calls(tr) > 3)
}

// It can only panic.
type todo struct{ lib.Base }

func (*todo) StopPolarities() evaltest.Polarity { return evaltest.Fail } // want `todo declares Fail`

func (*todo) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { panic("not yet") }

// Numbers that are no verdicts.
type numbers struct{ lib.Base }

func (*numbers) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

func (*numbers) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	switch lib.Calls(tr) {
	case 0:
		return evaltest.Failed
	case 1:
		return evaltest.Passed
	case 2:
		return evaltest.Failed + 1 // want `numbers says 3, which is no verdict; return Undecided, Passed or Failed`
	case 3:
		return evaltest.Verdict(evaltest.Pass | evaltest.Fail) // want `numbers says 3, which is no verdict`
	case 4:
		return -1 // want `numbers says -1, which is no verdict`
	}
	return evaltest.Undecided
}
