package evalmain

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strconv"

	"golang.org/x/tools/go/analysis"

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
		eval, ok := qualifier(file, names.Evaltest)
		if !ok {
			continue
		}
		testing, ok := qualifier(file, "testing")
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
	var edits []analysis.TextEdit
	eval, ok := qualifier(file, names.Evaltest)
	if !ok {
		if eval, edits, ok = p.imports(file, exits && p.lastUse(file, call)); !ok {
			return nil
		}
	} else if exits && p.lastUse(file, call) {
		edit, ok := without(p.pass.Fset, file, "os")
		if !ok {
			return nil
		}
		edits = append(edits, edit)
	}
	edits = append(edits, analysis.TextEdit{Pos: last.Pos(), End: last.End(), NewText: []byte(eval + "Main(" + m + ")")})
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

// qualifier is what stands before the names of a package that a file imports.
func qualifier(file *ast.File, pkg string) (string, bool) {
	for _, imp := range file.Imports {
		if have, err := strconv.Unquote(imp.Path.Value); err != nil || have != pkg {
			continue
		}
		switch {
		case imp.Name == nil:
			return path.Base(pkg) + ".", true
		case imp.Name.Name == ".":
			return "", true
		case imp.Name.Name != "_":
			return imp.Name.Name + ".", true
		}
	}
	return "", false
}

// imports imports evaltest in a file, and takes out os where nothing needs it any more.
func (p *pack) imports(file *ast.File, dropOS bool) (string, []analysis.TextEdit, bool) {
	if p.pass.Pkg.Scope().Lookup("evaltest") != nil {
		return "", nil, false
	}
	var last *ast.GenDecl
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT && len(gen.Specs) > 0 {
			last = gen
		}
	}
	for _, imp := range file.Imports {
		have, _ := strconv.Unquote(imp.Path.Value)
		if imp.Name == nil && path.Base(have) == "evaltest" || imp.Name != nil && imp.Name.Name == "evaltest" {
			return "", nil, false
		}
	}
	if last == nil {
		return "", nil, false
	}
	end := last.Specs[len(last.Specs)-1].End()
	text := "\n\n\t" + strconv.Quote(names.Evaltest)
	if !last.Lparen.IsValid() {
		end, text = last.End(), "\nimport "+strconv.Quote(names.Evaltest)
	}
	edits := []analysis.TextEdit{{Pos: end, End: end, NewText: []byte(text)}}
	if dropOS {
		edit, ok := without(p.pass.Fset, file, "os")
		if !ok || edit.End >= end && edit.Pos <= end {
			return "", nil, false
		}
		edits = append(edits, edit)
	}
	return "evaltest.", edits, true
}

// without takes an import out of a file; ok: it can be done.
func without(fset *token.FileSet, file *ast.File, pkg string) (analysis.TextEdit, bool) {
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT {
			continue
		}
		for _, spec := range gen.Specs {
			imp := spec.(*ast.ImportSpec)
			if have, _ := strconv.Unquote(imp.Path.Value); have != pkg || imp.Doc != nil || imp.Comment != nil {
				continue
			}
			var node ast.Node = imp
			if len(gen.Specs) == 1 {
				if gen.Doc != nil {
					return analysis.TextEdit{}, false
				}
				node = gen
			}
			lines := fset.File(node.Pos())
			from := lines.LineStart(lines.PositionFor(node.Pos(), false).Line)
			end := lines.PositionFor(node.End(), false).Line
			if end >= lines.LineCount() {
				return analysis.TextEdit{}, false
			}
			return analysis.TextEdit{Pos: from, End: lines.LineStart(end + 1)}, true
		}
	}
	return analysis.TextEdit{}, false
}
