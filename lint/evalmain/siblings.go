package evalmain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// sibling is what the other test package of a folder does: package foo_test for package foo, and the reverse. Both are one test
// binary, with one TestMain, and are analysed apart, in any order, so that nothing but syntax is known of it.
type sibling struct {
	testMain  bool
	concerned bool // it imports evaltest
	evals     bool // it calls evaltest.New
	skips     bool // it has errors skip evals
	external  bool
}

// siblings looks at the test files of a folder that are not part of the package. A TestMain in one that is built elsewhere, or not at
// all, counts: it may be there for a reason.
func siblings(pass *analysis.Pass) *sibling {
	s := new(sibling)
	seen := map[string]bool{}
	var dir string
	for _, file := range pass.Files {
		if isTest(pass, file) {
			name := position(pass, file.FileStart).Filename
			dir = filepath.Dir(name)
			seen[filepath.Base(name)] = true
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.testMain = true // nobody knows
		return s
	}
	for _, e := range entries {
		if e.IsDir() || seen[e.Name()] || !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		full := filepath.Join(dir, e.Name())
		ignored := slices.ContainsFunc(pass.IgnoredFiles, func(name string) bool { return filepath.Base(name) == e.Name() })
		file, err := parser.ParseFile(token.NewFileSet(), full, nil, parser.SkipObjectResolution)
		if err != nil {
			s.testMain = true
			continue
		}
		s.look(file, !ignored && file.Name.Name != pass.Pkg.Name() && !strings.HasPrefix(e.Name(), "_") && !strings.HasPrefix(e.Name(), "."))
	}
	return s
}

// look notes what a file does, if it is built.
func (s *sibling) look(file *ast.File, built bool) {
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && isTestMain(fn) {
			s.testMain = true
		}
	}
	if !built {
		return
	}
	s.external = s.external || strings.HasSuffix(file.Name.Name, "_test")
	pkg := ""
	for _, imp := range file.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		if path == names.Evaltest {
			pkg = "evaltest"
			if imp.Name != nil {
				pkg = imp.Name.Name
			}
		}
		s.concerned = s.concerned || strings.HasPrefix(path, names.Module)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun := call.Fun
		sel, selected := fun.(*ast.SelectorExpr)
		var fn string
		switch {
		case selected:
			fn = sel.Sel.Name
		default:
			if id, ok := fun.(*ast.Ident); ok {
				fn = id.Name
			}
		}
		if fn == "Setenv" && text(call, 0) == "EVALTEST_ON_ERROR" && text(call, 1) == "skip" {
			s.skips = true
		}
		if pkg == "" || selected != (pkg != ".") {
			return true
		}
		if id, ok := qualifierOf(sel); selected && (!ok || id != pkg) {
			return true
		}
		switch fn {
		case "New":
			s.evals = true
		case "OnError":
			s.skips = s.skips || text(call, 0) == "skip"
		}
		return true
	})
}

func qualifierOf(sel *ast.SelectorExpr) (string, bool) {
	if sel == nil {
		return "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

func text(call *ast.CallExpr, i int) string {
	if i >= len(call.Args) {
		return ""
	}
	lit, ok := call.Args[i].(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// reports reports whether the other package is where the missing TestMain is reported: once for both, in the package itself.
func (s *sibling) reports(opts Options) bool {
	return !s.external && s.evals && (s.skips || opts.Always)
}
