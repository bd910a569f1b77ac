package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/evaltest-go/evaltest/lint"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// findings is what the analyzers say of packages, a line each.
func findings(t *testing.T, cfg *packages.Config, s lint.Settings, patterns ...string) []string {
	t.Helper()
	cfg.Mode = packages.LoadAllSyntax | packages.NeedModule
	pkgs, err := packages.Load(cfg, patterns...)
	require.NoError(t, err)
	require.NotEmpty(t, pkgs)
	found, _ := analyze(t, s, pkgs)
	return found
}

// analyze is what the analyzers say of packages, and how many of those type-check, so that all analyzers looked at them.
func analyze(t *testing.T, s lint.Settings, pkgs []*packages.Package) (found []string, looked int) {
	t.Helper()
	graph, err := checker.Analyze(lint.Analyzers(s), pkgs, nil)
	require.NoError(t, err)
	skipped := map[*packages.Package]bool{}
	for _, act := range graph.Roots {
		switch {
		case act.Err == nil:
		case strings.Contains(act.Err.Error(), "analysis skipped due to"), strings.Contains(act.Err.Error(), "failed prerequisites"):
			skipped[act.Package] = true
		default:
			found = append(found, fmt.Sprintf("%v: %v", act, act.Err))
		}
		for _, d := range act.Diagnostics {
			found = append(found, fmt.Sprintf("%s: %s", act.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return found, len(pkgs) - len(skipped)
}

// The project keeps its own rules, its examples and its tests included: also every built-in criterion.
func TestTheProject(t *testing.T) {
	t.Parallel()
	for _, f := range findings(t, &packages.Config{Dir: "..", Tests: true}, lint.Settings{}, "./...") {
		t.Error(f)
	}
}

// Criteria that look suspicious to one analyzer, and are right, are so to all of them.
func TestRightCriteria(t *testing.T) {
	t.Parallel()
	for _, f := range findings(t, &packages.Config{Dir: "..", Tests: true}, lint.Settings{},
		"./lint/livepair/testdata/right", "./lint/livepolarity/testdata/right", "./lint/livepure/testdata/right", "./lint/livepure/testdata/own",
		"./lint/graderr/testdata/right", "./lint/evalrun/testdata/right", "./lint/evalmain/testdata/right/...",
		"./lint/internal/polarity/testdata/...") {
		t.Error(f)
	}
}

// Of code that does not type-check only livepair says something: what it finds is why.
func TestCodeThatDoesNotTypeCheck(t *testing.T) {
	t.Parallel()
	found := findings(t, &packages.Config{Dir: ".."}, lint.Settings{}, "./lint/livepair/testdata/broken")
	require.Len(t, found, 1)
	require.Contains(t, found[0], "livepair: LiveVerdict of byValue has the wrong signature")
}

// Code that has nothing to do with evaltest, cgo and assembly among it. With the early return switched off nothing crashes, and
// nothing is found.
func TestForeignCode(t *testing.T) {
	program.Everywhere = true // nothing runs beside a test that is not parallel
	defer func() { program.Everywhere = false }()
	for _, f := range findings(t, &packages.Config{}, lint.Settings{}, "runtime/cgo", "os/user", "net", "reflect", "go/types", "testing") {
		t.Error(f)
	}
}

// The same of the standard library, and of everything that the project's tools are made of.
func TestSoak(t *testing.T) {
	if os.Getenv("EVALTEST_SOAK") == "" {
		t.Skip("it looks at a thousand packages for minutes: set EVALTEST_SOAK, as make soak does")
	}
	program.Everywhere = true
	defer func() { program.Everywhere = false }()
	seen, n := map[string]bool{}, 0
	for _, from := range []struct {
		dir      string
		patterns []string
	}{
		{"..", []string{"std"}},
		{"../tools", []string{"github.com/golangci/golangci-lint/v2/cmd/golangci-lint", "gotest.tools/gotestsum"}},
	} {
		pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: from.dir}, from.patterns...)
		require.NoError(t, err)
		var all []*packages.Package
		packages.Visit(pkgs, nil, func(p *packages.Package) {
			if !seen[p.PkgPath] && p.PkgPath != "unsafe" {
				seen[p.PkgPath] = true
				all = append(all, p)
			}
		})
		found, looked := analyze(t, lint.Settings{}, all)
		for _, f := range found {
			t.Error(f)
		}
		n += looked
	}
	t.Logf("%d packages", n)
	require.Greater(t, n, 500)
}
