package livepair

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

// split reports a type whose values are criteria and only whose pointers are live ones, where it is used by value.
func (p *pack) split(t *types.Named, m names.Methods) {
	obj := t.Obj()
	value := names.MethodsOf(t)
	if !m.Live() || !value.Criterion() || value.Live() {
		return
	}
	// Without a constructor, others make it as they like: that is seen where they do, unless the two are themselves apart.
	apart := (value.LiveVerdict == nil) != (value.StopPolarities == nil)
	if !p.valued[obj] && (p.pointed[obj] || !obj.Exported() || !apart) {
		return
	}
	for _, have := range []struct{ all, value *types.Selection }{{m.LiveVerdict, value.LiveVerdict}, {m.StopPolarities, value.StopPolarities}} {
		fn, ok := have.all.Obj().(*types.Func)
		if have.value != nil || !ok || fn.Pkg() != p.pass.Pkg || len(have.all.Index()) > 1 {
			continue
		}
		p.report(fn, nil, "%s is a method of *%s, while %s itself is a criterion, so a %s is not live and cannot be armed; give all its methods one kind of receiver",
			fn.Name(), obj.Name(), obj.Name(), obj.Name())
		return
	}
}

// conversions reports where a T is made a criterion and only a *T would be a live one.
func (p *pack) conversions() {
	for _, file := range p.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				p.call(n)
			case *ast.AssignStmt:
				if len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN {
					for i, x := range n.Rhs {
						p.convert(x, p.pass.TypesInfo.TypeOf(n.Lhs[i]))
					}
				}
			case *ast.ValueSpec:
				if n.Type != nil {
					for _, x := range n.Values {
						p.convert(x, p.pass.TypesInfo.TypeOf(n.Type))
					}
				}
			case *ast.CompositeLit:
				p.literal(n)
			case *ast.FuncDecl:
				if obj, ok := p.pass.TypesInfo.Defs[n.Name].(*types.Func); ok && n.Body != nil {
					p.returns(n.Body, obj.Signature().Results())
				}
			case *ast.FuncLit:
				if sig, ok := p.pass.TypesInfo.TypeOf(n).(*types.Signature); ok {
					p.returns(n.Body, sig.Results())
				}
			}
			return true
		})
	}
}

func (p *pack) call(n *ast.CallExpr) {
	tv, ok := p.pass.TypesInfo.Types[n.Fun]
	if !ok || tv.Type == nil {
		return
	}
	if tv.IsType() {
		if len(n.Args) == 1 {
			p.convert(n.Args[0], tv.Type)
		}
		return
	}
	sig, ok := tv.Type.Underlying().(*types.Signature)
	if !ok {
		return
	}
	for i, arg := range n.Args {
		last := sig.Params().Len() - 1
		switch {
		case i < last || i == last && !sig.Variadic():
			p.convert(arg, sig.Params().At(i).Type())
		case last >= 0 && sig.Variadic() && !n.Ellipsis.IsValid():
			if s, ok := sig.Params().At(last).Type().(*types.Slice); ok {
				p.convert(arg, s.Elem())
			}
		}
	}
}

func (p *pack) literal(n *ast.CompositeLit) {
	t := p.pass.TypesInfo.TypeOf(n)
	if t == nil {
		return
	}
	for i, x := range n.Elts {
		kv, keyed := x.(*ast.KeyValueExpr)
		if keyed {
			x = kv.Value
		}
		switch u := t.Underlying().(type) {
		case *types.Slice:
			p.convert(x, u.Elem())
		case *types.Array:
			p.convert(x, u.Elem())
		case *types.Map:
			p.convert(x, u.Elem())
		case *types.Struct:
			if !keyed {
				if i < u.NumFields() {
					p.convert(x, u.Field(i).Type())
				}
			} else if id, ok := kv.Key.(*ast.Ident); ok {
				if f, ok := p.pass.TypesInfo.Uses[id].(*types.Var); ok {
					p.convert(x, f.Type())
				}
			}
		}
	}
}

func (p *pack) returns(body *ast.BlockStmt, results *types.Tuple) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == results.Len() {
				for i, x := range n.Results {
					p.convert(x, results.At(i).Type())
				}
			}
		}
		return true
	})
}

// convert looks at an expression that becomes a value of type to.
func (p *pack) convert(x ast.Expr, to types.Type) {
	from := p.pass.TypesInfo.TypeOf(x)
	if from == nil || to == nil || !types.IsInterface(to) || types.IsInterface(from) {
		return
	}
	if _, generic := types.Unalias(to).(*types.TypeParam); generic {
		return
	}
	n, ok := types.Unalias(from).(*types.Named)
	if !ok || !names.MethodsOf(to).Criterion() {
		return
	}
	value, pointer := names.MethodsOf(from), names.MethodsOf(types.NewPointer(from))
	if !value.Criterion() || value.Live() || !pointer.Live() {
		return
	}
	d := analysis.Diagnostic{Pos: x.Pos(), End: x.End(),
		Message: fmt.Sprintf("%s is not live, *%s is: nothing will be stopped by it; use a pointer", n.Obj().Name(), n.Obj().Name())}
	for _, have := range []struct{ all, value *types.Selection }{{pointer.LiveVerdict, value.LiveVerdict}, {pointer.StopPolarities, value.StopPolarities}} {
		if have.value == nil && have.all.Obj().Pkg() == p.pass.Pkg && have.all.Obj().Pos().IsValid() {
			d.Related = append(d.Related, analysis.RelatedInformation{Pos: have.all.Obj().Pos(), Message: have.all.Obj().Name() + " is a method of *" + n.Obj().Name()})
		}
	}
	if _, ok := ast.Unparen(x).(*ast.CompositeLit); ok {
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: "use a pointer", TextEdits: []analysis.TextEdit{{Pos: x.Pos(), End: x.Pos(), NewText: []byte("&")}}}}
	}
	report.Diagnostic(p.pass, d)
}
