package wrong

import (
	"context"
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

func TestUnreachable(t *testing.T) {
	e := evaltest.New(t)
	rm := criteria.CommandExecuted("rm")
	e.StopWhen(evaltest.Pass, criteria.Never(rm))                                                 // want `^stopwhen: criteria\.Never\(rm\) is armed for Pass, and can reach Fail alone; arm it for that, or use Expect$`
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("go test"))                                // want `criteria\.CommandExecuted\("go test"\) is armed for Fail, and can reach Pass alone`
	e.StopWhen(evaltest.Pass|evaltest.Fail, rm)                                                   // want `rm is armed for Pass\|Fail, and can reach Pass alone`
	e.StopWhen(evaltest.Fail, criteria.AllOf(rm, criteria.FileExists("out.csv")))                 // want `is armed for Fail, and can decide nothing before the end; use Expect`
	e.StopWhen(evaltest.Decided, criteria.Never(criteria.FileExists("core")))                     // want `is armed for Decided, and can decide nothing before the end; use Expect`
	e.StopWhen(evaltest.Pass, helpers.NoForcePush{})                                              // want `helpers\.NoForcePush\{\} is armed for Pass, and can reach Fail alone`
	e.StopWhen(evaltest.Fail, helpers.Tested())                                                   // want `helpers\.Tested\(\) is armed for Fail, and can reach Pass alone`
	e.StopWhen(evaltest.Pass, criteria.CallsAtMost(20))                                           // want `criteria\.CallsAtMost\(20\) is armed for Pass, and can reach Fail alone`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("curl").Max(3))                            // want `is armed for Pass, and can reach Fail alone`
	e.StopWhen(evaltest.Pass, counted[int]{n: 3})                                                 // want `counted\[int\]\{…\} is armed for Pass, and can reach Fail alone|is armed for Pass, and can reach Fail alone`
	e.StopWhen(evaltest.Pass, &embeds{})                                                          // want `is armed for Pass, and can reach Fail alone`
	e.StopWhen(evaltest.Fail, criteria.AnyOf(criteria.SkillTriggered("pdf"), criteria.Never(rm))) // want `is armed for Fail, and can reach Pass alone`
	e.Run("Go.")
}

func TestNoPolarity(t *testing.T) {
	const later = evaltest.Polarity(0)
	e := evaltest.New(t)
	e.StopWhen(0, criteria.FirstSkill("pdf"))                              // want `the polarity 0 is none; use Pass, Fail, Pass\|Fail or Decided`
	e.StopWhen(later, criteria.FirstSkill("csv"))                          // want `the polarity later is none`
	e.StopWhen(4, criteria.FirstSkill("xls"))                              // want `the polarity 4 is none`
	e.StopWhen(evaltest.Pass|evaltest.Decided, criteria.FirstSkill("doc")) // want `the polarity evaltest\.Pass \| evaltest\.Decided is none`
	both := evaltest.Fail | evaltest.Decided
	t.Run("subtest", func(*testing.T) {
		e.StopWhen(both, criteria.FirstSkill("ppt")) // want `the polarity both is none`
	})
	e.Run("Go.")
}

// The polarity and the criterion come from variables.
func TestVariables(t *testing.T) {
	when := evaltest.Fail
	var c evaltest.LiveCriterion = criteria.CommandExecuted("go vet")
	if os.Getenv("TESTS") != "" {
		c = criteria.CommandExecuted("go test")
	}
	t.Run("subtest", func(t *testing.T) {
		e := evaltest.New(t)
		e.StopWhen(when, c) // want `c is armed for Fail, and can reach Pass alone`
		e.Run("Go.")
	})
}

func TestHelpers(t *testing.T) {
	e := evaltest.New(t)
	helpers.Must(e, helpers.NoForcePush{})                                                       // want `helpers\.NoForcePush\{\} is armed for Pass, and can reach Fail alone`
	helpers.Arm(e, evaltest.Fail, criteria.CommandExecuted("make"))                              // want `criteria\.CommandExecuted\("make"\) is armed for Fail, and can reach Pass alone`
	(&helpers.Suite{E: e}).Never(criteria.CommandExecuted("git commit"))                         // want `criteria\.CommandExecuted\("git commit"\) is armed for Fail, and can reach Pass alone`
	helpers.Forbid(e, criteria.Never(criteria.CommandExecuted("ls")))                            // want `the criterion that Forbid makes is armed for Fail, and can reach Pass alone`
	helpers.All(e, criteria.Never(criteria.CommandExecuted("w")), criteria.CommandExecuted("x")) // want `criteria\.CommandExecuted\("x"\) is armed for Fail, and can reach Pass alone`
	generic(e, criteria.CommandExecuted("y"))                                                    // want `criteria\.CommandExecuted\("y"\) is armed for Fail`
	(*evaltest.T).StopWhen(e, evaltest.Fail, criteria.CommandExecuted("z"))                      // want `criteria\.CommandExecuted\("z"\) is armed for Fail`
	own(e, criteria.CommandExecuted("git push"))                                                 // want `criteria\.CommandExecuted\("git push"\) is armed for Fail, and can reach Pass alone`
	e.Run("Go.")
}

func generic[C evaltest.LiveCriterion](e *evaltest.T, c C) { e.StopWhen(evaltest.Fail, c) }

func own(e *evaltest.T, c evaltest.LiveCriterion) { e.StopWhen(evaltest.Fail, c) }

func TestLate(t *testing.T) {
	e := evaltest.New(t)
	e.Run("Go.")
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go test")) // want `^stopwhen: StopWhen after Run: the agent is done, and its test ends here; say all that is asked of the agent before it runs$`
	e.Expect(criteria.FileExists("out.csv"))                       // want `Expect after Run`
	e.Workspace(os.DirFS("."))                                     // want `Workspace after Run`
	if testing.Verbose() {
		e.WorkspaceDir("testdata") // want `WorkspaceDir after Run`
	}
	t.Run("subtest", func(*testing.T) {
		e.Expect(criteria.FileExists("log")) // want `Expect after Run`
	})
}

func TestTwice(t *testing.T) {
	e := evaltest.New(t)
	c := criteria.FirstSkill("pdf")
	e.StopWhen(evaltest.Pass, c)
	e.StopWhen(evaltest.Fail, c) // want `^stopwhen: c is armed twice, and counts twice; arm it once, for Decided or for both polarities$`
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm -rf")))
	e.Expect(criteria.Never(criteria.CommandExecuted("rm -rf"))) // want `is armed and expected, and counts twice; what is armed is expected, too: leave Expect out`
	e.Expect(criteria.AllOf(criteria.CommandExecuted("a"), criteria.FirstSkill("b")))
	e.StopWhen(evaltest.Pass, criteria.AllOf(criteria.CommandExecuted("a"), criteria.FirstSkill("b"))) // want `is armed and expected`
	e.StopWhen(evaltest.Fail, helpers.NoForcePush{})
	e.StopWhen(evaltest.Fail, helpers.NoForcePush{}) // want `helpers\.NoForcePush\{\} is armed twice`
	e.StopWhen(evaltest.Fail, shared)
	e.StopWhen(evaltest.Fail, shared) // want `shared is armed twice`
	e.Run("Go.")
}

var shared = criteria.Never(criteria.CommandExecuted("sudo"))

func TestPrevent(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go test"), evaltest.Prevent())               // want `Prevent is for what is armed for Fail alone`
	e.StopWhen(evaltest.Pass|evaltest.Fail, criteria.FirstSkill("pdf"), evaltest.Prevent())          // want `Prevent is for what is armed for Fail alone`
	e.StopWhen(evaltest.Decided, criteria.FirstSkill("csv"), evaltest.Weight(2), evaltest.Prevent()) // want `Prevent is for what is armed for Fail alone`
	e.Run("Go.")
}

// counted reaches Fail, whatever it counts.
type counted[N int | int64] struct{ n N }

func (counted[N]) String() string                    { return "counted" }
func (counted[N]) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c counted[N]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if N(tr.Len()) > c.n {
		return evaltest.Failed
	}
	return evaltest.Undecided
}
func (c counted[N]) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(N(trial.Trajectory.Len()) <= c.n), nil
}

type embeds struct{ helpers.NoForcePush }

func (*embeds) String() string { return "embeds" }
