package graderr

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// deferred looks at what a function does when it is over: it may recover from a panic, or forget an error.
func (g *grader) deferred() {
	if g.err == noError {
		return
	}
	for _, b := range g.fn.Blocks {
		for _, instr := range b.Instrs {
			d, ok := instr.(*ssa.Defer)
			if !ok {
				continue
			}
			fn, bindings := literalOf(d.Call.Value)
			if fn == nil || fn.Parent() != g.fn {
				continue
			}
			g.recovers(fn, g.result(fn, bindings))
		}
	}
}

func literalOf(v ssa.Value) (*ssa.Function, []ssa.Value) {
	switch v := v.(type) {
	case *ssa.Function:
		return v, nil
	case *ssa.MakeClosure:
		fn, _ := v.Fn.(*ssa.Function)
		return fn, v.Bindings
	}
	return nil, nil
}

// result is the named error result as a function literal captures it; nil: it does not.
func (g *grader) result(fn *ssa.Function, bindings []ssa.Value) *ssa.FreeVar {
	named := g.named()
	if named == nil {
		return nil
	}
	for i, b := range bindings {
		if b == named && i < len(fn.FreeVars) {
			return fn.FreeVars[i]
		}
	}
	return nil
}

// named is the variable of the error result where that has a name and lies in memory.
func (g *grader) named() *ssa.Alloc {
	if g.fn.Recover == nil || len(g.fn.Recover.Instrs) == 0 {
		return nil
	}
	ret, ok := g.fn.Recover.Instrs[len(g.fn.Recover.Instrs)-1].(*ssa.Return)
	if !ok || g.err >= len(ret.Results) {
		return nil
	}
	load, ok := ret.Results[g.err].(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil
	}
	a, _ := load.X.(*ssa.Alloc)
	return a
}

// recovers reports a panic that becomes a score of 0 since it is recovered from, and an error that is forgotten.
func (g *grader) recovers(fn *ssa.Function, err *ssa.FreeVar) {
	var recovered *ssa.Call
	var forgot *ssa.Store
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Panic:
				return
			case *ssa.Store:
				if err == nil || instr.Addr != err {
					continue
				}
				if !isNil(instr.Val) {
					return // it says that there was an error
				}
				forgot = instr
			case *ssa.Call:
				if builtin, ok := instr.Call.Value.(*ssa.Builtin); ok && builtin.Name() == "recover" {
					recovered = instr
				}
				for _, arg := range instr.Call.Args {
					if err != nil && arg == err {
						return // who knows
					}
				}
			}
		}
	}
	if recovered != nil {
		if a := g.named(); a != nil {
			for _, store := range program.StoresTo(a).Stores {
				if store.Block() == g.fn.Blocks[0] && !isNil(store.Val) && store.Parent() == g.fn {
					return // it is an error until it is known better
				}
			}
		}
		g.report(finding{at: recovered.Pos(), kind: panicked, what: "a panic"})
		return
	}
	if forgot != nil && g.forgets(fn, err, forgot) {
		g.report(finding{at: forgot.Pos(), kind: never, what: "every error, which a deferred function takes away"})
	}
}

// forgets reports whether the error is taken away whatever it is.
func (g *grader) forgets(fn *ssa.Function, err *ssa.FreeVar, forgot *ssa.Store) bool {
	at := arrival{at: forgot.Block()}
	for _, t := range testsOf(fn) {
		load, ok := t.err.(*ssa.UnOp)
		if t.says != notNil || !ok || load.X != err {
			return false
		}
		if !t.leadsTo(at) {
			return false
		}
	}
	for _, b := range fn.Blocks {
		if cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			if _, ok := testOf(cond.Cond); !ok {
				return false
			}
		}
	}
	return true
}

// ended reports whether a way leads through a select statement's case for the end of ctx, and says so.
func (g *grader) ended(at arrival) (what string, ok bool) {
	for _, b := range g.fn.Blocks {
		cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || !passes(b, 0, at) {
			continue
		}
		eq, ok := cond.Cond.(*ssa.BinOp)
		if !ok || eq.Op != token.EQL {
			continue
		}
		x, ok := eq.X.(*ssa.Extract)
		if !ok {
			continue
		}
		sel, ok := x.Tuple.(*ssa.Select)
		n, isConst := eq.Y.(*ssa.Const)
		if !ok || !isConst || n.Int64() < 0 || int(n.Int64()) >= len(sel.States) {
			continue
		}
		if done(sel.States[n.Int64()].Chan) {
			return "the end of ctx", true
		}
	}
	return "", false
}

// done reports whether a channel is that of the ctx that the function is given.
func done(ch ssa.Value) bool {
	call, ok := ch.(*ssa.Call)
	if !ok || !call.Call.IsInvoke() || call.Call.Method.Name() != "Done" || !names.Is(call.Call.Value.Type(), "context", "Context") {
		return false
	}
	_, ok = call.Call.Value.(*ssa.Parameter)
	return ok
}

// ownLimit reports whether the end of time may be a limit that the function has set the agent's program.
func (g *grader) ownLimit(t test) bool {
	if t.what != "context.DeadlineExceeded" && t.what != "context.Canceled" {
		return false
	}
	for _, b := range g.fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				if obj := program.Callee(call.Common()); obj != nil && names.Path(obj.Pkg()) == "context" && obj.Name() != "Background" {
					return true
				}
			}
		}
	}
	return false
}
