package evalmain_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/evaltest-go/evaltest/lint/evalmain"
	"github.com/evaltest-go/evaltest/lint/internal/linttest"
)

func TestPackages(t *testing.T) {
	t.Parallel()
	linttest.Run(t, evalmain.New(evalmain.Options{}), "wrong/...", "right/...", "kit")
}

func TestAlways(t *testing.T) {
	t.Parallel()
	linttest.Run(t, evalmain.New(evalmain.Options{Always: true}), "always/...", "right/main", "right/inner", "right/outer", "right/fake")
}

func TestFixes(t *testing.T) {
	t.Parallel()
	linttest.RunFixes(t, evalmain.New(evalmain.Options{}), "fix/...")
}

// What is fixed compiles, its tests included, and is right.
func TestFixed(t *testing.T) {
	t.Parallel()
	overlay := map[string][]byte{}
	root, err := filepath.Abs("testdata/fix")
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, ".golden"); ok {
			if overlay[name], err = os.ReadFile(path); err != nil {
				return err
			}
		}
		return err
	}))
	require.GreaterOrEqual(t, len(overlay), 5)
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Tests: true, Overlay: overlay}, "./testdata/fix/...")
	require.NoError(t, err)
	for _, pkg := range pkgs {
		require.Empty(t, pkg.Errors, pkg.ID)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{evalmain.New(evalmain.Options{})}, pkgs, &checker.Options{SanityCheck: true})
	require.NoError(t, err)
	for _, act := range graph.Roots {
		for _, d := range act.Diagnostics {
			if !strings.Contains(act.Package.PkgPath, "/unsure") {
				t.Errorf("%v: %s", act.Package.Fset.Position(d.Pos), d.Message)
			}
		}
	}
}
