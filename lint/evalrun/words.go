package evalrun

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
)

// callee is the name of the function that a call calls.
func (p *pack) callee(call ssa.CallInstruction) string {
	if x := p.prog.Expr(call); x != nil {
		if fun := types.ExprString(x.Fun); len(fun) < 60 {
			return fun
		}
	}
	return "the call"
}

// words is a deed as a message names it, with the test or eval that it is done to: t.Fatal, require.NoError(t, …), evaltest.New(t).
func (p *pack) words(d deed) string {
	fun, x := p.callee(d.call), p.prog.Expr(d.call)
	if x == nil || d.self {
		return fun
	}
	for i, a := range x.Args {
		if !p.is(a, d.arg) {
			continue
		}
		text := types.ExprString(a)
		if len(text) > 30 {
			text = "…"
		}
		if i > 0 {
			text = "…, " + text
		}
		if i < len(x.Args)-1 {
			text += ", …"
		}
		return fun + "(" + text + ")"
	}
	return fun
}

// nameOf is the name of a parameter; empty: it has none.
func nameOf(v *ssa.Parameter) string {
	if obj, ok := v.Object().(*types.Var); ok && obj != nil && obj.Name() != "_" {
		return obj.Name()
	}
	return ""
}

// is reports whether an argument is written that becomes v.
func (p *pack) is(x ast.Expr, v ssa.Value) bool {
	t := p.pass.TypesInfo.TypeOf(x)
	if t == nil || !canFail(t) {
		return false
	}
	on := evals.Origin(v)
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if param, ok := on.(*ssa.Parameter); ok {
			return p.pass.TypesInfo.ObjectOf(id) == param.Object()
		}
	}
	return true
}

// rename has a call use the parameter of the function literal instead of the test that it uses, where the parameter has a name that
// means the same there, and can take its place.
func (p *pack) rename(lit *ssa.Function, d deed) []analysis.SuggestedFix {
	x := p.prog.Expr(d.call)
	if x == nil {
		return nil
	}
	var to *ssa.Parameter
	for _, v := range lit.Params {
		if canFail(v.Type()) && nameOf(v) != "" {
			to = v
		}
	}
	if to == nil {
		return nil
	}
	use, ok := p.use(x, d, to.Type())
	if !ok || use.Name == nameOf(to) {
		return nil
	}
	if scope := p.pass.Pkg.Scope().Innermost(use.Pos()); scope == nil {
		return nil
	} else if _, obj := scope.LookupParent(nameOf(to), use.Pos()); obj != to.Object() {
		return nil // something else has its name
	}
	return []analysis.SuggestedFix{{
		Message:   "use " + nameOf(to),
		TextEdits: []analysis.TextEdit{{Pos: use.Pos(), End: use.End(), NewText: []byte(nameOf(to))}},
	}}
}

// use is the name of the test in a call, where a value of type t can take its place.
func (p *pack) use(x *ast.CallExpr, d deed, t types.Type) (*ast.Ident, bool) {
	if d.self {
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil, false
		}
		method, _, _ := types.LookupFieldOrMethod(t, false, nil, sel.Sel.Name)
		id, ok := ast.Unparen(sel.X).(*ast.Ident)
		return id, ok && method != nil
	}
	sig, ok := p.pass.TypesInfo.TypeOf(x.Fun).Underlying().(*types.Signature)
	if !ok {
		return nil, false
	}
	for i, a := range x.Args {
		if p.is(a, d.arg) {
			id, ok := ast.Unparen(a).(*ast.Ident)
			return id, ok && i < sig.Params().Len() && types.AssignableTo(t, sig.Params().At(i).Type())
		}
	}
	return nil, false
}
