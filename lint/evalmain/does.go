package evalmain

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// trait is what a function does, itself or through others, or what is in a variable.
type trait uint8

const (
	makesEval   trait = 1 << iota // calls evaltest.New, on a test of this run
	skipsErrors                   // has errors skip evals
	callsMain                     // calls evaltest.Main
	runsTests                     // calls (*testing.M).Run
	unknown                       // gives the *testing.M to someone of whom nothing is known
)

// Does is the fact of a function, or a variable, that does one of these things.
type Does struct {
	Evals, Skips, Main, Runs, Unknown bool
}

// AFact makes it a fact.
func (*Does) AFact() {}

func (d *Does) String() string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{{d.Evals, "makes evals"}, {d.Skips, "skips on errors"}, {d.Main, "calls evaltest.Main"}, {d.Runs, "runs tests"}, {d.Unknown, "gives m away"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

func (d *Does) traits() (t trait) {
	for i, is := range []bool{d.Evals, d.Skips, d.Main, d.Runs, d.Unknown} {
		if is {
			t |= 1 << i
		}
	}
	return t
}

func factOf(t trait) *Does {
	return &Does{Evals: t&makesEval != 0, Skips: t&skipsErrors != 0, Main: t&callsMain != 0, Runs: t&runsTests != 0, Unknown: t&unknown != 0}
}

// A use is a place in the package that does something.
type use struct {
	at    ast.Node
	in    types.Object // the declaration that it is in
	does  trait
	other types.Object // what does it there, of this package; nil: it is known what it does
	mask  trait        // what of it counts here
	asked bool         // it is given the test of whoever calls, which may be a fake
}

func (u *use) words() string {
	if u.does&skipsErrors != 0 {
		return "errors skip them since this is here"
	}
	return "an eval is here"
}

// pack is a package.
type pack struct {
	pass  *analysis.Pass
	files []*ast.File // tests
	does  map[types.Object]trait
	uses  []*use
}

func newPack(pass *analysis.Pass) *pack {
	p := &pack{pass: pass, does: map[types.Object]trait{}}
	for _, file := range pass.Files {
		if isTest(pass, file) {
			p.files = append(p.files, file)
		}
		for _, decl := range file.Decls {
			p.declaration(decl)
		}
	}
	for changed := true; changed; { // functions that call each other
		changed = false
		for _, u := range p.uses {
			if u.other != nil {
				u.does |= p.does[u.other] & u.mask
			}
			if u.in != nil && p.does[u.in]|u.does != p.does[u.in] {
				p.does[u.in] |= u.does
				changed = true
			}
		}
	}
	return p
}

func isTest(pass *analysis.Pass, file *ast.File) bool {
	return strings.HasSuffix(position(pass, file.FileStart).Filename, "_test.go")
}

// tests reports whether the package has tests.
func (p *pack) tests() bool { return len(p.files) > 0 }

// external reports whether it is an external test package.
func (p *pack) external() bool { return strings.HasSuffix(p.pass.Pkg.Name(), "_test") }

// export tells packages that import this one.
func (p *pack) export() {
	for obj, does := range p.does {
		if does != 0 && obj.Pkg() == p.pass.Pkg && (obj.Parent() == p.pass.Pkg.Scope() || isMethod(obj)) {
			p.pass.ExportObjectFact(obj, factOf(does))
		}
	}
}

func isMethod(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}

func (p *pack) declaration(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Body != nil {
			p.look(decl.Body, p.pass.TypesInfo.Defs[decl.Name])
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			spec, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, value := range spec.Values {
				name := spec.Names[min(i, len(spec.Names)-1)]
				p.look(value, p.pass.TypesInfo.Defs[name])
			}
		}
	}
}

// look notes what is done in a declaration.
func (p *pack) look(node ast.Node, in types.Object) {
	called := map[ast.Expr]bool{}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[calleeOf(n.Fun)] = true
			p.call(n, in)
		case *ast.Ident:
			if obj := p.pass.TypesInfo.Uses[n]; obj != nil && !called[n] {
				p.mention(n, obj, in)
			}
		}
		return true
	})
}

// calleeOf is the name in what is called.
func calleeOf(fun ast.Expr) ast.Expr {
	for {
		switch f := fun.(type) {
		case *ast.ParenExpr:
			fun = f.X
		case *ast.SelectorExpr:
			return f.Sel
		case *ast.IndexExpr:
			fun = f.X
		case *ast.IndexListExpr:
			fun = f.X
		default:
			return fun
		}
	}
}

// mention notes a function that is not called but given to someone, or a variable.
func (p *pack) mention(n ast.Node, obj types.Object, in types.Object) {
	if fn, ok := obj.(*types.Func); ok {
		obj = fn.Origin()
		switch names.Full(fn) {
		case "(*testing.M).Run":
			p.note(n, in, runsTests)
			return
		case names.Evaltest + ".Main":
			p.note(n, in, callsMain)
			return
		}
	}
	p.follow(n, obj, in, real)
}

func (p *pack) note(at ast.Node, in types.Object, does trait) {
	p.uses = append(p.uses, &use{at: at, in: in, does: does})
}

// follow notes what a function, or a variable, of this package or another does.
func (p *pack) follow(at ast.Node, obj, in types.Object, on test) {
	mask := ^trait(0)
	if on == fake {
		mask = ^makesEval
	}
	switch obj.(type) {
	case *types.Func, *types.Var:
	default:
		return
	}
	switch {
	case obj.Pkg() == nil || obj == in:
	case obj.Pkg() == p.pass.Pkg:
		if obj.Parent() == p.pass.Pkg.Scope() || isMethod(obj) {
			p.uses = append(p.uses, &use{at: at, in: in, other: obj, mask: mask, asked: on == given})
		}
	default:
		var does Does
		if p.pass.ImportObjectFact(obj, &does) {
			p.uses = append(p.uses, &use{at: at, in: in, does: does.traits() & mask, asked: on == given})
		}
	}
}

// call notes what a call does.
func (p *pack) call(call *ast.CallExpr, in types.Object) {
	ident, ok := calleeOf(call.Fun).(*ast.Ident)
	if !ok {
		p.gives(call, in)
		return
	}
	fn, ok := p.pass.TypesInfo.Uses[ident].(*types.Func)
	if !ok {
		if _, builtin := p.pass.TypesInfo.Uses[ident].(*types.Builtin); !builtin {
			p.gives(call, in)
		}
		if v, ok := p.pass.TypesInfo.Uses[ident].(*types.Var); ok {
			p.follow(call, v, in, p.testOf(call))
		}
		return
	}
	fn = fn.Origin()
	switch full := names.Full(fn); full {
	case names.Evaltest + ".New":
		if on := p.testOf(call); on != fake {
			p.uses = append(p.uses, &use{at: call, in: in, does: makesEval, asked: on == given})
		}
	case names.Evaltest + ".Main":
		p.note(call, in, callsMain)
	case "(*testing.M).Run":
		p.note(call, in, runsTests)
	case names.Evaltest + ".OnError":
		if p.text(call, 0) == "skip" {
			p.note(call, in, skipsErrors)
		}
	case "os.Setenv", "(*testing.common).Setenv", "(*testing.T).Setenv", "(*testing.B).Setenv", "(*testing.F).Setenv", "(testing.TB).Setenv":
		if p.text(call, 0) == "EVALTEST_ON_ERROR" && p.text(call, 1) == "skip" {
			p.note(call, in, skipsErrors)
		}
	default:
		if fn.Pkg() != p.pass.Pkg && !p.pass.ImportObjectFact(fn, new(Does)) || isInterface(fn) {
			p.gives(call, in)
		}
		p.follow(call, fn, in, p.testOf(call))
	}
}

func isInterface(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// gives notes a call of which nothing is known and that is given the *testing.M.
func (p *pack) gives(call *ast.CallExpr, in types.Object) {
	for _, arg := range call.Args {
		if t := p.pass.TypesInfo.TypeOf(arg); t != nil && names.IsPointer(t, "testing", "M") {
			p.note(call, in, unknown)
		}
	}
}

// test is on what a call makes evals.
type test int

const (
	real  test = iota // a test of this run, or none that is seen
	given             // a testing.TB, which may be either
	fake              // another type that implements testing.TB
)

// testOf is the test that a call is given.
func (p *pack) testOf(call *ast.CallExpr) test {
	t := p.pass.TypesInfo.TypeOf(call.Fun)
	if t == nil {
		return real
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok {
		return real
	}
	takes := false
	for v := range sig.Params().Variables() {
		takes = takes || names.Is(v.Type(), "testing", "TB")
	}
	if !takes {
		return real
	}
	on := fake
	for _, arg := range call.Args {
		switch t := p.pass.TypesInfo.TypeOf(arg); {
		case t == nil:
		case names.IsPointer(t, "testing", "T"), names.IsPointer(t, "testing", "B"), names.IsPointer(t, "testing", "F"):
			return real
		case names.Is(t, "testing", "TB"):
			on = given
		}
	}
	return on
}

// text is the constant that a call is given; "": it is none.
func (p *pack) text(call *ast.CallExpr, i int) string {
	if i >= len(call.Args) {
		return ""
	}
	v := p.pass.TypesInfo.Types[call.Args[i]].Value
	if v == nil || v.Kind() != constant.String {
		return ""
	}
	return constant.StringVal(v)
}

// first is the first place in a test file that does something.
func (p *pack) first(t trait) *use {
	for _, u := range p.uses {
		if u.does&t == 0 || t == makesEval && u.asked {
			continue
		}
		for _, file := range p.files {
			if file.FileStart <= u.at.Pos() && u.at.Pos() < file.FileEnd {
				return u
			}
		}
	}
	return nil
}
