// Package linttest runs analyzers over testdata that imports the real library: folders testdata/NAME of the analyzer, which
// belong to the module of the project.
//
//	linttest.Run(t, livepure.New(livepure.Options{}), "wrong", "helpers")
package linttest

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "write golden files")

// Run checks that the analyzer finds in these folders what their comments of the form
//
//	// want `a regular expression`
//
// say, and nothing else. Facts are checked where a comment wants one: // want Name:`…`.
func Run(t *testing.T, a *analysis.Analyzer, folders ...string) []*analysistest.Result {
	t.Helper()
	dir, patterns := where(t, folders)
	return analysistest.Run(quiet{t}, dir, a, patterns...)
}

// RunFixes is Run, and holds what the suggested fixes make of each file against file.go.golden, which has to compile, and to
// leave nothing that could be fixed.
func RunFixes(t *testing.T, a *analysis.Analyzer, folders ...string) {
	t.Helper()
	dir, patterns := where(t, folders)
	if *update {
		for _, r := range analysistest.Run(quiet{t}, dir, a, patterns...) {
			write(t, r)
		}
	}
	golden := map[string][]byte{}
	for _, r := range analysistest.RunWithSuggestedFixes(quiet{t}, dir, a, patterns...) {
		for name := range fixes(r) {
			text, err := os.ReadFile(name + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			golden[name] = text
		}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Overlay: golden}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range pkgs {
		for _, err := range pkg.Errors {
			t.Errorf("what is fixed does not compile: %v", err)
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{a}, pkgs, &checker.Options{SanityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range graph.Roots {
		for _, d := range act.Diagnostics {
			if len(d.SuggestedFixes) > 0 {
				t.Errorf("%v: what is fixed has to be fixed again: %s", act.Package.Fset.Position(d.Pos), d.Message)
			}
		}
	}
}

// fixes is the edits of all suggested fixes, by file.
func fixes(r *analysistest.Result) map[string][]analysis.TextEdit {
	edits := map[string][]analysis.TextEdit{}
	for _, d := range r.Diagnostics {
		for _, fix := range d.SuggestedFixes {
			for _, e := range fix.TextEdits {
				name := r.Pass.Fset.File(e.Pos).Name()
				edits[name] = append(edits[name], e)
			}
		}
	}
	return edits
}

// write writes golden files.
func write(t *testing.T, r *analysistest.Result) {
	for name, edits := range fixes(r) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := r.Pass.Fset.File(edits[0].Pos)
		slices.SortStableFunc(edits, func(a, b analysis.TextEdit) int { return int(b.Pos - a.Pos) }) // from the end
		for _, e := range edits {
			end := e.End
			if !end.IsValid() {
				end = e.Pos
			}
			text = slices.Concat(text[:file.Offset(e.Pos)], e.NewText, text[file.Offset(end):])
		}
		if text, err = format.Source(text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+".golden", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// where is the root of the module, and the folders seen from there.
func where(t *testing.T, folders []string) (root string, patterns []string) {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for root = wd; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatalf("there is no go.mod above %s", wd)
		}
	}
	rel, err := filepath.Rel(root, wd)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		patterns = append(patterns, "./"+path.Join(filepath.ToSlash(rel), "testdata", f))
	}
	return root, patterns
}

// quiet leaves out what is said of facts that no comment mentions: there is one for nearly every function that is wrong.
type quiet struct{ t *testing.T }

func (q quiet) Errorf(format string, args ...any) {
	q.t.Helper()
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, ": unexpected fact: ") {
		q.t.Error(text)
	}
}
