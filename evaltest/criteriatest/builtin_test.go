package criteriatest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
)

// builtIn has each constructor of a live criterion of package criteria, in several forms.
var builtIn = map[string][]evaltest.LiveCriterion{
	"SkillTriggered": {criteria.SkillTriggered("deploy")},
	"FirstSkill":     {criteria.FirstSkill("deploy")},
	"CommandExecuted": {
		criteria.CommandExecuted("cargo test"), criteria.CommandExecuted("kubectl").Min(2), criteria.CommandExecuted("shutdown").Max(0),
		criteria.CommandExecuted("make lint").Min(1).Max(2), criteria.CommandExecuted("cargo").Min(3).Partial(),
		criteria.CommandExecuted("cargo").Min(2).Max(4).Partial(),
	},
	"CommandMatches": {criteria.CommandMatches(`^(git push|hg push) (-f|--force)\b`), criteria.CommandMatches(`^curl -k\b`).Max(1)},
	"ToolCalled": {
		criteria.ToolCalled(agents.Move).Min(2), criteria.ToolCalled("mcp__jira__*"), criteria.ToolCalled("Notebook?dit").Max(2),
		criteria.ToolCalled("*").Input("q.ids[1]", 2).Max(0), criteria.ToolCalled("WebFetch").Input("url", regexp.MustCompile(`^https://go\.dev`)),
		criteria.ToolCalled("*").Input("table", "users").Input("drop", true),
	},
	"MCPToolCalled": {criteria.MCPToolCalled("jira", "close_issue"), criteria.MCPToolCalled("db", "*").Min(2).Partial()},
	"FileRead":      {criteria.FileRead("**/*.rs"), criteria.FileRead("docs/{a,b}.md").Min(2)},
	"FileEdited":    {criteria.FileEdited("go.mod"), criteria.FileEdited("vendor/**").Max(1)},
	"MessageMatches": {
		criteria.MessageMatches("(?i)all tests pass(ed)?"), criteria.MessageMatches(`^\d+ files changed$`),
	},
	"CallsAtMost":   {criteria.CallsAtMost(3), criteria.CallsAtMost(60)},
	"CallsAtLeast":  {criteria.CallsAtLeast(4)},
	"TurnsAtMost":   {criteria.TurnsAtMost(3), criteria.TurnsAtMost(25)},
	"TurnsAtLeast":  {criteria.TurnsAtLeast(4)},
	"TokensAtMost":  {criteria.TokensAtMost(30_000)},
	"TokensAtLeast": {criteria.TokensAtLeast(777)},
	"CostAtMost":    {criteria.CostAtMost(2.5)},
	"CostAtLeast":   {criteria.CostAtLeast(0.1)},
	"TimeAtMost":    {criteria.TimeAtMost(10 * time.Minute)},
	"TimeAtLeast":   {criteria.TimeAtLeast(time.Minute)},
	"Never": {
		criteria.Never(criteria.CommandExecuted("shutdown")), criteria.Never(criteria.FirstSkill("deploy")),
		criteria.Never(criteria.CommandExecuted("cargo").Min(3).Partial()),
	},
	"AllOf": {
		criteria.AllOf(criteria.SkillTriggered("deploy"), criteria.CommandExecuted("cargo test"), criteria.FileEdited("**/*.rs")),
		criteria.AllOf(criteria.CallsAtMost(9), criteria.Never(criteria.CommandExecuted("shutdown"))),
	},
	"AnyOf":   {criteria.AnyOf(criteria.SkillTriggered("deploy"), criteria.MessageMatches("sorry")), criteria.AnyOf(criteria.TurnsAtMost(2), criteria.CallsAtMost(2))},
	"AtLeast": {criteria.AtLeast(2, criteria.ToolCalled(agents.Fetch), criteria.SkillTriggered("deploy"), criteria.CommandExecuted("cargo").Min(2).Partial())},
	"WithinCalls": {
		criteria.WithinCalls(5, criteria.SkillTriggered("deploy")), criteria.WithinCalls(2, criteria.Never(criteria.CommandExecuted("shutdown"))),
		criteria.WithinCalls(4, criteria.CommandExecuted("cargo").Min(3).Partial()),
	},
	"Succeeded": {criteria.Succeeded(criteria.CommandExecuted("cargo test")), criteria.Succeeded(criteria.FirstSkill("deploy"))},
	"Attempted": {criteria.Attempted(criteria.CommandExecuted("shutdown").Max(0)), criteria.Never(criteria.Attempted(criteria.CommandExecuted("shutdown")))},
	"Before":    {criteria.Before(criteria.FileRead("CONTRIBUTING.md"), criteria.FileEdited("**/*.rs"))},
	"Then":      {criteria.Then(criteria.FileEdited("**/*.rs"), criteria.Succeeded(criteria.CommandExecuted("cargo test")))},
}

// Every built-in criterion and combination passes its check.
func TestBuiltInCriteria(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(builtIn)) {
		for _, c := range builtIn[name] {
			t.Run(name+" "+c.String(), func(t *testing.T) {
				t.Parallel()
				var opts []criteriatest.Option
				if testing.Short() {
					opts = append(opts, criteriatest.Cases(30))
				}
				begin := time.Now()
				assert.NoError(t, criteriatest.Check(c, opts...))
				t.Logf("%v", time.Since(begin).Round(time.Millisecond))
			})
		}
	}
}

// No live criterion of package criteria is missing from the table.
func TestBuiltInCriteriaAreComplete(t *testing.T) {
	t.Parallel()
	var live []string
	for name, result := range constructors(t) {
		if result {
			live = append(live, name)
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(builtIn)), live)
	assert.Contains(t, live, "CommandExecuted")
	assert.NotContains(t, live, "FileExists")
}

// constructors is the exported functions of package criteria that return a criterion, and whether that is live: whether its type
// has LiveVerdict, itself or from what it embeds.
func constructors(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "criteria", "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	results, embeds, live := map[string]string{}, map[string][]string{}, map[string]bool{}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case d.Recv == nil && d.Name.IsExported() && d.Type.Results != nil:
					results[d.Name.Name] = baseName(d.Type.Results.List[0].Type)
				case d.Recv != nil && d.Name.Name == "LiveVerdict":
					live[baseName(d.Recv.List[0].Type)] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, f := range st.Fields.List {
								if len(f.Names) == 0 {
									embeds[s.Name.Name] = append(embeds[s.Name.Name], baseName(f.Type))
								}
							}
						}
					}
				}
			}
		}
	}
	var isLive func(string) bool
	isLive = func(name string) bool { return live[name] || slices.ContainsFunc(embeds[name], isLive) }
	found := map[string]bool{}
	for name, result := range results {
		found[name] = isLive(result)
	}
	return found
}

// baseName is the name of a type, without what it points to it with.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
