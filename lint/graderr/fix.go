package graderr

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/ssa"
)

// fix returns the error instead of the score, or before it what is no verdict; nil: it is not certain how.
func (g *grader) fix(f finding) *analysis.SuggestedFix {
	if g.err == noError {
		return nil
	}
	i := slices.IndexFunc(g.pass.Files, func(file *ast.File) bool { return file.FileStart <= f.at && f.at < file.FileEnd })
	if i < 0 {
		return nil
	}
	file := g.pass.Files[i]
	path, _ := astutil.PathEnclosingInterval(file, f.at, f.at)
	ret, ok := path[0].(*ast.ReturnStmt)
	if !ok {
		return nil
	}
	err := g.variable(path, f.test)
	score := scoreType(path)
	if err == "" || score == "" {
		return nil
	}
	returned := "return " + score + "{}, " + err
	if f.kind == never {
		return &analysis.SuggestedFix{Message: "return the error", TextEdits: []analysis.TextEdit{{Pos: ret.Pos(), End: ret.End(), NewText: []byte(returned)}}}
	}
	var cond string
	var edits []analysis.TextEdit
	errors, edits, ok := g.qualifier(file, "errors", edits)
	if !ok {
		return nil
	}
	switch f.kind {
	case missing:
		q, more, ok := g.missingFile(file, edits)
		if !ok {
			return nil
		}
		edits = more
		cond = "!" + errors + "Is(" + err + ", " + q + "ErrNotExist)"
	case exits:
		q, more, ok := g.qualifier(file, "os/exec", edits)
		if !ok || g.taken(ret, "exited") {
			return nil
		}
		edits = more
		cond = "_, exited := " + errors + "AsType[*" + q + "ExitError](" + err + "); !exited"
	default:
		return nil
	}
	text := "if " + cond + " {\n" + returned + "\n}\n"
	edits = append(edits, analysis.TextEdit{Pos: ret.Pos(), End: ret.Pos(), NewText: []byte(text)})
	return &analysis.SuggestedFix{Message: "return other errors", TextEdits: edits}
}

// missingFile is what stands before ErrNotExist in a file.
func (g *grader) missingFile(file *ast.File, edits []analysis.TextEdit) (string, []analysis.TextEdit, bool) {
	for _, pkg := range []string{"io/fs", "os"} {
		if q, ok := imported(file, pkg); ok {
			return q, edits, true
		}
	}
	return g.qualifier(file, "io/fs", edits)
}

// variable is the variable that holds the error in the innermost if or case around the return; "": there is none.
func (g *grader) variable(path []ast.Node, t *test) string {
	for _, n := range path {
		var conds []ast.Expr
		switch n := n.(type) {
		case *ast.IfStmt:
			conds = []ast.Expr{n.Cond}
		case *ast.CaseClause:
			conds = n.List
		case *ast.FuncLit, *ast.FuncDecl:
			return ""
		}
		for _, cond := range conds {
			if cond.Pos() <= t.pos && t.pos < cond.End() {
				return g.errorIn(cond, t)
			}
		}
	}
	return ""
}

// errorIn is the error that a condition is about, as it is written.
func (g *grader) errorIn(cond ast.Expr, t *test) (text string) {
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if obj, ok := g.pass.TypesInfo.Uses[n].(*types.Var); ok && isError(obj.Type()) && text == "" && obj.Parent() != g.pass.Pkg.Scope() && obj.Pkg() == g.pass.Pkg {
				text = n.Name
			}
		case *ast.CallExpr:
			call, ok := t.err.(*ssa.Call)
			if ok && text == "" && n.Rparen.IsValid() && call.Pos() == n.Lparen && len(n.Args) == 0 { // ctx.Err() != nil
				text = types.ExprString(n)
				return false
			}
		}
		return true
	})
	return text
}

// scoreType is how the function around a return calls the type of its score.
func scoreType(path []ast.Node) string {
	for _, n := range path {
		var typ *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			typ = n.Type
		case *ast.FuncLit:
			typ = n.Type
		}
		if typ != nil && typ.Results != nil {
			return types.ExprString(typ.Results.List[0].Type)
		}
	}
	return ""
}

// taken reports whether a name means something at a place.
func (g *grader) taken(at ast.Node, name string) bool {
	scope := g.pass.Pkg.Scope().Innermost(at.Pos())
	if scope == nil {
		return true
	}
	_, obj := scope.LookupParent(name, at.Pos())
	return obj != nil
}

// imported is what stands before the names of a package that a file imports.
func imported(file *ast.File, pkg string) (string, bool) {
	for _, imp := range file.Imports {
		if have, err := strconv.Unquote(imp.Path.Value); err != nil || have != pkg {
			continue
		}
		switch {
		case imp.Name == nil:
			return base(pkg) + ".", true
		case imp.Name.Name == ".":
			return "", true
		case imp.Name.Name != "_":
			return imp.Name.Name + ".", true
		}
	}
	return "", false
}

func base(pkg string) string {
	for i := len(pkg) - 1; i >= 0; i-- {
		if pkg[i] == '/' {
			return pkg[i+1:]
		}
	}
	return pkg
}

// qualifier is what stands before the names of a package of the standard library in a file, with the edits that import it there if
// they are needed.
func (g *grader) qualifier(file *ast.File, pkg string, edits []analysis.TextEdit) (string, []analysis.TextEdit, bool) {
	if q, ok := imported(file, pkg); ok {
		return q, edits, true
	}
	name := base(pkg)
	if g.pass.Pkg.Scope().Lookup(name) != nil {
		return "", nil, false
	}
	for _, imp := range file.Imports {
		have, _ := strconv.Unquote(imp.Path.Value)
		if imp.Name == nil && base(have) == name || imp.Name != nil && imp.Name.Name == name {
			return "", nil, false
		}
	}
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.IMPORT || len(decl.Specs) == 0 {
			continue
		}
		if !decl.Lparen.IsValid() {
			text := "import " + strconv.Quote(pkg) + "\n"
			return name + ".", append(edits, analysis.TextEdit{Pos: decl.Pos(), End: decl.Pos(), NewText: []byte(text)}), true
		}
		// Before the first path that is greater: those of the standard library come first, in order.
		first := decl.Specs[0].(*ast.ImportSpec)
		for _, spec := range decl.Specs {
			spec := spec.(*ast.ImportSpec)
			if path, _ := strconv.Unquote(spec.Path.Value); path > pkg {
				return name + ".", append(edits, analysis.TextEdit{Pos: spec.Pos(), End: spec.Pos(), NewText: []byte(strconv.Quote(pkg) + "\n\t")}), true
			}
		}
		return name + ".", append(edits, analysis.TextEdit{Pos: first.Pos(), End: first.Pos(), NewText: []byte(strconv.Quote(pkg) + "\n\t")}), true
	}
	return "", nil, false
}
