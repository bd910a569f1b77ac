package evalrun

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// A Fact is what a function does with the tests, evals and functions that it is given. Parameters are bits, the receiver being the
// first. A function that takes an eval and has no fact may do anything.
type Fact struct {
	Runs   uint64 // evals that it may run, or gives to others of whom nothing is known
	Always uint64 // evals that it runs whenever it returns
	Makes  uint64 // tests of which it makes an eval
	Ends   uint64 // tests that it may end or skip
	Marks  uint64 // tests that it may fail without ending them
	Roles  [numRoles]uint64
	Evals  []Made // results that are evals which were not run
}

// Made is a result that is an eval of a parameter.
type Made struct{ Result, Param int }

// AFact makes it a fact.
func (*Fact) AFact() {}

func (f *Fact) String() string {
	var words []string
	for _, x := range []struct {
		bits uint64
		word string
	}{
		{f.Runs &^ f.Always, "may run"}, {f.Always, "runs"}, {f.Makes, "makes an eval of"}, {f.Ends, "ends"}, {f.Marks, "fails"},
		{f.Roles[grader] | f.Roles[field], "grades with"}, {f.Roles[hook], "sets up with"}, {f.Roles[subtest], "has a subtest run"},
		{f.Roles[goroutine], "has a goroutine run"}, {f.Roles[cleanup], "cleans up with"},
	} {
		for i := range 64 {
			if has(x.bits, i) {
				words = append(words, x.word+" "+string(rune('0'+i)))
			}
		}
	}
	if len(f.Evals) > 0 {
		words = append(words, "returns an eval")
	}
	return strings.Join(words, ", ")
}

func (f *Fact) empty() bool {
	return f.Runs|f.Makes|f.Ends|f.Marks == 0 && f.Roles == [numRoles]uint64{} && len(f.Evals) == 0
}

func has(bits uint64, i int) bool { return i < 64 && bits&(1<<i) != 0 }

// factOf is what is known of a function; nil: nothing.
func (p *pack) factOf(obj *types.Func) *Fact {
	obj = obj.Origin()
	if f, ok := p.facts[obj]; ok {
		return f
	}
	var f *Fact
	if obj.Pkg() != p.pass.Pkg {
		if known := new(Fact); p.pass.ImportObjectFact(obj, known) {
			f = known
		}
	}
	p.facts[obj] = f
	return f
}

// declared is the functions of the package that may do something with tests or evals, or functions.
func (p *pack) declared() (fns []*ssa.Function) {
	for _, fn := range p.prog.Funcs() {
		if obj, ok := fn.Object().(*types.Func); !ok || fn.Parent() != nil || obj.Pkg() != p.pass.Pkg || fn.Blocks == nil || names.TypeName(obj) == nil && obj.Signature().Recv() != nil {
			continue
		}
		if slices.ContainsFunc(fn.Params, func(v *ssa.Parameter) bool { return canFail(v.Type()) || isFunc(v.Type()) }) {
			fns = append(fns, fn)
		}
	}
	return fns
}

func isFunc(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// summarize finds out what the functions of the package do: again as long as that tells more of those that call them.
func (p *pack) summarize() {
	fns := p.declared()
	for _, fn := range fns {
		p.facts[fn.Object().(*types.Func)] = new(Fact)
	}
	until := func(step func(fn *ssa.Function, f *Fact) bool) {
		for again := true; again; {
			again = false
			for _, fn := range fns {
				again = step(fn, p.facts[fn.Object().(*types.Func)]) || again
			}
		}
	}
	until(p.acts)
	until(p.takes)
	until(p.returns)
}

// acts notes what a function does itself, or with the help of others, while it is called.
func (p *pack) acts(fn *ssa.Function, f *Fact) bool {
	before := *f
	atOnce(fn, func(inner *ssa.Function) {
		evals.Calls(inner, func(call ssa.CallInstruction) {
			for _, d := range p.deeds(call) {
				i := slices.IndexFunc(fn.Params, func(v *ssa.Parameter) bool { return v == d.on })
				if i < 0 || i > 63 {
					continue
				}
				switch d.act {
				case makes:
					f.Makes |= 1 << i
				case ends:
					f.Ends |= 1 << i
				case marks:
					f.Marks |= 1 << i
				}
			}
		})
	})
	for i, v := range fn.Params[:min(len(fn.Params), 64)] {
		if evals.Is(v.Type()) && p.alwaysRuns(fn, v, 0) {
			f.Always |= 1 << i
		}
	}
	return f.Always != before.Always || f.Makes != before.Makes || f.Ends != before.Ends || f.Marks != before.Marks
}

// takes notes what becomes of the evals and functions that a function is given.
func (p *pack) takes(fn *ssa.Function, f *Fact) bool {
	before := *f
	for i, v := range fn.Params[:min(len(fn.Params), 64)] {
		switch {
		case isFunc(v.Type()):
			clear(p.roles) // more may be known by now
			if r := p.roleOf(v, map[ssa.Value]bool{}); r != 0 {
				f.Roles[r] |= 1 << i
			}
		case canFail(v.Type()) && !evals.IsRunning(v.Type()):
			if w := p.follow(v); w.run || w.lost || w.returned {
				f.Runs |= 1 << i
			}
		}
	}
	return f.Runs != before.Runs || f.Roles != before.Roles
}

// returns notes which results are evals that were just made.
func (p *pack) returns(fn *ssa.Function, f *Fact) bool {
	n := len(f.Evals)
	results := fn.Signature.Results()
	for r := range results.Len() {
		if !evals.Is(results.At(r).Type()) || slices.ContainsFunc(f.Evals, func(m Made) bool { return m.Result == r }) {
			continue
		}
		if of, ok := p.made(fn, r).(*ssa.Parameter); ok && of.Parent() == fn {
			f.Evals = append(f.Evals, Made{r, slices.Index(fn.Params, of)})
		}
	}
	return len(f.Evals) > n
}

// made is the test of which fn makes the eval that is its r-th result, where it only returns it; else nil.
func (p *pack) made(fn *ssa.Function, r int) ssa.Value {
	var eval ssa.Value
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || r >= len(ret.Results) || isNil(ret.Results[r]) {
			continue
		}
		v := evals.Origin(ret.Results[r])
		if eval != nil && eval != v {
			return nil
		}
		eval = v
	}
	if eval == nil {
		return nil
	}
	of := p.madeOf(eval)
	if of == nil || home(eval) != fn {
		return nil
	}
	if w := p.follow(eval); w.run || w.lost {
		return nil
	}
	return of
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// export keeps what packages that import this one need to know.
func (p *pack) export() {
	for _, fn := range p.declared() {
		obj := fn.Object().(*types.Func)
		f := p.facts[obj]
		takesEval := slices.ContainsFunc(fn.Params, func(v *ssa.Parameter) bool { return evals.Is(v.Type()) })
		if obj.Exported() && (takesEval || !f.empty()) {
			p.pass.ExportObjectFact(obj, f)
		}
	}
}

// atOnce calls f for a function and the function literals in it that it calls itself.
func atOnce(fn *ssa.Function, f func(*ssa.Function)) {
	f(fn)
	for _, inner := range fn.AnonFuncs {
		if isLoop(inner) || calledOnly(inner) {
			atOnce(inner, f)
		}
	}
}

// isLoop reports whether fn is the body of a loop over a function.
func isLoop(fn *ssa.Function) bool { return strings.HasPrefix(fn.Synthetic, "range-over-func") }

// calledOnly reports whether a function literal is called where it stands, now or at the end of its function.
func calledOnly(lit *ssa.Function) bool {
	refs := lit.Referrers()
	if refs == nil || len(*refs) != 1 {
		return false
	}
	switch ref := (*refs)[0].(type) {
	case *ssa.MakeClosure:
		refs := *ref.Referrers()
		if len(refs) != 1 {
			return false
		}
		call, ok := refs[0].(ssa.CallInstruction)
		_, concurrent := refs[0].(*ssa.Go)
		return ok && !concurrent && call.Common().Value == ssa.Value(ref)
	case *ssa.Call:
		return ref.Call.Value == ssa.Value(lit)
	case *ssa.Defer:
		return ref.Call.Value == ssa.Value(lit)
	}
	return false
}
