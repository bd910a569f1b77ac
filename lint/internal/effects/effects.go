// Package effects finds out what functions do besides computing their results: whether they read a clock, a file or a
// variable that changes, start a goroutine, keep something between calls, write through their parameters, or let the order of a
// map decide. It looks at the SSA form of a package's functions, and takes what is known of other packages from facts and,
// for the standard library, from a table.
//
//	a := effects.New(pass, prog, effects.Options{})
//	a.Export()
//	for _, f := range a.Findings(method) {
//		pass.Reportf(f.Pos, "it %s; %s", f.What, f.Kind.Advice())
//	}
//
// A function is taken for pure unless code shows that it is not: of calls of interface methods and of function values nothing is
// known, and nothing is said unless Options.Strict asks for it.
package effects

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// Options say what is known of functions that code does not show.
type Options struct {
	Strict bool     // what calls something of which nothing is known is not pure
	Pure   []string // functions, by full name, and packages, by path, that are
	Impure []string // and that are not
}

// Fact is what a function does; a function without one is pure.
type Fact struct {
	Kind   Kind   // of what makes it impure; None: nothing does
	What   string // "calls time.Now"
	Module string // the module that does it
	Writes []Write
	// What its results may lead into: parameters, by bit, and the memory of a trajectory.
	Returns uint64
	Memory  bool
}

// Write is a parameter that a function writes through.
type Write struct {
	Param int
	What  string // "writes to the field n"
}

// AFact makes it a fact.
func (*Fact) AFact() {}

func (f *Fact) String() string {
	var words []string
	if f.Kind != None {
		words = append(words, f.What)
	}
	for _, w := range f.Writes {
		words = append(words, fmt.Sprintf("%s of parameter %d", w.What, w.Param))
	}
	if f.Returns != 0 || f.Memory {
		words = append(words, "returns what it was given")
	}
	return strings.Join(words, "; ")
}

func (f *Fact) pure() bool { return f.Kind == None && len(f.Writes) == 0 }

// A Changing is the fact of a package's variable that changes after the start of the program.
type Changing struct{ By string }

// AFact makes it a fact.
func (*Changing) AFact()           {}
func (c *Changing) String() string { return "changed by " + c.By }

// A Finding is one thing that a function does besides computing its result.
type Finding struct {
	Pos     token.Pos
	Kind    Kind
	What    string                        // "calls time.Now"
	Related []analysis.RelatedInformation // where that is done

	Roots roots // of what is written to, for State
	In    *ssa.Function
}

// An Analysis is what is known of one package's functions.
type Analysis struct {
	pass *analysis.Pass
	prog *program.Program
	opts Options

	facts    map[*types.Func]*Fact // done, or under way (empty)
	findings map[*types.Func][]Finding
	changing map[types.Object]string // the package's variables, and what changes them
}

// New looks at a package.
func New(pass *analysis.Pass, prog *program.Program, opts Options) *Analysis {
	a := &Analysis{pass: pass, prog: prog, opts: opts, facts: map[*types.Func]*Fact{}, findings: map[*types.Func][]Finding{}, changing: map[types.Object]string{}}
	a.findChanging()
	return a
}

// Export keeps, for packages that import this one, what it is that functions do.
func (a *Analysis) Export() {
	if names.Path(a.pass.Pkg) == names.Agents {
		return // it is known
	}
	for _, fn := range a.prog.Funcs() {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil || !obj.Exported() || obj.Pkg() != a.pass.Pkg {
			continue
		}
		if f := a.of(obj); !f.pure() || f.Returns != 0 || f.Memory {
			a.pass.ExportObjectFact(obj, f)
		}
	}
	for obj, by := range a.changing {
		if obj.Exported() && obj.Pkg() == a.pass.Pkg {
			a.pass.ExportObjectFact(obj, &Changing{by})
		}
	}
}

func (a *Analysis) module() string {
	if m := a.pass.Module; m != nil {
		return m.Path
	}
	return ""
}

// of is what a function does.
func (a *Analysis) of(obj *types.Func) *Fact {
	obj = obj.Origin()
	if f := a.facts[obj]; f != nil {
		return f
	}
	f := new(Fact)
	a.facts[obj] = f
	full := names.Full(obj)
	switch {
	case listed(a.opts.Impure, obj, full):
		f.Kind, f.What, f.Module = Unknown, "calls "+short(obj)+", which is listed as impure", a.module()
		return f
	case listed(a.opts.Pure, obj, full):
		return f
	case names.Path(obj.Pkg()) == names.Agents:
		// Its methods lock, and remember: that is the memory that criteria are to use.
		f.Memory = true
		if full == "(*"+names.Agents+".Trajectory).Append" {
			f.Writes = []Write{{0, "appends to it"}}
		}
		return f
	case obj.Pkg() != a.pass.Pkg:
		var known Fact
		if a.pass.ImportObjectFact(obj, &known) {
			*f = known
		}
		return f
	}
	if fn := a.prog.Func(obj); fn != nil && fn.Blocks != nil {
		a.look(obj, fn, f)
	}
	return f
}

func listed(list []string, obj *types.Func, full string) bool {
	return slices.Contains(list, full) || obj.Pkg() != nil && slices.Contains(list, names.Path(obj.Pkg()))
}

// Findings is everything that a function of the package does, each at its place.
func (a *Analysis) Findings(obj *types.Func) []Finding {
	a.of(obj)
	return a.findings[obj.Origin()]
}

// look fills in the fact of a function of the package.
func (a *Analysis) look(obj *types.Func, fn *ssa.Function, f *Fact) {
	found := a.inside(fn)
	a.findings[obj] = found
	for _, x := range found {
		if !x.Outside() {
			continue
		}
		if x.Kind == State && x.Roots.params != 0 && len(x.Roots.globals) == 0 {
			for i := range 64 {
				if x.Roots.params&(1<<i) != 0 && !slices.ContainsFunc(f.Writes, func(w Write) bool { return w.Param == i }) {
					f.Writes = append(f.Writes, Write{i, x.What})
				}
			}
			continue
		}
		// What counts in other modules, too, goes first.
		if f.Kind == None || !f.Kind.far() && x.Kind.far() {
			f.Kind, f.What, f.Module = x.Kind, x.What, a.module()
		}
	}
	var r roots
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			for _, v := range ret.Results {
				if refers(v.Type()) {
					r.add(a.rootsOf(v))
				}
			}
		}
	}
	f.Returns, f.Memory = r.params, r.memory
}

// inside is what a function does, and the function literals in it that it runs.
func (a *Analysis) inside(fn *ssa.Function) []Finding {
	l := &looker{a: a, fn: fn}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			l.instr(instr)
		}
	}
	l.mapOrder()
	return l.found
}

// findChanging finds the package's variables that are written to by anything but their initialization.
func (a *Analysis) findChanging() {
	for _, fn := range a.prog.Funcs() {
		if top(fn).Name() == "init" || strings.HasPrefix(top(fn).Name(), "init#") || a.once(fn) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				var addr ssa.Value
				switch instr := instr.(type) {
				case *ssa.Store:
					addr = instr.Addr
				case *ssa.MapUpdate:
					addr = instr.Map
				default:
					continue
				}
				if g := global(addr); g != nil && g.Object() != nil && g.Object().Pkg() == a.pass.Pkg && (a.test(g.Pos()) || !a.test(fn.Pos())) {
					a.changing[g.Object()] = top(fn).Name()
				}
			}
		}
	}
}

// test reports whether pos is in a test file: what only a test changes does not change where it counts.
func (a *Analysis) test(pos token.Pos) bool {
	return strings.HasSuffix(a.pass.Fset.Position(pos).Filename, "_test.go")
}

func top(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}

// global is the variable that an address is in; nil: it is in none.
func global(addr ssa.Value) *ssa.Global {
	for {
		switch v := addr.(type) {
		case *ssa.Global:
			return v
		case *ssa.FieldAddr:
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		case *ssa.UnOp:
			if v.Op != token.MUL {
				return nil
			}
			addr = v.X
		default:
			return nil
		}
	}
}

// once reports whether a function literal is what a sync.Once of the package does: what it sets does not change.
func (a *Analysis) once(fn *ssa.Function) bool {
	if fn.Parent() == nil {
		return false
	}
	for _, b := range fn.Parent().Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			obj := program.Callee(call.Common())
			if obj == nil || names.Full(obj) != "(*sync.Once).Do" {
				continue
			}
			if arg := call.Common().Args[1]; literal(arg) == fn {
				return true
			}
		}
	}
	return false
}

// literal is the function that a value is; nil: it is not known.
func literal(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.Function:
		return v
	case *ssa.MakeClosure:
		fn, _ := v.Fn.(*ssa.Function)
		return fn
	case *ssa.ChangeType:
		return literal(v.X)
	case *ssa.MakeInterface:
		return literal(v.X)
	}
	return nil
}

// name is how people name a function: time.Now, strings.Builder.Reset, and fresh for one of the package.
func (a *Analysis) name(obj *types.Func) string {
	if obj.Pkg() == a.pass.Pkg {
		if n := names.TypeName(obj); n != nil {
			return n.Name() + "." + obj.Name()
		}
		return obj.Name()
	}
	return short(obj)
}

func short(obj *types.Func) string {
	text := obj.Name()
	if n := names.TypeName(obj); n != nil {
		text = n.Name() + "." + text
	}
	if obj.Pkg() != nil {
		text = obj.Pkg().Name() + "." + text
	}
	return text
}
