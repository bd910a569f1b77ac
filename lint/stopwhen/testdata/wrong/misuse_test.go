package wrong

import (
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

// What StopWhen refuses, whatever the agent does.
func TestRefused(t *testing.T) {
	e := evaltest.New(t)
	tested := criteria.CommandExecuted("go test")
	e.StopWhen(evaltest.Fail, nil)                                                                           // want `^stopwhen: the criterion is nil; arm one, or leave the call out$`
	e.StopWhen(evaltest.Fail, (*criteria.Negation)(nil))                                                     // want `the criterion is nil`
	e.StopWhen(evaltest.Pass, criteria.WithinCalls(0, tested))                                               // want `WithinCalls\(0, …\) judges no call; ask for one at least`
	e.StopWhen(evaltest.Pass, criteria.WithinCalls(5, criteria.AllOf(tested, criteria.FileExists("a.csv")))) // want `WithinCalls cannot judge criteria\.FileExists\("a\.csv"\), which looks at the workspace when the agent is done; combine such criteria outside of WithinCalls, with AllOf or AnyOf`
	e.StopWhen(evaltest.Fail, criteria.Succeeded(criteria.Never(criteria.FileExists("core"))))               // want `Succeeded cannot judge`
	e.StopWhen(evaltest.Pass, criteria.Before(helpers.NoForcePush{}, tested))                                // want `Before needs parts that can pass while the agent works, and one of them can reach Fail alone; give it criteria that can`
	e.StopWhen(evaltest.Pass, criteria.Then(tested, criteria.CommandExecuted("rm").Max(0)))                  // want `Then needs parts that can pass while the agent works, and criteria\.CommandExecuted\("rm"\)\.Max\(0\) can reach Fail alone`
	e.StopWhen(evaltest.Decided, criteria.AtLeast(3, tested, helpers.Tested()))                              // want `AtLeast asks for 3 of 2 criteria; ask for one at least, and for no more than there are`
	e.StopWhen(evaltest.Decided, criteria.AllOf())                                                           // want `AllOf has nothing to choose from; give it criteria`
	e.StopWhen(evaltest.Pass, criteria.AnyOf(tested, nil))                                                   // want `part 2 of AnyOf is nil; leave it out`
	e.StopWhen(evaltest.Pass, criteria.CommandMatches("go (test"))                                           // want `CommandMatches: error parsing regexp`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted(""))                                                  // want `CommandExecuted is given nothing to look for; name it`
	e.StopWhen(evaltest.Fail, criteria.CallsAtMost(-1))                                                      // want `CallsAtMost is given a negative bound: no trial could pass`
	e.StopWhen(evaltest.Pass, criteria.CostAtLeast(0))                                                       // want `CostAtLeast is given no positive bound: every trial would pass`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("make").Min(0))                                       // want `Min\(0\) asks for nothing; for something that must not happen use Never or Max\(0\)`
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("make").Min(5).Max(3))                                // want `Min\(5\) lies above Max\(3\): no trial could pass`
	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("curl").Max(0).Partial())                             // want `Partial gives credit on the way to a minimum; add Min\(n\)`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("curl").Min(-1))                                      // want `a criterion counts to a negative bound; give Min and Max numbers from 0`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("a"), evaltest.Weight(0))                             // want `Weight\(0\): a weight is a positive number`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("b"), evaltest.Required(), evaltest.PassAt(1.5))      // want `PassAt\(1\.5\): a threshold lies in \(0, 1\]`
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("c"), evaltest.Timeout(-time.Second))                 // want `Timeout: give a positive duration`
	e.Run("Go.")
}
