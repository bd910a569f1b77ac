// Package program gives analyzers what they share of a package: whether it has to do with evaltest, and its SSA form,
// which is built for the first that asks and for nobody who does not.
//
// It stands in the place of passes/buildssa, which builds the SSA of every package that is only looked at for its facts,
// the standard library's included.
//
//	prog := pass.ResultOf[program.Analyzer].(*program.Program)
//	if !prog.Concerned() {
//		return nil, nil
//	}
//	for _, fn := range prog.Funcs() { … }
package program

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// Everywhere makes every package concern every analyzer: a test over code that has nothing to do with evaltest sets it,
// before it starts.
var Everywhere bool

// Analyzer gives the Program of a package.
var Analyzer = &analysis.Analyzer{
	Name:             "evalprogram",
	Doc:              "what the analyzers of evaltest share of a package",
	URL:              "https://pkg.go.dev/" + names.Module + "/lint",
	Run:              run,
	RunDespiteErrors: true,
	ResultType:       reflect.TypeFor[*Program](),
	FactTypes:        []analysis.Fact{new(Concerned)},
}

// Concerned is the fact of a package that imports evaltest, or a package that does.
type Concerned struct{}

// AFact makes it a fact.
func (*Concerned) AFact()         {}
func (*Concerned) String() string { return "concerns evaltest" }

// A Program is one package.
type Program struct {
	pass      *analysis.Pass
	concerned bool

	once  sync.Once // of what follows; analyzers of one package may run side by side
	funcs []*ssa.Function
	byObj map[*types.Func]*ssa.Function

	onceCalls sync.Once
	calls     map[token.Pos]*ast.CallExpr // by their parenthesis

	onceUses sync.Once
	uses     map[*types.Func][]ssa.Instruction
}

func run(pass *analysis.Pass) (any, error) {
	p := &Program{pass: pass, concerned: Everywhere}
	if own := names.Path(pass.Pkg); own == names.Agents || own == names.Verdict {
		p.concerned = true
	}
	for _, imp := range pass.Pkg.Imports() {
		p.concerned = p.concerned || ours(imp) || pass.ImportPackageFact(imp, new(Concerned))
	}
	if p.concerned && !Everywhere {
		pass.ExportPackageFact(new(Concerned))
	}
	return p, nil
}

func ours(pkg *types.Package) bool {
	switch names.Path(pkg) {
	case names.Agents, names.Evaltest, names.Verdict, names.Criteria:
		return true
	}
	return false
}

// Concerned reports whether the package imports evaltest, itself or through others.
func (p *Program) Concerned() bool { return p.concerned }

// Standard reports whether it is a package of the standard library, which is known from tables.
func (p *Program) Standard() bool {
	if Everywhere {
		return false
	}
	if m := p.pass.Module; m != nil && m.Path != "" && m.Path != "std" {
		return false
	}
	return Stdlib(strings.TrimSuffix(p.pass.Pkg.Path(), "_test"))
}

// Stdlib reports whether a package with this path is one of the standard library, unless a module has such a path.
func Stdlib(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return stdlib[first]
}

// stdlib is the first elements of the paths of the standard library: not every driver tells modules.
var stdlib = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields("archive bufio builtin bytes cmd cmp compress container context crypto database debug embed encoding errors " +
		"expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime slices sort " +
		"strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak") {
		m[s] = true
	}
	return m
}()

// Funcs is the SSA form of every function that the package declares, and of the function literals in them, each after the
// one that it is in. There are none where the package does not type-check.
func (p *Program) Funcs() []*ssa.Function {
	p.once.Do(p.build)
	return p.funcs
}

func (p *Program) build() {
	if len(p.pass.TypeErrors) > 0 {
		return
	}
	p.byObj = map[*types.Func]*ssa.Function{}
	prog := ssa.NewProgram(p.pass.Fset, 0)
	for _, imp := range p.pass.Pkg.Imports() {
		prog.CreatePackage(imp, nil, nil, true)
	}
	pkg := prog.CreatePackage(p.pass.Pkg, p.pass.Files, p.pass.TypesInfo, false)
	pkg.Build()

	var add func(*ssa.Function)
	add = func(fn *ssa.Function) {
		p.funcs = append(p.funcs, fn)
		for _, inner := range fn.AnonFuncs {
			add(inner)
		}
	}
	for _, file := range p.pass.Files {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if obj, ok := p.pass.TypesInfo.Defs[decl.Name].(*types.Func); ok {
				if fn := prog.FuncValue(obj); fn != nil {
					p.byObj[obj] = fn
					add(fn)
				}
			}
		}
	}
	if init := pkg.Func("init"); init != nil {
		add(init)
	}
}

// Func is the SSA form of a function that the package declares; nil for any other.
func (p *Program) Func(obj *types.Func) *ssa.Function {
	p.once.Do(p.build)
	return p.byObj[obj.Origin()]
}

// Uses is the instructions of the package that have a declared function as an operand: calls of it, and others.
func (p *Program) Uses(obj *types.Func) []ssa.Instruction {
	p.onceUses.Do(func() {
		p.uses = map[*types.Func][]ssa.Instruction{}
		for _, fn := range p.Funcs() {
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					for _, op := range instr.Operands(nil) {
						if used, ok := (*op).(*ssa.Function); ok {
							if o := Object(used); o != nil {
								p.uses[o] = append(p.uses[o], instr)
							}
						}
					}
				}
			}
		}
	})
	return p.uses[obj.Origin()]
}

// Object is what a function was declared as, generic for an instance; nil for a function literal and the like. A wrapper
// of a method (a method value, a promoted method) is the method.
func Object(fn *ssa.Function) *types.Func {
	if fn == nil {
		return nil
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	obj, _ := fn.Object().(*types.Func)
	if obj == nil {
		return nil
	}
	return obj.Origin()
}

// Callee is the function that is called, where code shows it; nil: it does not, or it is no declared function.
func Callee(call *ssa.CallCommon) *types.Func {
	if call.IsInvoke() {
		return nil
	}
	return Object(call.StaticCallee())
}
