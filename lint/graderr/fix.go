package graderr

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/imports"
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
	missingFile := "io/fs"
	if _, ok := imports.Qualifier(file, "io/fs"); !ok {
		if _, ok := imports.Qualifier(file, "os"); ok {
			missingFile = "os" // it has ErrNotExist, too
		}
	}
	var cond string
	var edits []analysis.TextEdit
	switch f.kind {
	case missing:
		q, more, ok := imports.Add(g.pass, file, "errors", missingFile)
		if !ok {
			return nil
		}
		edits = more
		cond = "!" + q[0] + "Is(" + err + ", " + q[1] + "ErrNotExist)"
	case exits:
		q, more, ok := imports.Add(g.pass, file, "errors", "os/exec")
		if !ok || g.taken(ret, "exited") {
			return nil
		}
		edits = more
		cond = "_, exited := " + q[0] + "AsType[*" + q[1] + "ExitError](" + err + "); !exited"
	default:
		return nil
	}
	text := "if " + cond + " {\n" + returned + "\n}\n"
	edits = append(edits, analysis.TextEdit{Pos: ret.Pos(), End: ret.Pos(), NewText: []byte(text)})
	return &analysis.SuggestedFix{Message: "return other errors", TextEdits: edits}
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
