// Package livepair reports criteria that were meant to be live and silently are not.
//
// A criterion is live when it has the methods of evaltest.LiveCriterion, exactly: StopPolarity or a LiveVerdict that takes the
// trajectory by value is a method that nobody calls. StopWhen does not take such a criterion; but Expect, Never, AllOf, AnyOf and
// AtLeast take any criterion, and judge one that is not live when the trial is over: nothing is stopped, and nobody is told.
//
// Reported are, of types that are criteria,
//
//   - StopPolarities without LiveVerdict, the reverse, and LiveBounds without both;
//   - the right name with another signature, and the right signature with nearly the right name;
//   - methods split between T and *T, so that a T is a criterion and only a *T is a live one, where a T is what is used.
//
// Bad:
//
//	func (c *NoRm) StopPolarities() evaltest.Polarity { return evaltest.Fail }
//
//	// LiveVerdict takes a *agents.Trajectory.
//	func (c *NoRm) LiveVerdict(tr agents.Trajectory) evaltest.Verdict { … }
//
// Good:
//
//	func (c *NoRm) StopPolarities() evaltest.Polarity { return evaltest.Fail }
//
//	func (c *NoRm) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { … }
//
// A type that is no criterion is left alone, and so is one that others of the package embed and complete. An assertion
//
//	var _ evaltest.LiveCriterion = (*NoRm)(nil)
//
// says the same to the compiler. Where it is certain what was meant, a fix is suggested: the missing method, the pointer, the
// name, the &.
package livepair

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "livepair"

// Options is empty: there is nothing to choose.
type Options struct{}

// New is the analyzer.
func New(Options) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name,
		Doc: "reports criteria that were meant to be live and are not\n\n" +
			"Half of the methods of a live criterion, the wrong signature, a misspelt name, or methods split between T and *T make a criterion that " +
			"silently cannot be armed.",
		URL:              names.Page(name),
		Requires:         []*analysis.Analyzer{program.Analyzer},
		RunDespiteErrors: true, // StopWhen does not compile with what is reported here
		Run:              run,
	}
}

func run(pass *analysis.Pass) (any, error) {
	if !pass.ResultOf[program.Analyzer].(*program.Program).Concerned() || pass.TypesInfo == nil {
		return nil, nil
	}
	p := &pack{pass: pass, decls: map[*types.Func]*ast.FuncDecl{}, files: map[*ast.FuncDecl]*ast.File{}, valued: map[*types.TypeName]bool{}, pointed: map[*types.TypeName]bool{}}
	p.index()
	scope := pass.Pkg.Scope()
	for _, n := range scope.Names() {
		obj, ok := scope.Lookup(n).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		if named, ok := obj.Type().(*types.Named); ok && !types.IsInterface(named) {
			p.check(named)
		}
	}
	p.conversions()
	return nil, nil
}

// pack is a package: what its types are, and how they are used.
type pack struct {
	pass  *analysis.Pass
	decls map[*types.Func]*ast.FuncDecl
	files map[*ast.FuncDecl]*ast.File

	valued  map[*types.TypeName]bool // a T is returned, or made a criterion
	pointed map[*types.TypeName]bool // a *T is returned, or made at all
}

func (p *pack) index() {
	for _, file := range p.pass.Files {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			obj, ok := p.pass.TypesInfo.Defs[decl.Name].(*types.Func)
			if !ok {
				continue
			}
			p.decls[obj], p.files[decl] = decl, file
			if obj.Signature().Recv() != nil {
				continue
			}
			for v := range obj.Signature().Results().Variables() {
				p.use(v.Type())
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n, ok := n.(*ast.UnaryExpr); ok {
				if t := p.pass.TypesInfo.TypeOf(n); t != nil {
					if _, ok := types.Unalias(t).(*types.Pointer); ok {
						p.use(t)
					}
				}
			}
			return true
		})
	}
}

func (p *pack) use(t types.Type) {
	used := p.valued
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		used, t = p.pointed, ptr.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		used[n.Origin().Obj()] = true
	}
}

// check looks at one type.
func (p *pack) check(t *types.Named) {
	m := names.MethodsOf(types.NewPointer(t))
	if m.Grade == nil || m.String == nil || p.completed(t) {
		return
	}
	own := map[string]*types.Func{}
	for fn := range t.Methods() {
		own[fn.Name()] = fn
	}
	if p.nearMisses(t, m, own) {
		return
	}
	p.half(t, m, own)
	p.split(t, m)
}

// completed reports whether a type is there to be embedded: another type of the package embeds it, and is live.
func (p *pack) completed(t *types.Named) bool {
	scope := p.pass.Pkg.Scope()
	for _, n := range scope.Names() {
		obj, ok := scope.Lookup(n).(*types.TypeName)
		if !ok || obj.IsAlias() || obj == t.Obj() {
			continue
		}
		s, ok := obj.Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for f := range s.Fields() {
			if !f.Embedded() {
				continue
			}
			typ := types.Unalias(f.Type())
			if ptr, ok := typ.(*types.Pointer); ok {
				typ = types.Unalias(ptr.Elem())
			}
			if e, ok := typ.(*types.Named); ok && e.Origin() == t && names.MethodsOf(types.NewPointer(obj.Type())).Live() {
				return true
			}
		}
	}
	return false
}

// half reports some of the methods of a live criterion without the others.
func (p *pack) half(t *types.Named, m names.Methods, own map[string]*types.Func) {
	typ := t.Obj().Name()
	switch {
	case m.StopPolarities != nil && m.LiveVerdict == nil:
		if fn := own[names.StopPolarities]; fn != nil {
			p.report(fn, p.addVerdict(t, fn), "%s has StopPolarities and no LiveVerdict, so it is not live and cannot be armed; add LiveVerdict(*agents.Trajectory) evaltest.Verdict", typ)
		}
	case m.LiveVerdict != nil && m.StopPolarities == nil:
		if fn := own[names.LiveVerdict]; fn != nil {
			p.report(fn, p.addPolarities(t, fn), "%s has LiveVerdict and no StopPolarities, so it is not live and cannot be armed; add StopPolarities() evaltest.Polarity", typ)
		}
	case m.LiveBounds != nil && m.LiveVerdict == nil:
		if fn := own[names.LiveBounds]; fn != nil {
			p.report(fn, nil, "%s has LiveBounds and neither LiveVerdict nor StopPolarities, so its bounds are never asked for; add both", typ)
		}
	}
}

func (p *pack) report(at *types.Func, fix *analysis.SuggestedFix, format string, args ...any) {
	d := analysis.Diagnostic{Pos: at.Pos(), End: at.Pos(), Message: fmt.Sprintf(format, args...)}
	if decl := p.decls[at]; decl != nil {
		d.Pos, d.End = decl.Name.Pos(), decl.Name.End()
	}
	if fix != nil {
		d.SuggestedFixes = []analysis.SuggestedFix{*fix}
	}
	report.Diagnostic(p.pass, d)
}
