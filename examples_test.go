package evaltest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	_ "github.com/evaltest-go/evaltest/agents/all"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// The example evals. By default the embedded agent carries out each eval's script:
//
//	go test -v -count=1 .
//
// With EVALTEST_AGENT=claude EVALTEST_GATEWAY=script the real Claude Code does, with the script in its model's place; with
// EVALTEST_AGENT=claude alone it is evaluated for real.
func TestMain(m *testing.M) { evaltest.Main(m, evaltest.MaxTurns(25)) }

var shop = os.DirFS("testdata/shop")

// A skill is used when it should be, and the work gets done. As it stands the eval runs to its end, since the summary is
// still to come when the skill is used. EVALTEST_STOP=armed makes the same test a smoke check that ends there.
func TestSkillActivation(t *testing.T) {
	e := evaltest.New(t, evaltest.Skills("testdata/skills"), evaltest.Script(
		script.Skill("csv"),
		script.Read("sales.csv"),
		script.Write("summary.txt", "total: 60\n"),
		script.Say("The total is 60."),
	))
	e.Workspace(shop)

	e.StopWhen(evaltest.Decided, criteria.FirstSkill("csv"))
	e.Expect(criteria.FileContains("summary.txt", "total: 60"), evaltest.Weight(2))

	e.Run("What do our sales add up to? Write it to summary.txt.")
}

// A command that must never run. Breaking it would end the run at once, before the agent gets any further.
func TestNeverDeletes(t *testing.T) {
	e := evaltest.New(t, evaltest.Script(
		script.Run("mkdir -p archive && cp sales.csv archive/"),
		script.Say("Archived."),
	))
	e.Workspace(shop)

	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")), evaltest.Prevent())
	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("git push")))
	e.Expect(criteria.FileExists("archive/sales.csv"))
	e.Expect(criteria.Unchanged("sales.csv"))

	e.Run("Archive the sales.")
}

// A gate with partial credit: a weighted mean, and one criterion that has to pass by itself.
func TestWeightedGate(t *testing.T) {
	e := evaltest.New(t, evaltest.MinScore(0.7), evaltest.Script(
		script.Write("report.json", `{"total": 60, "items": ["apples", "pears", "plums"]}`),
		script.Say("Written."),
	))
	e.Workspace(shop)

	e.Expect(criteria.JSON("report.json").At("total", 60), evaltest.Weight(0.4), evaltest.Required())
	e.Expect(criteria.JSON("report.json").Len("items", 3), evaltest.Weight(0.3))
	e.Expect(criteria.FileExists("CHANGELOG.md"), evaltest.Weight(0.2))
	e.Expect(criteria.TurnsAtMost(5), evaltest.Weight(0.1))

	e.Run("Write a report of the sales as JSON.")
}

// A data set is a table, and a case is a subtest.
func TestDataSet(t *testing.T) {
	for _, tc := range []struct{ name, ticket, want string }{
		{"crash", "It dies when I open a file.", "bug"},
		{"wish", "Could it have a dark theme?", "feature"},
		{"how to", "Where do I find the log?", "question"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := evaltest.New(t, evaltest.Script(script.Say("This is a "+tc.want+".")))
			e.Expect(criteria.ReplyChoice(tc.want, "bug", "feature", "question"))
			e.Run("Is this ticket a bug, a feature or a question? " + tc.ticket)
		})
	}
}

// An author's own live criterion: at most max edits under dir. It keeps no state: what it counts belongs to the
// trajectory, under a key that says what is counted.
type editsUnder struct {
	dir string
	max int
}

func (c *editsUnder) String() string                    { return "few edits under " + c.dir }
func (c *editsUnder) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c *editsUnder) edits(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(c, func(call agents.ToolCall) bool {
		return call.Kind == agents.Edit && len(call.Paths) > 0 && strings.HasPrefix(call.Paths[0], c.dir)
	})
}

func (c *editsUnder) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.edits(tr).Ran() > c.max {
		return evaltest.Failed
	}
	return evaltest.Undecided // there may be more to come
}

func (c *editsUnder) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	n := c.edits(trial.Trajectory)
	if n.Ran() <= c.max && n.Ran()+n.Open() > c.max {
		return evaltest.Score{}, evaltest.ErrOpen // calls whose end was never seen may have been too many
	}
	return evaltest.PassIf(n.Ran() <= c.max).Because("%d edits", n.Ran()), nil
}

func TestOwnCriterion(t *testing.T) {
	e := evaltest.New(t, evaltest.Script(
		script.Write("src/a.txt", "a"), script.Write("docs/a.txt", "a"), script.Write("src/b.txt", "b"),
	))
	e.StopWhen(evaltest.Fail, &editsUnder{"src/", 3})
	e.Run("Add a and b.")
}

// An author's own agent: it writes down what it is told.
var scribe = inprocess.New(agents.Info{Name: "scribe"}, func(s *inprocess.Session) (inprocess.Answer, error) {
	return func(t *inprocess.Turn) error {
		call := agents.ToolCall{ID: "1", Kind: agents.Edit, Name: "write", Paths: []string{"note.txt"}}
		_, _, err := t.Call("", call, func(context.Context) (string, error) {
			return "", os.WriteFile(filepath.Join(s.Setup.Dir, "note.txt"), []byte(t.Prompt), 0o666)
		})
		t.Emit(agents.Say("Noted."))
		return err
	}, nil
})

func TestOwnAgent(t *testing.T) {
	e := evaltest.New(t, evaltest.Agent(scribe), evaltest.Only("scribe"))
	e.Expect(criteria.FileContains("note.txt", "milk"))
	e.Expect(criteria.ReplyEquals("Noted."))
	e.Run("Buy milk.")
}

// Assertions that a Go developer has anyway, as a criterion and on the result.
func TestAssertions(t *testing.T) {
	e := evaltest.New(t, evaltest.Script(script.Run("sort -t, -k2 -n -r sales.csv > sorted.csv"), script.Say("Sorted.")))
	e.Workspace(shop)

	e.Expect(criteria.Check("sorted by price", func(t require.TestingT, trial *evaltest.Trial) {
		text, err := os.ReadFile(filepath.Join(trial.Dir, "sorted.csv"))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.Len(t, lines, 4)
		assert.Equal(t, "plums,30", lines[0])
		assert.Equal(t, "apples,10", lines[2])
	}))

	r := e.Run("Sort the sales by price, the highest first, into sorted.csv.")
	assert.Empty(e, r.Limit)
	assert.Equal(e, "Sorted.", r.Reply)
}

// A limit ends the run, and is no outcome: what is there by then is graded.
func TestLimit(t *testing.T) {
	e := evaltest.New(t, evaltest.MaxTurns(2), evaltest.Script(
		script.Write("first.txt", "1"), script.Write("second.txt", "2"), script.Write("third.txt", "3"),
	))
	e.Expect(criteria.FileExists("second.txt"))
	e.Expect(criteria.FileExists("third.txt"), evaltest.Advisory())
	if r := e.Run("Write three files."); r.Limit == "" {
		e.Error("the limit was not reached")
	}
}

// Two user turns in one conversation.
func TestTwoTurns(t *testing.T) {
	e := evaltest.New(t, evaltest.Script(
		script.Write("total.txt", "60\n"), script.Say("It is 60."), script.HandBack(),
		script.Write("mean.txt", "20\n"), script.Say("And the mean is 20."),
	))
	e.Workspace(shop)
	e.Expect(criteria.FileContains("total.txt", "60"))
	e.Expect(criteria.FileContains("mean.txt", "20"))
	e.Expect(criteria.ReplyContains("20"))
	e.Run("Write the total of the sales to total.txt.", "Now the mean, to mean.txt.")
}

// An infrastructure error is no verdict: here the provider is overloaded. The attempt is made again, in a fresh workspace,
// after a wait that is short here. By default the test is red then, worded as an error; this eval asks for such errors to be
// skipped.
func TestInfrastructureError(t *testing.T) {
	e := evaltest.New(t, evaltest.OnError("skip"), evaltest.Backoff(10*time.Millisecond, 100*time.Millisecond), evaltest.Script(
		script.Run("echo working"),
		script.Fail(agents.Errorf(agents.Overloaded, agents.FromProvider, "%w", errors.New("529 overloaded"))),
	))
	e.Expect(criteria.FileExists("done.txt"))
	e.Run("Finish the work.")
}
