package stopwhen

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// conditions is what decides, within its function, whether an instruction is carried out: none where it always is, unless the
// function panics or loops for ever.
func conditions(at ssa.Instruction) []*ssa.If {
	target, fn := at.Block(), at.Parent()
	before := backwards([]*ssa.BasicBlock{target}, nil)
	var returns []*ssa.BasicBlock
	for _, b := range fn.Blocks {
		if n := len(b.Instrs); n > 0 && b != target {
			if _, ok := b.Instrs[n-1].(*ssa.Return); ok || ends(b) {
				returns = append(returns, b)
			}
		}
	}
	around := backwards(returns, target)
	var all []*ssa.If
	for _, b := range fn.Blocks {
		if b == target || !before[b] || len(b.Instrs) == 0 {
			continue
		}
		if branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok && (around[b.Succs[0]] || around[b.Succs[1]]) {
			all = append(all, branch)
		}
	}
	return all
}

// backwards is the blocks from which one of some can be come to without passing another.
func backwards(from []*ssa.BasicBlock, but *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	seen := map[*ssa.BasicBlock]bool{}
	for len(from) > 0 {
		b := from[len(from)-1]
		from = from[:len(from)-1]
		if seen[b] || b == but {
			continue
		}
		seen[b] = true
		from = append(from, b.Preds...)
	}
	return seen
}

// ends reports whether a block ends the test, so that nothing comes after it.
func ends(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool {
		call, ok := instr.(*ssa.Call)
		if !ok {
			return false
		}
		obj := program.Callee(&call.Call)
		if call.Call.IsInvoke() {
			obj = call.Call.Method
		}
		if obj == nil || obj.Pkg() == nil || obj.Signature().Recv() == nil || obj.Pkg().Path() != "testing" {
			return false
		}
		switch obj.Name() {
		case "Skip", "Skipf", "SkipNow", "Fatal", "Fatalf", "FailNow":
			return true
		}
		return false
	})
}

// always reports whether a helper arms what it is given whatever that is: what else may keep it from it are the test, and the world.
func always(call ssa.CallInstruction, arm Arm) bool {
	return !slices.ContainsFunc(conditions(call), func(branch *ssa.If) bool {
		return !plain(branch.Cond, 0) && !(arm.Each && overAll(branch, call.Parent().Params[arm.Criterion]))
	})
}

// overAll reports whether it is the condition of a loop over a slice.
func overAll(branch *ssa.If, slice ssa.Value) bool {
	less, ok := branch.Cond.(*ssa.BinOp)
	if !ok || less.Op != token.LSS || branch.Block().Comment != "rangeindex.loop" {
		return false
	}
	n, ok := less.Y.(*ssa.Call)
	return ok && len(n.Call.Args) == 1 && evals.Origin(n.Call.Args[0]) == slice
}

// plain reports whether a value does not depend on what its function was given, but for evals and tests.
func plain(v ssa.Value, depth int) bool {
	if depth > 10 {
		return false
	}
	switch x := v.(type) {
	case *ssa.Const, *ssa.Global, *ssa.Function, *ssa.Builtin:
		return true
	case *ssa.Parameter:
		return evals.Is(x.Type()) || evals.IsTest(x.Type())
	case *ssa.BinOp, *ssa.UnOp, *ssa.Call, *ssa.Convert, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Extract, *ssa.Field,
		*ssa.FieldAddr, *ssa.IndexAddr, *ssa.Index, *ssa.Lookup:
		for _, op := range x.(ssa.Instruction).Operands(nil) {
			if *op != nil && !plain(*op, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// guarded reports whether a condition on which a call depends asks about an argument of it: about what the criterion reaches, or what
// it is armed for.
func (p *pack) guarded(call ssa.CallInstruction) bool {
	var origins []ssa.Value
	for _, v := range call.Common().Args {
		if evals.Is(v.Type()) || evals.IsTest(v.Type()) {
			continue
		}
		o := evals.Origin(v)
		if c, constant := o.(*ssa.Const); !constant || isStruct(c) {
			origins = append(origins, o)
		}
		if load, ok := o.(*ssa.UnOp); ok {
			if global, ok := load.X.(*ssa.Global); ok {
				origins = append(origins, global)
			}
		}
		if e := p.elementOf(v); e != nil {
			origins = append(origins, e.index)
		}
	}
	var at ssa.Instruction = call
	for at != nil {
		for _, branch := range conditions(at) {
			if !loops[branch.Block().Comment] && p.asks(branch.Cond, origins, map[ssa.Value]bool{}) {
				return true
			}
		}
		fn := at.Parent()
		if fn.Parent() == nil {
			return false
		}
		at = evals.In(fn.Parent(), at)
	}
	return false
}

// loops is what package ssa calls the blocks that begin a loop: whether there is one more row is no question about the row.
var loops = map[string]bool{"rangeindex.loop": true, "rangeiter.loop": true, "for.loop": true}

// asks reports whether a value is made of one of some.
func (p *pack) asks(v ssa.Value, about []ssa.Value, seen map[ssa.Value]bool) bool {
	o := evals.Origin(v)
	if slices.Contains(about, v) || slices.Contains(about, o) {
		return true
	}
	if e := p.elementOf(v); e != nil && slices.Contains(about, e.index) {
		return true
	}
	if c, ok := o.(*ssa.Const); ok && isStruct(c) {
		return slices.ContainsFunc(about, func(v ssa.Value) bool {
			other, ok := v.(*ssa.Const)
			return ok && types.Identical(c.Type(), other.Type())
		})
	}
	if seen[o] || len(seen) > 200 {
		return false
	}
	seen[o] = true
	instr, ok := o.(ssa.Instruction)
	if !ok {
		return false
	}
	if _, literal := o.(*ssa.Alloc); literal {
		return false
	}
	for _, op := range instr.Operands(nil) {
		if *op != nil && p.asks(*op, about, seen) {
			return true
		}
	}
	return false
}

// isStruct reports whether it is a struct with nothing in it: a criterion.
func isStruct(c *ssa.Const) bool {
	_, ok := c.Type().Underlying().(*types.Struct)
	return ok
}
