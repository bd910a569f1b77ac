package stopwhen

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// place is where an eval is kept: a value, or a field of a struct that a value points to.
type place struct {
	of   ssa.Value
	path string // empty: it is the value itself
}

func placeOf(v ssa.Value) place {
	at := place{of: evals.Origin(v)}
	for range 10 {
		if field, ok := at.of.(*ssa.Field); ok {
			at.path = fmt.Sprintf(".%d%s", field.Field, at.path)
			at.of = evals.Origin(field.X)
			continue
		}
		load, ok := at.of.(*ssa.UnOp)
		if !ok || load.Op != token.MUL {
			break
		}
		addr := load.X
		for {
			field, ok := addr.(*ssa.FieldAddr)
			if !ok {
				break
			}
			at.path = fmt.Sprintf(".%d%s", field.Field, at.path)
			addr = field.X
		}
		if addr == load.X {
			break
		}
		at.of = evals.Origin(addr)
	}
	return at
}

// steady reports whether an eval is the same one from one instruction of fn to a later one: nobody makes another in between.
func (p *pack) steady(eval ssa.Value, fn *ssa.Function, from, to ssa.Instruction) bool {
	at := placeOf(eval)
	instr, ok := at.of.(ssa.Instruction)
	if ok && !encloses(instr.Parent(), fn) {
		return false // a function that may be called in between, too
	}
	if ok && to.Parent() != fn && again(instr.Block()) && !p.own(eval, instr.Block()) {
		return false // the later one may be about the eval of the next round
	}
	return at.path == "" || to.Parent() == fn && p.kept(from, to)
}

// own reports whether a captured variable is made anew whenever a block is come to, and so holds what is made there.
func (p *pack) own(v ssa.Value, b *ssa.BasicBlock) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	addr := load.X
	for range 10 {
		if free, ok := addr.(*ssa.FreeVar); ok {
			addr = program.Binding(free)
		}
	}
	a, ok := addr.(*ssa.Alloc)
	return ok && a.Block() == b
}

// encloses reports whether fn is f, or a function literal in it.
func encloses(f, fn *ssa.Function) bool {
	for ; fn != nil; fn = fn.Parent() {
		if f == fn {
			return true
		}
	}
	return false
}

// again reports whether a block may be come to a second time.
func again(b *ssa.BasicBlock) bool {
	from := map[*ssa.BasicBlock]bool{}
	for _, pred := range b.Preds {
		for at := range backwards([]*ssa.BasicBlock{pred}, nil) {
			from[at] = true
		}
	}
	return from[b]
}

// kept reports whether no field is written to between two instructions, and nobody is called who could do so.
func (p *pack) kept(from, to ssa.Instruction) bool {
	before := backwards([]*ssa.BasicBlock{to.Block()}, nil)
	for _, b := range from.Parent().Blocks {
		if !before[b] || !from.Block().Dominates(b) {
			continue
		}
		for _, instr := range b.Instrs {
			if b == from.Block() && !evals.Before(from, instr) || b == to.Block() && !again(b) && !evals.Before(instr, to) {
				continue
			}
			switch instr := instr.(type) {
			case *ssa.Store:
				_, field := instr.Addr.(*ssa.FieldAddr)
				_, whole := instr.Val.Type().Underlying().(*types.Struct)
				if field && evals.Is(instr.Val.Type()) || whole {
					return false
				}
			case ssa.CallInstruction:
				if !p.harmless(instr) {
					return false
				}
			}
		}
	}
	return true
}

// harmless reports whether a call makes no eval that could take the place of another: it does not come to what the package keeps.
func (p *pack) harmless(call ssa.CallInstruction) bool {
	common := call.Common()
	if _, builtin := common.Value.(*ssa.Builtin); builtin {
		return true
	}
	if common.IsInvoke() {
		return evals.IsTest(common.Value.Type())
	}
	obj := program.Callee(common)
	if obj == nil || obj.Pkg() == nil {
		return false
	}
	if obj.Pkg() == p.pass.Pkg {
		f := p.factOf(obj)
		return f != nil && f.Same
	}
	return !slices.ContainsFunc(common.Args, func(arg ssa.Value) bool {
		o := evals.Origin(arg)
		if _, literal := o.(*ssa.MakeClosure); literal {
			return true
		}
		t := o.Type()
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		n, ok := types.Unalias(t).(*types.Named)
		return ok && n.Obj().Pkg() == p.pass.Pkg
	})
}
