// Command reach prints what criteria reach, by line: what is known without running them has to agree.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/internal/polarity/testdata/constructors"
)

func show(c evaltest.LiveCriterion) {
	_, _, line, _ := runtime.Caller(1)
	fmt.Println(line, c.StopPolarities())
}

var global = criteria.CommandExecuted("rm")

func main() {
	rm, file := criteria.CommandExecuted("rm"), criteria.FileExists("out.csv")
	dynamic := len(os.Args) > 5

	// Built-in ones.
	show(criteria.CommandExecuted("go test"))                                     // want `^Pass$`
	show(criteria.CommandExecuted("go test").Min(2).Partial())                    // want `^Pass$`
	show(criteria.CommandMatches("go .*").Max(0))                                 // want `^Fail$`
	show(criteria.CommandExecuted("rm").Max(1).Min(1))                            // want `^Fail$`
	show(criteria.SkillTriggered("pdf"))                                          // want `^Pass$`
	show(criteria.FirstSkill("pdf"))                                              // want `^Pass\|Fail$`
	show(criteria.ToolCalled("WebFetch"))                                         // want `^Pass$`
	show(criteria.ToolCalled(agents.Fetch).Input("url", "x").Max(3))              // want `^Fail$`
	show(criteria.MCPToolCalled("db", "query"))                                   // want `^Pass$`
	show(criteria.FileRead("a"))                                                  // want `^Pass$`
	show(criteria.FileEdited("a").Max(0))                                         // want `^Fail$`
	show(criteria.MessageMatches("x"))                                            // want `^Pass$`
	show(criteria.CallsAtMost(3))                                                 // want `^Fail$`
	show(criteria.TurnsAtLeast(3))                                                // want `^Pass$`
	show(criteria.TokensAtMost(3))                                                // want `^Fail$`
	show(criteria.CostAtMost(0.5))                                                // want `^Fail$`
	show(criteria.TimeAtLeast(3))                                                 // want `^Pass$`
	show(criteria.Never(rm))                                                      // want `^Fail$`
	show(criteria.Never(criteria.Never(rm)))                                      // want `^Pass$`
	show(criteria.Never(file))                                                    // want `^neither$`
	show(criteria.AllOf(rm, criteria.FirstSkill("pdf")))                          // want `^Pass\|Fail$`
	show(criteria.AllOf(rm, file))                                                // want `^neither$`
	show(criteria.AllOf(criteria.Never(rm), file))                                // want `^Fail$`
	show(criteria.AnyOf(rm, file))                                                // want `^Pass$`
	show(criteria.AnyOf(criteria.Never(rm), criteria.CallsAtMost(2)))             // want `^Fail$`
	show(criteria.AtLeast(2, rm, file, criteria.FirstSkill("pdf")))               // want `^Pass$`
	show(criteria.AtLeast(2, criteria.Never(rm), file, criteria.FirstSkill("x"))) // want `^Fail$`
	show(criteria.WithinCalls(3, rm))                                             // want `^Pass\|Fail$`
	show(criteria.Before(rm, criteria.FileEdited("a")))                           // want `^Pass\|Fail$`
	show(criteria.Then(rm, criteria.FileEdited("a")))                             // want `^Pass\|Fail$`
	show(criteria.Succeeded(rm))                                                  // want `^Pass$`
	show(criteria.Attempted(criteria.Never(rm)))                                  // want `^Fail$`

	// Slices, variables, branches.
	parts := []evaltest.Criterion{rm, criteria.Never(rm)}
	show(criteria.AllOf(parts...))                          // want `^Fail$`
	show(criteria.AllOf([]evaltest.Criterion{rm, file}...)) // want `^neither$`
	show(rm)                                                // want `^Pass$`
	show(global)                                            // want `^Pass or Fail$`
	c := criteria.CommandExecuted("rm")
	if dynamic {
		c = c.Max(3)
	}
	show(c) // want `^Pass or Fail$`
	var live evaltest.LiveCriterion = criteria.Never(rm)
	show(live) // want `^Fail$`

	// Constructors of another package.
	show(constructors.NoRm())                                  // want `^Fail$`
	show(constructors.Not(rm))                                 // want `^Fail$`
	show(constructors.Not(constructors.NoRm()))                // want `^Pass$`
	show(constructors.Every(rm, criteria.FirstSkill("pdf")))   // want `^Pass\|Fail$`
	show(constructors.Every(rm, file))                         // want `^neither$`
	show(constructors.Both(rm, rm))                            // want `^Fail$`
	show(constructors.Some(dynamic))                           // want `^Fail or Pass\|Fail$`
	show(constructors.Strict())                                // want `^Fail$`
	show(constructors.Reaching(evaltest.Pass))                 // want `^Pass$`
	show(constructors.Name("x", constructors.NoRm()))          // want `^Fail$`
	show(constructors.NewOf("x", evaltest.Fail))               // want `^Fail$`
	show(criteria.Never(constructors.NewOf(3, evaltest.Fail))) // want `^Pass$`
	show(criteria.Succeeded(constructors.Not(rm)))             // want `^Fail$`

	// Struct literals.
	show(&constructors.Rule{LiveCriterion: rm, Reach: evaltest.Fail})                             // want `^Fail$`
	show(constructors.Rule{LiveCriterion: rm, Reach: evaltest.Pass})                              // want `^Pass$`
	show(&constructors.Named{Negation: criteria.Never(rm), Name: "x"})                            // want `^Fail$`
	show(&constructors.Of[int]{Rule: constructors.Rule{LiveCriterion: rm, Reach: evaltest.Pass}}) // want `^Pass$`
	r := &constructors.Rule{LiveCriterion: rm}
	change(r)
	show(r) // want `unknown`
}

func change(r *constructors.Rule) { r.Reach = evaltest.Fail }
