package evaltest_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// simNamed gives a criterion a name of its own.
func simNamed(i int, c evaltest.LiveCriterion) evaltest.LiveCriterion {
	if b, ok := c.(evaltest.BoundedCriterion); ok {
		return namedBounded{b, i}
	}
	return namedLive{c, i}
}

type namedLive struct {
	evaltest.LiveCriterion
	i int
}

func (c namedLive) String() string { return fmt.Sprintf("c%d: %v", c.i, c.LiveCriterion) }

type namedBounded struct {
	evaltest.BoundedCriterion
	i int
}

func (c namedBounded) String() string { return fmt.Sprintf("c%d: %v", c.i, c.BoundedCriterion) }

// randomBuiltin is a criterion of the library, or a combination of such and of ours.
func randomBuiltin(r *rand.Rand, depth int) evaltest.LiveCriterion {
	if depth == 0 || r.IntN(3) == 0 {
		return randomAct(r)
	}
	live := func() evaltest.LiveCriterion {
		if r.IntN(3) == 0 {
			if l, ok := randomCriterion(r, 0).(evaltest.LiveCriterion); ok {
				if _, fickle := l.(simFickle); !fickle && endless(l) {
					return l
				}
			}
		}
		return randomBuiltin(r, depth-1)
	}
	any := func() evaltest.Criterion {
		if r.IntN(6) == 0 {
			return simFile{score: pick(r, evaltest.PassIf(true), evaltest.PassIf(false), evaltest.Ratio(1, 3))}
		}
		return live()
	}
	passing := func() evaltest.LiveCriterion {
		for {
			if c := randomAct(r); c.StopPolarities().Has(evaltest.Pass) {
				return c
			}
		}
	}
	switch r.IntN(11) {
	case 9, 10:
		return randomTwin(r)
	case 0:
		return criteria.Never(any())
	case 1:
		return criteria.AllOf(any(), any())
	case 2:
		return criteria.AnyOf(any(), any())
	case 3:
		return criteria.AtLeast(2, any(), any(), any())
	case 4:
		return criteria.WithinCalls(1+r.IntN(4), randomAct(r))
	case 5:
		return criteria.Succeeded(randomAct(r))
	case 6:
		return criteria.Attempted(randomAct(r))
	case 7:
		return criteria.Before(passing(), passing())
	default:
		return criteria.Then(passing(), passing())
	}
}

// endless reports whether a criterion of ours may stand within a combination: named ones are left out, since they may look
// at an end state themselves.
func endless(c evaltest.LiveCriterion) bool {
	switch c.(type) {
	case namedLive, namedBounded, simTwin:
		return false
	}
	return true
}

// randomTwin is a criterion of the library whose score we know by counting ourselves.
func randomTwin(r *rand.Rand) evaltest.LiveCriterion {
	n := 1 + r.IntN(3)
	count := func(sym, n int, form simForm) simCount { return simCount{mask: 1 << sym, n: n, form: form} }
	switch r.IntN(8) {
	case 0:
		return simTwin{criteria.SkillTriggered("pdf"), count(4, 1, atLeast)}
	case 1:
		return simTwin{criteria.CommandExecuted("rm").Max(n - 1), count(1, n-1, atMost)}
	case 2:
		return simTwin{criteria.CommandExecuted("go test").Min(n).Partial(), count(0, n, upTo)}
	case 3:
		return simTwin{criteria.ToolCalled("mcp__db__*").Min(n), count(6, n, atLeast)}
	case 4:
		return simTwin{criteria.Never(criteria.FileRead("input.txt").Min(n)), count(2, n-1, atMost)}
	case 5:
		return simTwin{criteria.Never(criteria.FileEdited("*.csv").Min(n).Partial()), count(3, n, downFrom)}
	default:
		part := simCount{0, randomMask(r), n, pick(r, atLeast, atMost)}
		calls := 1 + r.IntN(5)
		return simTwin{criteria.WithinCalls(calls, part), simWindow{part, calls}}
	}
}

func randomAct(r *rand.Rand) evaltest.LiveCriterion {
	switch r.IntN(16) {
	case 0:
		return criteria.SkillTriggered(pick(r, "pdf", "xlsx"))
	case 1:
		return criteria.FirstSkill(pick(r, "pdf", "xlsx"))
	case 2:
		return criteria.CommandExecuted(pick(r, "rm", "go test"))
	case 3:
		return criteria.CommandExecuted(pick(r, "rm", "go test")).Max(r.IntN(3))
	case 4:
		return criteria.CommandExecuted("go test").Min(1 + r.IntN(3)).Partial()
	case 5:
		return criteria.CommandMatches("^rm -r").Min(1).Max(2)
	case 6:
		return criteria.ToolCalled(pick(r, agents.Read, agents.Edit, agents.Sub))
	case 7:
		return criteria.ToolCalled("mcp__db__*").Max(1)
	case 8:
		return criteria.FileRead("*.txt")
	case 9:
		return criteria.FileEdited("out.csv")
	case 10:
		return criteria.MessageMatches("done|hello")
	case 11:
		return criteria.CallsAtMost(r.IntN(6))
	case 12:
		return criteria.CallsAtLeast(1 + r.IntN(5))
	case 13:
		return pick[evaltest.LiveCriterion](r, criteria.TurnsAtMost(1+r.IntN(4)), criteria.TurnsAtLeast(1+r.IntN(4)))
	case 14:
		return pick[evaltest.LiveCriterion](r, criteria.TokensAtMost(int64(1+r.IntN(80))), criteria.TokensAtLeast(int64(1+r.IntN(80))))
	default:
		d := time.Duration(1+r.IntN(150)) * time.Millisecond
		return pick[evaltest.LiveCriterion](r, criteria.TimeAtMost(d), criteria.TimeAtLeast(d))
	}
}
