// Package survive is an author's package of evals, whose agent leaves processes behind and then holds.
package survive

import (
	"os"
	"strings"
	"testing"

	_ "github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

func TestEval(t *testing.T) { run(t) }

// plain has no Deadline, as the test helpers of some frameworks have none: the eval cannot know when -timeout strikes.
type plain struct{ testing.TB }

func TestEvalWithoutDeadline(t *testing.T) { run(plain{t}) }

func run(t testing.TB) {
	var steps []script.Step
	for command := range strings.Lines(os.Getenv("SURVIVE_COMMANDS")) {
		steps = append(steps, script.Run(strings.TrimSpace(command)))
	}
	e := evaltest.New(t, evaltest.Script(steps...))
	e.Workspace(os.DirFS("starter"))
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
	e.Expect(criteria.FileExists("done"))
	e.Run("Start what the work needs.")
}
