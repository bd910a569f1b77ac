package criteriatest_test

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/evaltest-go/evaltest/lint"
)

// analyzers are all of the project's, by name.
func analyzers() []*analysis.Analyzer {
	return slices.SortedFunc(slices.Values(lint.Analyzers(lint.Settings{})), func(a, b *analysis.Analyzer) int { return strings.Compare(a.Name, b.Name) })
}

// findings is what the analyzers find in packages, by the name of the type that it is said of, package.Type: each analyzer once.
func findings(t *testing.T, patterns ...string) map[string][]string {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule}, patterns...)
	require.NoError(t, err)
	require.Len(t, pkgs, len(patterns))
	for _, p := range pkgs {
		require.Empty(t, p.Errors)
	}
	graph, err := checker.Analyze(analyzers(), pkgs, nil)
	require.NoError(t, err)
	found := map[string][]string{}
	for _, a := range analyzers() {
		said := map[string]bool{}
		for _, act := range graph.Roots {
			require.NoError(t, act.Err)
			if act.Analyzer.Name != a.Name {
				continue
			}
			for _, d := range act.Diagnostics {
				about := subjects(act.Package, d)
				require.NotEmpty(t, about, "%v: %s", act.Package.Fset.Position(d.Pos), d.Message)
				for _, name := range about {
					name = act.Package.Name + "." + name
					if !said[name] {
						said[name] = true
						found[name] = append(found[name], a.Name)
					}
				}
			}
		}
	}
	return found
}

// subjects are the types that a finding is about: the one whose declaration, or method, it stands in; in a function, those that the
// function makes.
func subjects(p *packages.Package, d analysis.Diagnostic) []string {
	for _, file := range p.Syntax {
		for _, decl := range file.Decls {
			if d.Pos < decl.Pos() || decl.End() <= d.Pos {
				continue
			}
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, s := range decl.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Pos() <= d.Pos && d.Pos < s.End() {
						return []string{s.Name.Name}
					}
				}
				var innermost ast.Node = decl
				ast.Inspect(decl, func(n ast.Node) bool {
					if f, ok := n.(*ast.FuncLit); ok && f.Pos() <= d.Pos && d.Pos < f.End() {
						innermost = f
					}
					return true
				})
				return made(p, innermost)
			case *ast.FuncDecl:
				if decl.Recv != nil {
					return []string{receiver(decl)}
				}
				return made(p, decl)
			}
		}
	}
	return nil
}

func receiver(f *ast.FuncDecl) string {
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

// made are the types of the package of which there are composite literals below n.
func made(p *packages.Package, n ast.Node) []string {
	var names []string
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			if named, ok := types.Unalias(p.TypesInfo.TypeOf(lit)).(*types.Named); ok && named.Obj().Pkg() == p.Types && named.Obj().Name() != "Case" {
				names = append(names, named.Obj().Name())
			}
		}
		return true
	})
	return names
}

// typeName is the name of the type of a criterion, package.Type.
func typeName(c any) string {
	t := reflect.TypeOf(c)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.String()
}
