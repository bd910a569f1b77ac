package criteria_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

func TestCombinations(t *testing.T) {
	t.Parallel()
	pdf, csv, git := criteria.SkillTriggered("pdf"), criteria.SkillTriggered("csv"), criteria.SkillTriggered("git")
	noRM := criteria.Never(criteria.CommandExecuted("rm"))
	half, third := atEnd{score: evaltest.Ratio(1, 2)}, atEnd{score: evaltest.Ratio(1, 3)}
	all, broken := atEnd{score: evaltest.Ratio(1, 1)}, atEnd{err: errGrader}
	used := tell(did("1", skill("pdf"), done))
	removed := tell(did("1", skill("pdf"), done), did("2", run("rm x"), done))
	pending := tell(begin("1", skill("pdf")))
	judge(t, []row{
		{"never, undone", noRM, used, undecided, "1"},
		{"never, done", noRM, removed, fails, "0"},
		{"never, partial credit", criteria.Never(criteria.CommandExecuted("rm").Min(4).Partial()), removed, undecided, "0.75"},
		{"never never", criteria.Never(criteria.Never(pdf)), used, passes, "1"},
		{"all of, one open", criteria.AllOf(pdf, noRM), used, undecided, "1"},
		{"all of, one failed", criteria.AllOf(pdf, noRM), removed, fails, "0"},
		{"all of, at the end", criteria.AllOf(pdf, half, third), used, undecided, "0.33"},
		{"any of, one passed", criteria.AnyOf(csv, pdf, half), used, passes, "1"},
		{"any of, at the end", criteria.AnyOf(csv, half, third), used, undecided, "0.5"},
		{"at least, second best", criteria.AtLeast(2, pdf, half, third), used, undecided, "0.5"},
		{"at least, two passed", criteria.AtLeast(2, pdf, csv, git), tell(did("1", skill("pdf"), done), did("2", skill("git"), done)), passes, "1"},
		{"at least, too few are left", criteria.AtLeast(2, noRM, criteria.CallsAtMost(0), half), removed, fails, "0"},
		{"an error that does not matter", criteria.AnyOf(pdf, broken), used, passes, "1"},
		{"an error that matters", criteria.AllOf(pdf, broken), used, undecided, "error"},
		{"an error where the others fail", criteria.AllOf(noRM, broken), removed, fails, "0"},
		{"an error below the rank that counts", criteria.AtLeast(2, all, pdf, broken), used, undecided, "1"},
		{"open, and it does not matter", criteria.AnyOf(pdf, all), pending, undecided, "1"},
		{"open, and it matters", criteria.AllOf(pdf, half), pending, undecided, "open"},
		{"open, and the rest is lost", criteria.AllOf(pdf, csv), pending, undecided, "0"},
	})
}

func TestErrorsOfPartsAreNamed(t *testing.T) {
	t.Parallel()
	c := criteria.AllOf(criteria.SkillTriggered("pdf"), atEnd{err: errGrader})
	_, err := c.Grade(context.Background(), &evaltest.Trial{Trajectory: tell(did("1", skill("pdf"), done))})
	require.ErrorIs(t, err, errGrader)
	assert.NotErrorIs(t, err, evaltest.ErrOpen)
	assert.Contains(t, err.Error(), "at the end")
}

func TestViews(t *testing.T) {
	t.Parallel()
	test, rm, pdf := criteria.CommandExecuted("go test"), criteria.CommandExecuted("rm"), criteria.SkillTriggered("pdf")
	succeeded, attempted := criteria.Succeeded(test), criteria.Attempted(rm)
	sub := agents.ToolCall{Kind: agents.Sub, Name: "Agent"}
	judge(t, []row{
		{"succeeded", succeeded, tell(did("1", run("go test"), done)), passes, "1"},
		{"it went wrong", succeeded, tell(did("1", run("go test"), agents.Failed)), undecided, "0"},
		{"first wrong, then right", succeeded, tell(did("1", run("go test"), agents.Failed), did("2", run("go test"), done)), passes, "1"},
		{"not seen how it went", succeeded, tell(did("1", run("go test"), agents.Unresolved)), undecided, "open"},
		{"the first skill that succeeded", criteria.Succeeded(criteria.FirstSkill("pdf")),
			tell(did("1", skill("csv"), agents.Failed), did("2", skill("pdf"), done)), passes, "1"},

		{"attempted", attempted, tell(begin("1", run("rm x"))), passes, "1"},
		{"attempted, denied", attempted, tell(did("1", run("rm x"), agents.Denied)), passes, "1"},
		{"not attempted", attempted, tell(did("1", run("ls"), done)), undecided, "0"},
		{"must not be attempted", criteria.Never(attempted), tell(did("1", run("rm x"), agents.Denied)), fails, "0"},
		{"attempted, time passes", criteria.Attempted(criteria.TimeAtLeast(2 * time.Second)),
			tell(begin("1", run("a")), begin("2", run("b")), end("1", done)), passes, "1"},
		{"the first skill that was attempted", criteria.Attempted(criteria.FirstSkill("pdf")),
			tell(begin("1", skill("csv")), did("2", skill("pdf"), done)), fails, "0"},

		{"within 2 calls, at the 2nd", criteria.WithinCalls(2, pdf), tell(did("1", run("a"), done), did("2", skill("pdf"), done)), passes, "1"},
		{"within 2 calls, at the 3rd", criteria.WithinCalls(2, pdf), tell(did("1", run("a"), done), did("2", run("b"), done), did("3", skill("pdf"), done)), fails, "0"},
		{"within 2 calls, the 2nd is pending", criteria.WithinCalls(2, pdf), tell(did("1", run("a"), done), begin("2", skill("pdf"))), undecided, "open"},
		{"within 2 calls, a parallel 3rd ends first", criteria.WithinCalls(2, pdf),
			tell(did("1", run("a"), done), begin("2", skill("pdf")), begin("3", skill("csv")), end("3", done)), undecided, "open"},
		{"within 2 calls, a parallel 3rd is too late", criteria.WithinCalls(2, pdf),
			tell(begin("1", run("a")), begin("2", run("b")), begin("3", skill("pdf")), end("3", done), end("1", done), end("2", done)), fails, "0"},
		{"within 2 calls, denied calls are calls", criteria.WithinCalls(2, pdf),
			tell(did("1", run("a"), agents.Denied), did("2", run("b"), agents.Denied), did("3", skill("pdf"), done)), fails, "0"},
		{"within 2 calls, a must-not is kept", criteria.WithinCalls(2, criteria.Never(rm)),
			tell(did("1", run("a"), done), did("2", run("b"), done), did("3", run("rm x"), done)), passes, "1"},
		{"within 2 calls, only one comes", criteria.WithinCalls(2, pdf), tell(did("1", run("a"), done)), undecided, "0"},
		{"within 2 calls, partial credit is final", criteria.WithinCalls(2, criteria.CommandExecuted("a").Min(2).Partial()),
			tell(did("1", run("a"), done), did("2", run("b"), done)), undecided, "0.5"},
		{"within 1 call, inside a sub-agent", criteria.WithinCalls(1, pdf),
			tell(begin("1", sub), did("2", under("1", run("a")), done), did("3", under("1", skill("pdf")), done), end("1", done)), passes, "1"},
		{"within 1 call, inside a later sub-agent", criteria.WithinCalls(1, pdf),
			tell(begin("1", run("a")), begin("2", sub), did("3", under("2", skill("pdf")), done), end("1", done)), fails, "0"},
		{"within 1 call, a sub-agent's call outlasts it", criteria.WithinCalls(1, pdf),
			tell(begin("1", sub), begin("2", under("1", skill("pdf"))), end("1", done), end("2", done)), passes, "1"},
		{"within 1 call, a sub-agent goes on", criteria.WithinCalls(1, pdf),
			tell(begin("1", sub), end("1", done), did("2", under("1", skill("pdf")), done)), fails, "0"},
		{"within 1 call, what is said until then", criteria.WithinCalls(1, criteria.MessageMatches("done")),
			tell(begin("1", run("a")), event(agents.Say("done")), end("1", done)), passes, "1"},
		{"within 1 call, what is said later", criteria.WithinCalls(1, criteria.MessageMatches("done")),
			tell(did("1", run("a"), done), event(agents.Say("done"))), fails, "0"},
		{"within 1 call, time", criteria.WithinCalls(1, criteria.TimeAtMost(time.Second)),
			tell(did("1", run("a"), done), did("2", run("b"), done)), passes, "1"},

		{"nested views", criteria.Succeeded(criteria.WithinCalls(2, criteria.Before(pdf, test))),
			tell(did("1", skill("pdf"), agents.Failed), did("2", run("go test"), done)), fails, "0"},
	})
	lo, hi := criteria.WithinCalls(1, criteria.CommandExecuted("a").Min(2).Partial()).LiveBounds(tell(did("1", run("a"), done)))
	assert.Equal(t, "0.5 0.5", lo.String()+" "+hi.String(), "the score of a window is fixed when it closes")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	a, b := criteria.CommandExecuted("a"), criteria.CommandExecuted("b")
	before, then := criteria.Before(a, b), criteria.Then(a, b)
	A, B := func(id string) func(*story) { return did(id, run("a"), done) }, func(id string) func(*story) { return did(id, run("b"), done) }
	soon := criteria.WithinCalls(5, a)                  // comes to pass with the end where few calls come
	quiet := criteria.WithinCalls(5, criteria.Never(b)) // so does this
	judge(t, []row{
		{"before: neither", before, tell(), undecided, "1"},
		{"before: a alone", before, tell(A("1")), passes, "1"},
		{"before: a, then b", before, tell(A("1"), B("2")), passes, "1"},
		{"before: b alone", before, tell(B("1")), fails, "0"},
		{"before: b, then a", before, tell(B("1"), A("2")), fails, "0"},
		{"before: both in one call", before, tell(did("1", run("a; b"), done)), fails, "0"},
		{"before: b is pending", before, tell(begin("1", run("b"))), undecided, "open"},
		{"before: a is pending, b has run", before, tell(begin("1", run("a")), B("2")), fails, "0"},
		{"before: a is pending", before, tell(begin("1", run("a"))), undecided, "1"},
		{"before: b cannot pass any more", criteria.Before(a, criteria.WithinCalls(1, b)), tell(did("1", run("c"), done)), passes, "1"},
		{"before: b passes with the end, without a", criteria.Before(a, quiet), tell(did("1", run("c"), done)), undecided, "0"},
		{"before: b passes with the end, a is pending", criteria.Before(a, quiet), tell(begin("1", run("a"))), undecided, "open"},
		{"before: both pass with the end", criteria.Before(quiet, quiet), tell(), undecided, "0"},

		{"then: neither", then, tell(), undecided, "0"},
		{"then: a alone", then, tell(A("1")), undecided, "0"},
		{"then: a, then b", then, tell(A("1"), B("2")), passes, "1"},
		{"then: b, then a", then, tell(B("1"), A("2")), fails, "0"},
		{"then: b, a, b", then, tell(B("1"), A("2"), B("3")), fails, "0"},
		{"then: a, b pending", then, tell(A("1"), begin("2", run("b"))), undecided, "open"},
		{"then: a pending, b pending", then, tell(begin("1", run("a")), begin("2", run("b"))), undecided, "open"},
		{"then: b pending, no a", then, tell(begin("1", run("b"))), undecided, "0"},
		{"then: a cannot pass any more", criteria.Then(criteria.WithinCalls(1, a), b), tell(did("1", run("c"), done)), fails, "0"},
		{"then: a, and b passes with the end", criteria.Then(a, quiet), tell(A("1")), undecided, "1"},
		{"then: a within a window, b", criteria.Then(soon, b), tell(A("1"), B("2")), passes, "1"},
		{"then: order by the end of calls", then, tell(begin("1", run("b")), begin("2", run("a")), end("2", done), end("1", done)), passes, "1"},
		{"then: three in a row", criteria.Then(criteria.Then(a, b), criteria.CommandExecuted("c")), tell(A("1"), B("2"), did("3", run("c"), done)), passes, "1"},
	})
}

func TestPolarities(t *testing.T) {
	t.Parallel()
	pass, fail, both := criteria.SkillTriggered("pdf"), criteria.CallsAtMost(3), criteria.FirstSkill("pdf")
	file := atEnd{}
	for _, tc := range []struct {
		c    evaltest.LiveCriterion
		want evaltest.Polarity
	}{
		{pass, evaltest.Pass},
		{fail, evaltest.Fail},
		{both, evaltest.Pass | evaltest.Fail},
		{criteria.CommandExecuted("a").Max(1), evaltest.Fail},
		{criteria.CommandExecuted("a").Min(1).Max(1), evaltest.Fail},
		{criteria.Never(pass), evaltest.Fail},
		{criteria.Never(fail), evaltest.Pass},
		{criteria.Never(file), 0},
		{criteria.AllOf(pass, both), evaltest.Pass | evaltest.Fail},
		{criteria.AllOf(pass, fail), evaltest.Fail},
		{criteria.AllOf(pass, file), 0},
		{criteria.AnyOf(pass, file), evaltest.Pass},
		{criteria.AnyOf(fail, file), 0},
		{criteria.AtLeast(2, pass, both, file), evaltest.Pass},
		{criteria.AtLeast(2, fail, both, file), evaltest.Fail},
		{criteria.Succeeded(fail), evaltest.Fail},
		{criteria.Attempted(pass), evaltest.Pass},
		{criteria.WithinCalls(3, fail), evaltest.Pass | evaltest.Fail},
		{criteria.Before(pass, both), evaltest.Pass | evaltest.Fail},
		{criteria.Then(pass, both), evaltest.Pass | evaltest.Fail},
	} {
		assert.Equal(t, tc.want, tc.c.StopPolarities(), "%v", tc.c)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	skill, command := criteria.SkillTriggered("pdf"), criteria.CommandExecuted("rm")
	for _, tc := range []struct {
		c    evaltest.Restricted
		want []agents.Kind
	}{
		{skill, []agents.Kind{agents.Skill}},
		{criteria.FileEdited("x"), []agents.Kind{agents.Edit, agents.Delete, agents.Move}},
		{criteria.ToolCalled(agents.Fetch).Max(2), []agents.Kind{agents.Fetch}},
		{criteria.ToolCalled("X"), nil},
		{criteria.TurnsAtMost(3), nil},
		{criteria.AllOf(skill, atEnd{}, criteria.Never(command), skill), []agents.Kind{agents.Execute, agents.Skill}},
		{criteria.Then(criteria.WithinCalls(2, command), criteria.Succeeded(skill)), []agents.Kind{agents.Execute, agents.Skill}},
	} {
		assert.Equal(t, tc.want, tc.c.Needs(), "%v", tc.c)
	}
}

// What does not fit is reported where it was built, never decided, and graded as the author's error.
func TestMisuseOfLiveCriteria(t *testing.T) {
	t.Parallel()
	ok, file := criteria.SkillTriggered("pdf"), atEnd{}
	var none *criteria.SkillUse
	bad := criteria.CommandMatches("(")
	for _, tc := range []struct {
		says string
		c    evaltest.LiveCriterion
	}{
		{"the name of the skill is empty", criteria.SkillTriggered("")},
		{"the name of the skill is empty", criteria.FirstSkill("")},
		{"give the words that it begins with", criteria.CommandExecuted("")},
		{"give the words that it begins with", criteria.CommandExecuted("a && b")},
		{"missing closing )", bad},
		{"missing closing )", criteria.MessageMatches("(")},
		{"missing closing )", criteria.Never(criteria.AllOf(ok, criteria.WithinCalls(2, bad)))},
		{"missing closing )", criteria.Before(ok, bad)},
		{"the name of the tool is empty", criteria.ToolCalled("")},
		{"not a pattern", criteria.ToolCalled("[")},
		{"no kind of call", criteria.ToolCalled(agents.Kind("reed"))},
		{"give the name of a server", criteria.MCPToolCalled("", "x")},
		{"JSON path", criteria.ToolCalled("x").Input("a[", 1)},
		{"nothing that JSON can hold", criteria.ToolCalled("x").Input("a", make(chan int))},
		{"no pattern", criteria.FileEdited("[")},
		{"no path", criteria.FileRead("")},
		{"a negative bound", criteria.CommandExecuted("a").Min(-1)},
		{"asks for nothing", criteria.CommandExecuted("a").Min(0)},
		{"lies above", criteria.CommandExecuted("a").Min(3).Max(2)},
		{"add Min(n)", criteria.CommandExecuted("a").Max(2).Partial()},
		{"no trial could pass", criteria.CallsAtMost(-1)},
		{"every trial would pass", criteria.TurnsAtLeast(0)},
		{"no number of dollars", criteria.CostAtMost(math.NaN())},
		{"no number of dollars", criteria.CostAtLeast(math.Inf(1))},
		{"no trial could pass", criteria.CostAtMost(-0.5)},
		{"every trial would pass", criteria.TimeAtLeast(0)},
		{"nothing to choose from", criteria.AllOf()},
		{"nothing to choose from", criteria.AnyOf()},
		{"0 of 1 criteria", criteria.AtLeast(0, ok)},
		{"2 of 1 criteria", criteria.AtLeast(2, ok)},
		{"a part is nil", criteria.AllOf(ok, nil)},
		{"a part is nil", criteria.Never(nil)},
		{"a part is nil", criteria.Never(none)},
		{"a part is nil", criteria.Succeeded(nil)},
		{"a part is nil", criteria.Then(nil, ok)},
		{"ask for one at least", criteria.WithinCalls(0, ok)},
		{"looks at the workspace", criteria.WithinCalls(2, criteria.AllOf(ok, file))},
		{"looks at the workspace", criteria.Succeeded(criteria.Never(criteria.AnyOf(ok, file)))},
		{"looks at the workspace", criteria.Attempted(criteria.Never(file))},
		{"looks at the workspace", criteria.Before(criteria.AnyOf(ok, file), ok)},
		{"looks at the workspace", criteria.AllOf(file, criteria.Then(ok, criteria.AnyOf(ok, file)))},
		{"cannot pass while the agent works", criteria.Before(ok, criteria.CallsAtMost(3))},
		{"cannot pass while the agent works", criteria.Then(criteria.Never(ok), ok)},
	} {
		m, isMisuse := tc.c.(evaltest.Misuse)
		require.True(t, isMisuse, "%T", tc.c)
		require.ErrorContains(t, m.Misuse(), tc.says, "%T", tc.c)
		assert.Regexp(t, "^criteria: ", m.Misuse().Error())
		tr := tell(did("1", skill("pdf"), done), did("2", run("a"), done))
		assert.Equal(t, undecided, tc.c.LiveVerdict(tr), "%v", tc.c)
		_, err := tc.c.Grade(context.Background(), &evaltest.Trial{Trajectory: tr})
		require.Error(t, err)
		assert.NotErrorIs(t, err, evaltest.ErrOpen)
		assert.NotEmpty(t, tc.c.String())
		tc.c.StopPolarities()
	}
}

func TestOptionsChangeACopy(t *testing.T) {
	t.Parallel()
	c := criteria.CommandExecuted("rm")
	c.Min(3).Max(4).Partial()
	assert.Equal(t, "command executed: rm", c.String())
	assert.Equal(t, "command executed 3 to 4 times (partial credit): rm", c.Min(3).Max(4).Partial().String())
	tool := criteria.ToolCalled("x")
	one := tool.Input("a", 1)
	one.Input("b", 2)
	assert.Equal(t, "tool called: x with a = 1", one.String())
	assert.Equal(t, "tool called exactly 2 times: x", tool.Min(2).Max(2).String())
}
