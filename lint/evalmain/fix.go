package evalmain

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/imports"
	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// add is the function TestMain, before the first function of a test file that imports what it needs; nil: there is no such file.
func (p *pack) add() *analysis.SuggestedFix {
	if p.pass.Pkg.Scope().Lookup("TestMain") != nil {
		return nil
	}
	for _, file := range p.files {
		if ast.IsGenerated(file) {
			continue
		}
		eval, ok := imports.Qualifier(file, names.Evaltest)
		if !ok {
			continue
		}
		testing, ok := imports.Qualifier(file, "testing")
		if !ok {
			continue
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
				continue
			}
			pos := decl.Pos()
			if doc := docOf(decl); doc != nil {
				pos = doc.Pos()
			}
			text := "// TestMain makes the package red if nothing was measured.\n" +
				"func TestMain(m *" + testing + "M) { " + eval + "Main(m) }\n\n"
			return &analysis.SuggestedFix{Message: "add TestMain", TextEdits: []analysis.TextEdit{{Pos: pos, End: pos, NewText: []byte(text)}}}
		}
	}
	return nil
}

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return decl.Doc
	case *ast.GenDecl:
		return decl.Doc
	}
	return nil
}

// replace calls evaltest.Main in the place of os.Exit(m.Run()), or of m.Run(), at the end of TestMain; nil: there is more to it.
func (p *pack) replace(main *ast.FuncDecl) *analysis.SuggestedFix {
	file := p.fileOf(main)
	body := main.Body.List
	if file == nil || len(body) == 0 || len(main.Type.Params.List[0].Names) != 1 || ast.IsGenerated(file) {
		return nil
	}
	last, ok := body[len(body)-1].(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := last.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	run, exits := call, false
	if p.full(call) == "os.Exit" {
		exits = true
		if run, ok = call.Args[0].(*ast.CallExpr); !ok {
			return nil
		}
	}
	m, ok := p.runOf(run)
	if !ok || p.runs(main) != 1 || !exits && defers(main) {
		return nil
	}
	q, edits, ok := imports.Add(p.pass, file, names.Evaltest)
	if !ok {
		return nil
	}
	if exits && p.lastUse(file, call) {
		edit, ok := imports.Remove(p.pass.Fset, file, "os")
		if !ok || slices.ContainsFunc(edits, func(e analysis.TextEdit) bool { return edit.Pos <= e.Pos && e.Pos <= edit.End }) {
			return nil
		}
		edits = append(edits, edit)
	}
	edits = append(edits, analysis.TextEdit{Pos: last.Pos(), End: last.End(), NewText: []byte(q[0] + "Main(" + m + ")")})
	return &analysis.SuggestedFix{Message: "call evaltest.Main", TextEdits: edits}
}

func (p *pack) fileOf(n ast.Node) *ast.File {
	for _, file := range p.files {
		if file.FileStart <= n.Pos() && n.Pos() < file.FileEnd {
			return file
		}
	}
	return nil
}

// full is the full name of the function that is called.
func (p *pack) full(call *ast.CallExpr) string {
	id, ok := calleeOf(call.Fun).(*ast.Ident)
	if !ok {
		return ""
	}
	fn, ok := p.pass.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return ""
	}
	return names.Full(fn)
}

// runOf is the m of m.Run().
func (p *pack) runOf(call *ast.CallExpr) (string, bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || p.full(call) != "(*testing.M).Run" {
		return "", false
	}
	m, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return m.Name, true
}

// runs is how often a function calls m.Run.
func (p *pack) runs(fn *ast.FuncDecl) (n int) {
	ast.Inspect(fn, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && p.full(call) == "(*testing.M).Run" {
			n++
		}
		return true
	})
	return n
}

func defers(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		_, ok := n.(*ast.DeferStmt)
		found = found || ok
		return true
	})
	return found
}

// lastUse reports whether a call of os.Exit is all that a file needs package os for.
func (p *pack) lastUse(file *ast.File, exit *ast.CallExpr) bool {
	only := true
	ast.Inspect(file, func(n ast.Node) bool {
		if n == exit.Fun {
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			if pkg, ok := p.pass.TypesInfo.Uses[id].(*types.PkgName); ok && pkg.Imported().Path() == "os" {
				only = false
			}
		}
		return true
	})
	return only
}
