package criteriatest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"runtime"
	"slices"
	"strings"
)

// callSite is where a check was asked for.
type callSite struct {
	pkg  string // path of the package
	expr string // what was passed as the criterion, if it means the same elsewhere in the package; else ""
}

const self = "github.com/evaltest-go/evaltest/evaltest/criteriatest."

// callOf is the call of Check or CheckFunc, or of Run or RunFunc, that is under way.
func callOf(name string) callSite {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !more {
			return callSite{}
		}
		if called, ok := strings.CutPrefix(f.Function, self); ok && (called == name || called == name+"Func") {
			caller, _ := frames.Next()
			return siteOf(caller, called)
		}
	}
}

func siteOf(f runtime.Frame, called string) callSite {
	var site callSite
	slash := strings.LastIndexByte(f.Function, '/') + 1
	if dot := strings.IndexByte(f.Function[slash:], '.'); dot >= 0 {
		site.pkg = f.Function[:slash+dot]
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.File, nil, parser.SkipObjectResolution)
	if err != nil {
		return site
	}
	arg := 0
	if strings.HasPrefix(called, "Run") {
		arg = 1
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fset.Position(fn.Pos()).Line > f.Line || fset.Position(fn.End()).Line < f.Line {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) <= arg || calledName(call) != called || fset.Position(call.Pos()).Line > f.Line || fset.Position(call.End()).Line < f.Line {
				return true
			}
			var b bytes.Buffer
			if usesAny(call.Args[arg], namesIn(fn, call.Args[arg])) || printer.Fprint(&b, fset, call.Args[arg]) != nil {
				return true
			}
			site.expr = b.String()
			if strings.HasSuffix(called, "Func") {
				site.expr = "(" + site.expr + ")()"
				if _, plain := call.Args[arg].(*ast.Ident); plain {
					site.expr = b.String() + "()"
				}
			}
			return true
		})
	}
	return site
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// namesIn is the names that fn declares outside of except.
func namesIn(fn *ast.FuncDecl, except ast.Node) []string {
	var names []string
	add := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				names = append(names, id.Name)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names = append(names, id.Name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key)
				if n.Value != nil {
					add(n.Value)
				}
			}
		case *ast.TypeSpec:
			names = append(names, n.Name.Name)
		}
		return n != except
	})
	return names
}

// usesAny reports whether e uses one of the names, other than as a field or a method.
func usesAny(e ast.Expr, names []string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || usesAny(n.X, names)
			return false
		case *ast.KeyValueExpr:
			found = found || usesAny(n.Value, names)
			return false
		case *ast.Ident:
			found = found || slices.Contains(names, n.Name)
		}
		return true
	})
	return found
}
