// Package m has evals that take a moment, and leave a trace when their agent is at work.
package m

import (
	"fmt"
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// Evals are eight of them, of which two fail.
func Evals(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprint("eval", i), func(t *testing.T) {
			t.Parallel()
			e := evaltest.New(t, evaltest.Env("WITNESS="+os.Getenv("WITNESS")), evaltest.Script(
				script.Run(fmt.Sprintf("echo %s >> $WITNESS; sleep 0.02; echo %d > out.txt", t.Name(), i)),
				script.Write("more.txt", "more"),
				script.Say("Done."),
			))
			e.Workspace(os.DirFS("../fixture"))
			e.Expect(criteria.FileExists("out.txt"))
			e.Expect(criteria.FileContains("more.txt", "more"))
			if i%4 == 3 {
				e.Expect(criteria.FileExists("never.txt"))
			}
			e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
			e.Run("Work.")
		})
	}
}
