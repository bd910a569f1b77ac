package wrong

import (
	"os"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

type suite struct {
	e   *evaltest.T
	dir string
}

func (s *suite) run() {
	s.e.Run("Go.")
	s.e.Expect(criteria.FileExists(s.dir)) // want `Expect after Run`
}

type embedded struct{ *evaltest.T }

func TestLateOfFields(t *testing.T) {
	s := &suite{e: evaltest.New(t)}
	s.run()
	m := embedded{evaltest.New(t)}
	m.Run("Go.")
	m.StopWhen(evaltest.Decided, criteria.FirstSkill("pdf")) // want `StopWhen after Run`
}

func TestLateByHelpers(t *testing.T) {
	e := evaltest.New(t)
	helpers.Output(e, "a")
	helpers.Finish(e)
	helpers.Output(e, "b") // want `^stopwhen: Output calls Expect after Run`
	check(e)               // want `check calls StopWhen after Run`

	second := evaltest.New(t)
	helpers.Check(t, second)
	second.Workspace(os.DirFS(".")) // want `Workspace after Run`

	third := evaltest.New(t)
	r := third.Run("Go.")
	if r.Outcome == evaltest.OutcomePassed {
		for _, path := range []string{"a", "b"} {
			third.Expect(criteria.FileExists(path)) // want `Expect after Run`
		}
	}
	t.Cleanup(func() {
		third.WorkspaceDir("testdata") // want `WorkspaceDir after Run`
	})
}

func check(e *evaltest.T) { e.StopWhen(evaltest.Decided, criteria.FirstSkill("x")) }

// A round of a loop makes its eval, and says too late what it asks.
func TestLateInRounds(t *testing.T) {
	for _, prompt := range []string{"Go.", "Go on."} {
		e := evaltest.New(t)
		e.Run(prompt)
		e.Expect(criteria.FileExists("a")) // want `Expect after Run`
		t.Run("subtest", func(*testing.T) {
			e.Expect(criteria.FileExists("b")) // want `Expect after Run`
		})
	}
}
