package evalrun

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// inGrader reports the test of an eval, or the eval, in a function that grades.
func (p *pack) inGrader(lit *ssa.Function, r role, d deed) {
	test, eval := evals.IsTest(d.on.Type()), p.realEval(d.on)
	words := p.words(d)
	switch d.act {
	case makes:
		if p.tests[d.on] && evals.IsRunning(d.on.Type()) {
			p.report(d.call, fmt.Sprintf("%s inside a criterion makes an eval of a test that the criterion must not fail; make it before Run, and look at its result", words), p.declaration(d.on))
		}
	case runs:
		if eval {
			p.report(d.call, fmt.Sprintf("%s inside a criterion runs an eval whose test the criterion must not fail; run it before", words), p.whereMade(d.on))
		}
	case ends, marks:
		// A function of an author's own criterion may be called by its test, which it may fail; criteria.Check has a goroutine
		// of its own, which no test can be ended in.
		known := eval || test && p.ofEval(lit, d.on)
		if known || r == grader && d.act == ends && test {
			what := "fails"
			if d.act == ends {
				what = "ends"
			}
			of := "the test itself"
			if evals.Is(d.on.Type()) {
				of = "the eval"
			}
			t := collector(lit)
			advice := "return an error, or a score"
			if t != nil {
				advice = "use the t that it is given"
				if nameOf(t) != "" {
					advice = "use its own " + nameOf(t)
				}
			}
			p.report(d.call, fmt.Sprintf("%s inside a criterion %s %s, which is no score but its author's error; %s", words, what, of, advice), p.declaration(d.on), p.rename(lit, d)...)
		}
	}
}

// collector is the t that a function is given that checks a trial; nil: there is none.
func collector(lit *ssa.Function) *ssa.Parameter {
	for _, v := range lit.Params {
		if i, ok := v.Type().Underlying().(*types.Interface); ok && canFail(v.Type()) && i.NumMethods() > 0 {
			return v
		}
	}
	return nil
}

// ofEval reports whether evals are made of a test, or of subtests of it around the criterion.
func (p *pack) ofEval(lit *ssa.Function, test ssa.Value) bool {
	if p.tests[test] {
		return true
	}
	for f := lit.Parent(); f != nil && outside(test, f); f = f.Parent() {
		if p.role(f) != subtest {
			continue
		}
		for _, v := range f.Params {
			if p.tests[v] {
				return true
			}
		}
	}
	return false
}

// criteria reports criteria that hold a test, or an eval, and use it when they judge.
func (p *pack) criteria() {
	held := p.heldTests()
	for _, fn := range p.prog.Funcs() {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil || !isJudge(obj) {
			continue
		}
		done := map[*ssa.Function]bool{}
		p.judge(obj, fn, held, done)
	}
}

// isJudge reports whether a method is one that judges, of a criterion.
func isJudge(obj *types.Func) bool {
	sig := obj.Signature()
	if sig.Recv() == nil || types.IsInterface(sig.Recv().Type()) {
		return false
	}
	switch obj.Name() {
	case "Grade":
		return names.IsGrade(sig)
	case names.LiveVerdict:
		return names.IsLiveVerdict(sig)
	case names.LiveBounds:
		return names.IsLiveBounds(sig)
	}
	return false
}

// judge looks at a method of a criterion that judges, and at those that it calls of the criterion.
func (p *pack) judge(top *types.Func, fn *ssa.Function, held map[*types.Var]bool, done map[*ssa.Function]bool) {
	if done[fn] || len(fn.Params) == 0 {
		return
	}
	done[fn] = true
	recv := fn.Params[0]
	nest(fn, func(inner *ssa.Function) {
		evals.Calls(inner, func(call ssa.CallInstruction) {
			for _, d := range p.deeds(call) {
				if d.act != ends && d.act != marks {
					continue
				}
				f := fieldOf(d.on, recv)
				if f == nil || !(evals.Is(f.Type()) || held[f] || evals.IsTest(f.Type()) && !p.inTest(f)) {
					continue
				}
				what := "fails"
				if d.act == ends {
					what = "ends"
				}
				of := "its test"
				if evals.Is(f.Type()) {
					of = "its eval"
				}
				p.report(call, fmt.Sprintf("%s in %s.%s %s %s, which is no score but its author's error; return an error, or a score",
					p.words(d), names.TypeName(top).Name(), top.Name(), what, of), nil)
			}
			obj := program.Callee(call.Common())
			if obj == nil || obj.Signature().Recv() == nil || len(call.Common().Args) == 0 {
				return
			}
			if next := p.prog.Func(obj); next != nil && from(call.Common().Args[0], recv) {
				p.judge(top, next, held, done)
			}
		})
	})
}

// heldTests is the fields that are set to an eval, or to a test of which an eval is made.
func (p *pack) heldTests() map[*types.Var]bool {
	held := map[*types.Var]bool{}
	for _, fn := range p.prog.Funcs() {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				store, ok := instr.(*ssa.Store)
				if !ok {
					continue
				}
				addr, ok := store.Addr.(*ssa.FieldAddr)
				if !ok || !canFail(store.Val.Type()) {
					continue
				}
				if o := evals.Origin(store.Val); p.tests[o] || p.realEval(o) {
					if f := fieldAt(addr.X.Type(), addr.Field); f != nil {
						held[f] = true
					}
				}
			}
		}
	}
	return held
}

// inTest reports whether something is declared in a file of tests, where a criterion may stand in for one that is not to be
// graded, say, and its test may know it.
func (p *pack) inTest(obj types.Object) bool {
	return obj.Pkg() != p.pass.Pkg || strings.HasSuffix(p.pass.Fset.Position(obj.Pos()).Filename, "_test.go")
}

// fieldOf is the field of recv, or of something in it, that v is read from; nil: it is not.
func fieldOf(v ssa.Value, recv *ssa.Parameter) *types.Var {
	var f *types.Var
	switch x := v.(type) {
	case *ssa.UnOp:
		addr, ok := x.X.(*ssa.FieldAddr)
		if x.Op != token.MUL || !ok || !from(addr.X, recv) {
			return nil
		}
		f = fieldAt(addr.X.Type(), addr.Field)
	case *ssa.Field:
		if !from(x.X, recv) {
			return nil
		}
		f = fieldAt(x.X.Type(), x.Field)
	}
	return f
}

func fieldAt(t types.Type, i int) *types.Var {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok && i < s.NumFields() {
		return s.Field(i)
	}
	return nil
}

// from reports whether v is the receiver, or something in it.
func from(v ssa.Value, recv *ssa.Parameter) bool {
	for range 20 {
		switch x := v.(type) {
		case *ssa.Parameter:
			return x == recv
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.Field:
			v = x.X
		case *ssa.UnOp:
			if of := evals.Stored(x.X); of != nil {
				v = of
			} else {
				v = x.X
			}
		case *ssa.Alloc:
			of := evals.Stored(x)
			if of == nil {
				return false
			}
			v = of
		case *ssa.FreeVar:
			if v = program.Binding(x); v == nil {
				return false
			}
		default:
			return false
		}
	}
	return false
}
