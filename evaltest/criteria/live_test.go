package criteria_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// story is a trajectory told in a few words; each call is one event and its end another. Events are a second apart.
type story struct{ events []agents.Event }

func tell(parts ...func(*story)) *agents.Trajectory {
	s := new(story)
	for _, p := range parts {
		p(s)
	}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range s.events {
		s.events[i].Time = start.Add(time.Duration(i) * time.Second)
	}
	return agents.NewTrajectory(s.events...)
}

func (s *story) add(e ...agents.Event) { s.events = append(s.events, e...) }

func begin(id string, c agents.ToolCall) func(*story) {
	c.ID = id
	return func(s *story) { s.add(agents.Begin(c)) }
}

func end(id string, status agents.Status) func(*story) {
	return func(s *story) { s.add(agents.End(id, status, "")) }
}

// did is a call that ended at once.
func did(id string, c agents.ToolCall, status agents.Status) func(*story) {
	return func(s *story) { begin(id, c)(s); end(id, status)(s) }
}

func event(e agents.Event) func(*story) { return func(s *story) { s.add(e) } }

func skill(name string) agents.ToolCall {
	return agents.ToolCall{Kind: agents.Skill, Name: "Skill", Skill: name}
}

func run(command string) agents.ToolCall {
	return agents.ToolCall{Kind: agents.Execute, Name: "Bash", Commands: []string{command}}
}

func file(kind agents.Kind, paths ...string) agents.ToolCall {
	return agents.ToolCall{Kind: kind, Name: string(kind), Paths: paths}
}

func tool(name, input string) agents.ToolCall {
	return agents.ToolCall{Kind: agents.Other, Name: name, Input: json.RawMessage(input)}
}

func under(parent string, c agents.ToolCall) agents.ToolCall { c.Parent = parent; return c }

// row says what a criterion makes of a trajectory: while the agent works, and when it is done.
type row struct {
	name string
	c    evaltest.LiveCriterion
	tr   *agents.Trajectory
	live evaltest.Verdict
	end  string // the score, "open" or "error"
}

const (
	undecided = evaltest.Undecided
	passes    = evaltest.Passed
	fails     = evaltest.Failed
	done      = agents.Completed
)

func judge(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if m, ok := r.c.(evaltest.Misuse); ok {
				require.NoError(t, m.Misuse())
			}
			assert.Equal(t, r.live, r.c.LiveVerdict(r.tr), "live")
			s, err := r.c.Grade(context.Background(), &evaltest.Trial{Trajectory: r.tr})
			got := s.String()
			switch {
			case errors.Is(err, evaltest.ErrOpen):
				got = "open"
			case err != nil:
				got = "error"
			default:
				assert.NotEmpty(t, s.Reason, "a score says why")
			}
			assert.Equal(t, r.end, got, "at the end: %v %v", s.Reason, err)
		})
	}
}

func TestSkills(t *testing.T) {
	t.Parallel()
	used, first := criteria.SkillTriggered("pdf"), criteria.FirstSkill("pdf")
	judge(t, []row{
		{"used", used, tell(did("1", skill("csv"), done), did("2", skill("pdf"), done)), passes, "1"},
		{"used by a sub-agent", used, tell(begin("1", agents.ToolCall{Kind: agents.Sub}), did("2", under("1", skill("pdf")), done)), passes, "1"},
		{"used, and it went wrong", used, tell(did("1", skill("pdf"), agents.Failed)), passes, "1"},
		{"another is used", used, tell(did("1", skill("csv"), done)), undecided, "0"},
		{"its use is denied", used, tell(did("1", skill("pdf"), agents.Denied)), undecided, "0"},
		{"its use is pending", used, tell(begin("1", skill("pdf"))), undecided, "open"},
		{"the end of its use was not seen", used, tell(did("1", skill("pdf"), agents.Unresolved)), undecided, "open"},
		{"its name is mentioned", used, tell(event(agents.Say("I use the skill pdf.")), did("1", file(agents.Read, "skills/pdf/SKILL.md"), done)), undecided, "0"},

		{"none", first, tell(event(agents.Say("Hello."))), undecided, "0"},
		{"the right one first", first, tell(did("1", skill("pdf"), done), did("2", skill("csv"), done)), passes, "1"},
		{"a wrong one first", first, tell(did("1", skill("csv"), done), did("2", skill("pdf"), done)), fails, "0"},
		{"a wrong one is denied, then the right one", first, tell(did("1", skill("csv"), agents.Denied), did("2", skill("pdf"), done)), passes, "1"},
		{"a wrong one that went wrong", first, tell(did("1", skill("csv"), agents.Failed)), fails, "0"},
		{"side by side, the right one ends while a wrong one is pending", first,
			tell(begin("1", skill("csv")), begin("2", skill("pdf")), end("2", done)), undecided, "open"},
		{"side by side, the later one ends first", first,
			tell(begin("1", skill("csv")), begin("2", skill("pdf")), end("2", done), end("1", done)), fails, "0"},
		{"side by side, the earlier one is denied last", first,
			tell(begin("1", skill("csv")), begin("2", skill("pdf")), end("2", done), end("1", agents.Denied)), passes, "1"},
		{"side by side, both right", first, tell(begin("1", skill("pdf")), begin("2", skill("pdf")), end("2", done)), passes, "1"},
		{"side by side, both wrong", first, tell(begin("1", skill("csv")), begin("2", skill("git")), end("2", done)), fails, "0"},
		{"a wrong one may have been used", first, tell(begin("1", skill("csv"))), undecided, "0"},
		{"the right one may have been used", first, tell(begin("1", skill("pdf"))), undecided, "open"},
	})
	s, err := first.Grade(context.Background(), &evaltest.Trial{Trajectory: tell(did("1", skill("csv"), done))})
	require.NoError(t, err)
	assert.Equal(t, []string{"pdf", "csv"}, []string{s.Expected, s.Observed}, "the labels of a classification")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	gotest, rm := criteria.CommandExecuted("go test"), criteria.CommandExecuted("rm")
	ran := func(commands ...string) *agents.Trajectory {
		var parts []func(*story)
		for i, c := range commands {
			parts = append(parts, did(string(rune('a'+i)), run(c), done))
		}
		return tell(parts...)
	}
	judge(t, []row{
		{"with arguments", gotest, ran("go test ./..."), passes, "1"},
		{"another word", gotest, ran("go testx"), undecided, "0"},
		{"words elsewhere", gotest, ran("echo go test"), undecided, "0"},
		{"a flag between", gotest, ran("go -C x test"), undecided, "0"},
		{"by path", rm, ran("/bin/rm x"), passes, "1"},
		{"hidden by quotes", rm, ran(`r\m x`), passes, "1"},
		{"hidden in a wrapper", rm, ran(`bash -lc 'cd x && env A=1 rm y'`), passes, "1"},
		{"the wrapper itself", criteria.CommandExecuted("sudo"), ran("sudo rm x"), passes, "1"},
		{"the wrapper with words", criteria.CommandExecuted("sudo rm"), ran("sudo rm x"), passes, "1"},
		{"a program of the workspace", criteria.CommandExecuted("./build.sh"), ran("/x/build.sh"), undecided, "0"},
		{"quoted words", criteria.CommandExecuted(`git commit -m "a b"`), ran(`git commit -m 'a b'`), passes, "1"},
		{"an expansion is not known", rm, ran(`$x rm y`), undecided, "0"},
		{"an expansion that the source gives a value", rm, ran(`x=rm; $x y`), passes, "1"},
		{"an expansion with a default", gotest, ran(`${GO:-go} test ./...`), passes, "1"},
		{"a default's words are no command", criteria.CommandExecuted("test"), ran(`${GO:-go} test ./...`), undecided, "0"},
		{"a sudo by its name", rm, ran(`$SUDO -n rm x`), passes, "1"},
		{"elsewhere", rm, ran(`ssh host docker exec c rm x`), passes, "1"},
		{"an expansion as written", criteria.CommandExecuted("$x"), ran(`$x y`), passes, "1"},
		{"text of a file", rm, ran("cat > x.sh <<EOF\nrm y\nEOF"), undecided, "0"},
		{"a tool that is no shell", rm, tell(did("1", agents.ToolCall{Kind: agents.Other, Commands: []string{"rm x"}}, done)), undecided, "0"},
		{"a failed call has run", rm, tell(did("1", run("rm x; false"), agents.Failed)), passes, "1"},
		{"denied", rm, tell(did("1", run("rm x"), agents.Denied)), undecided, "0"},
		{"pending", rm, tell(begin("1", run("rm x"))), undecided, "open"},

		{"two in one call", rm.Min(2), ran("rm x && rm y"), passes, "1"},
		{"one of two", rm.Min(2), ran("rm x"), undecided, "0"},
		{"one of two, partial credit", rm.Min(2).Partial(), ran("rm x"), undecided, "0.5"},
		{"none at all", rm.Max(0), ran("ls"), undecided, "1"},
		{"none at all, but one", rm.Max(0), ran("rm x"), fails, "0"},
		{"one or two, one", rm.Min(1).Max(2), ran("rm x"), undecided, "1"},
		{"one or two, three", rm.Min(1).Max(2), ran("rm x; rm y", "rm z"), fails, "0"},
		{"one or two, none", rm.Min(1).Max(2), ran("ls"), undecided, "0"},
		{"none at all, one pending", rm.Max(0), tell(begin("1", run("rm x"))), undecided, "open"},
		{"partial credit, one pending", rm.Min(2).Partial(), tell(did("1", run("rm x"), done), begin("2", run("rm x"))), undecided, "open"},

		{"by regexp", criteria.CommandMatches(`^go .*test`), ran("go -C x test"), passes, "1"},
		{"by regexp, within one command", criteria.CommandMatches(`a b`), ran("a; b"), undecided, "0"},
		{"by regexp, a wrapper counts once", criteria.CommandMatches(`rm`).Max(1), ran(`bash -c 'sudo rm x'`), undecided, "1"},
		{"by regexp, each command inside counts", criteria.CommandMatches(`rm`).Min(2), ran(`bash -c 'rm x; rm y'`), passes, "1"},
		{"by regexp, the wrapper's own text", criteria.CommandMatches(`^bash -lc`), ran(`bash -lc ls`), passes, "1"},
	})
	lo, hi := rm.Min(4).Partial().LiveBounds(ran("rm x"))
	assert.Equal(t, "0.25 1", lo.String()+" "+hi.String(), "partial credit rises as it is earned")
}

func TestTools(t *testing.T) {
	t.Parallel()
	called := func(c agents.ToolCall) *agents.Trajectory { return tell(did("1", c, done)) }
	query := called(tool("mcp__db__query", `{"q":{"table":"users","ids":[1,2.0]},"n":1e1,"null":null}`))
	any := criteria.ToolCalled("*")
	judge(t, []row{
		{"by name", criteria.ToolCalled("WebFetch"), called(tool("WebFetch", "{}")), passes, "1"},
		{"by another name", criteria.ToolCalled("WebFetch"), called(tool("WebSearch", "{}")), undecided, "0"},
		{"by pattern", criteria.ToolCalled("mcp__db__*"), query, passes, "1"},
		{"by kind", criteria.ToolCalled(agents.Read), called(file(agents.Read, "x")), passes, "1"},
		{"by another kind", criteria.ToolCalled(agents.Fetch), called(file(agents.Read, "x")), undecided, "0"},
		{"a name is no kind", criteria.ToolCalled("read"), called(agents.ToolCall{Kind: agents.Read, Name: "Read"}), undecided, "0"},
		{"MCP", criteria.MCPToolCalled("db", "query"), query, passes, "1"},
		{"MCP, any tool", criteria.MCPToolCalled("db", "*"), query, passes, "1"},
		{"MCP, another tool", criteria.MCPToolCalled("db", "drop"), query, undecided, "0"},
		{"MCP, another server", criteria.MCPToolCalled("d", "*"), query, undecided, "0"},
		{"MCP, a name that the agent changes", criteria.MCPToolCalled("my db", "query"), called(tool("mcp__my_db__query", "{}")), passes, "1"},
		{"MCP, as others write it", criteria.MCPToolCalled("db", "query"), called(tool("db_query", "{}")), passes, "1"},
		{"input", any.Input("q.table", "users"), query, passes, "1"},
		{"input, other value", any.Input("q.table", "orders"), query, undecided, "0"},
		{"input, number by value", any.Input("n", 10).Input("q.ids[1]", 2), query, passes, "1"},
		{"input, no such place", any.Input("q.ids[2]", 2), query, undecided, "0"},
		{"input, object", any.Input("q.ids", []int{1, 2}), query, passes, "1"},
		{"input, null", any.Input("null", nil), query, passes, "1"},
		{"input, missing is not null", any.Input("x", nil), query, undecided, "0"},
		{"input, regexp", any.Input("q.table", regexp.MustCompile("^use")), query, passes, "1"},
		{"input, regexp on the whole", any.Input("", regexp.MustCompile(`"table":"users"`)), query, passes, "1"},
		{"input, both conditions", any.Input("n", 10).Input("q.table", "orders"), query, undecided, "0"},
		{"input that is hidden", any.Input("n", 10), called(agents.ToolCall{Name: "x", Kind: agents.Other}), undecided, "0"},
		{"input that is no JSON", any.Input("n", 10), called(tool("x", "{")), undecided, "0"},
		{"twice", any.Min(2), query, undecided, "0"},
		{"not even once", any.Max(0), query, fails, "0"},
	})
}

func TestFiles(t *testing.T) {
	t.Parallel()
	edits := tell(did("1", file(agents.Edit, "src/a/b.go"), done), did("2", file(agents.Move, "x.txt", "src/y.txt"), done),
		did("3", file(agents.Delete, "z"), agents.Denied), did("4", file(agents.Read, "/etc/hosts"), done))
	judge(t, []row{
		{"edited", criteria.FileEdited("src/a/b.go"), edits, passes, "1"},
		{"edited, at any depth", criteria.FileEdited("**/*.go"), edits, passes, "1"},
		{"edited, at this depth", criteria.FileEdited("src/*.go"), edits, undecided, "0"},
		{"edited, either end of a move", criteria.FileEdited("*.txt"), edits, passes, "1"},
		{"edited, twice", criteria.FileEdited("src/**").Min(2), edits, passes, "1"},
		{"edited, at most once", criteria.FileEdited("src/**").Max(1), edits, fails, "0"},
		{"edited, but denied", criteria.FileEdited("z"), edits, undecided, "0"},
		{"edited is not read", criteria.FileRead("src/**"), edits, undecided, "0"},
		{"read, outside the workspace", criteria.FileRead("/etc/*"), edits, passes, "1"},
		{"read, as people write paths", criteria.FileRead("./a.go"), tell(did("1", file(agents.Read, "a.go"), done)), passes, "1"},
		{"read by a command is not seen", criteria.FileRead("a.go"), tell(did("1", run("cat a.go"), done)), undecided, "0"},
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	judge(t, []row{
		{"said", criteria.MessageMatches("(?i)done"), tell(event(agents.Say("All DONE."))), passes, "1"},
		{"not said", criteria.MessageMatches("done"), tell(event(agents.Say("Almost."))), undecided, "0"},
		{"said by the user", criteria.MessageMatches("done"), tell(event(agents.Prompt("done?"))), undecided, "0"},
		{"said by a sub-agent", criteria.MessageMatches("done"), tell(event(agents.Say("done").Under("1"))), undecided, "0"},
		{"must not be said", criteria.Never(criteria.MessageMatches("sorry")), tell(event(agents.Say("I am sorry."))), fails, "0"},
		{"was not said", criteria.Never(criteria.MessageMatches("sorry")), tell(event(agents.Say("Fine."))), undecided, "1"},
	})
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	three := tell(did("1", run("a"), done), did("2", run("b"), agents.Failed), did("3", run("c"), agents.Denied), begin("4", run("d")),
		did("5", under("4", run("e")), done))
	spent := func(dollars ...float64) *agents.Trajectory {
		var parts []func(*story)
		for _, d := range dollars {
			parts = append(parts, event(agents.Spent(agents.Usage{InputTokens: 5, CachedTokens: 3, OutputTokens: 2, Cost: d}).Under("x")))
		}
		return tell(parts...)
	}
	turns := tell(event(agents.Say("a").In("1")), did("1", run("a"), done), event(agents.Say("b").In("2")), event(agents.Say("c").In("2")))
	judge(t, []row{
		{"calls at most, one open", criteria.CallsAtMost(2), three, undecided, "open"},
		{"calls at most, enough", criteria.CallsAtMost(3), three, undecided, "1"},
		{"calls at most, too many", criteria.CallsAtMost(1), three, fails, "0"},
		{"calls at least, reached", criteria.CallsAtLeast(2), three, passes, "1"},
		{"calls at least, one open", criteria.CallsAtLeast(3), three, undecided, "open"},
		{"calls at least, not reached", criteria.CallsAtLeast(4), three, undecided, "0"},
		{"turns at most", criteria.TurnsAtMost(3), turns, undecided, "1"},
		{"turns at most, too many", criteria.TurnsAtMost(2), turns, fails, "0"},
		{"turns at least", criteria.TurnsAtLeast(3), turns, passes, "1"},
		{"tokens of every kind", criteria.TokensAtLeast(20), spent(1, 1), passes, "1"},
		{"tokens at most", criteria.TokensAtMost(19), spent(1, 1), fails, "0"},
		{"what is taken back was used", criteria.TokensAtLeast(20), tell(event(agents.Spent(agents.Usage{InputTokens: 20})),
			event(agents.Spent(agents.Usage{InputTokens: -15}))), passes, "1"},
		{"ten tenths are a dollar", criteria.CostAtMost(1), spent(.1, .1, .1, .1, .1, .1, .1, .1, .1, .1), undecided, "1"},
		{"0.1 and 0.2 are 0.3", criteria.CostAtMost(0.3), spent(0.1, 0.2), undecided, "1"},
		{"0.1 and 0.7 reach 0.8", criteria.CostAtLeast(0.8), spent(0.1, 0.7), passes, "1"},
		{"too much", criteria.CostAtMost(0.3), spent(0.1, 0.2, 0.0001), fails, "0"},
		{"nobody knows what it cost", criteria.CostAtMost(1), spent(0, 0), undecided, "error"},
		{"nothing was used", criteria.CostAtMost(1), tell(), undecided, "1"},
		{"time at most", criteria.TimeAtMost(8 * time.Second), three, undecided, "1"},
		{"time at most, too long", criteria.TimeAtMost(7 * time.Second), three, fails, "0"},
		{"time at least", criteria.TimeAtLeast(8 * time.Second), three, passes, "1"},
		{"time at least, too short", criteria.TimeAtLeast(9 * time.Second), three, undecided, "0"},
	})
}
