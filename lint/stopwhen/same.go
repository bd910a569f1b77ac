package stopwhen

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// same reports whether it is certain that two criteria, or two arguments of their constructors, are the same.
func (p *pack) same(a, b ssa.Value, depth int) bool {
	if a == nil || b == nil || depth > 10 {
		return false
	}
	a, b = evals.Origin(a), evals.Origin(b)
	if a == b {
		return true
	}
	switch x := a.(type) {
	case *ssa.Const:
		y, ok := b.(*ssa.Const)
		return ok && x.String() == y.String()
	case *ssa.Call:
		y, ok := b.(*ssa.Call)
		return ok && p.sameCalls(x, y, depth)
	case *ssa.UnOp:
		y, ok := b.(*ssa.UnOp)
		if !ok || x.Op != token.MUL || y.Op != token.MUL {
			return false
		}
		if global, ok := x.X.(*ssa.Global); ok {
			return x.X == y.X && p.constant(global)
		}
		return p.sameStructs(x.X, y.X, depth)
	case *ssa.Alloc:
		return p.sameStructs(a, b, depth)
	case *ssa.Slice:
		as, bs := p.elements(a), p.elements(b)
		return len(as) > 0 && slices.EqualFunc(as, bs, func(x, y ssa.Value) bool { return p.same(x, y, depth+1) })
	}
	return false
}

// sameCalls reports whether two calls of a constructor make the same.
func (p *pack) sameCalls(a, b *ssa.Call, depth int) bool {
	obj := program.Callee(&a.Call)
	if obj == nil || obj != program.Callee(&b.Call) {
		return false
	}
	if f := p.factOf(obj); !polarity.Builtin(obj) && (f == nil || !f.Same) {
		return false
	}
	return slices.EqualFunc(a.Call.Args, b.Call.Args, func(x, y ssa.Value) bool { return p.same(x, y, depth+1) })
}

// sameStructs reports whether two structs that are made here have the same in them.
func (p *pack) sameStructs(a, b ssa.Value, depth int) bool {
	x, ok := made(a)
	if !ok {
		return false
	}
	y, ok := made(b)
	if !ok || len(x) != len(y) {
		return false
	}
	for _, c := range x {
		i := slices.IndexFunc(y, func(d cell) bool { return slices.Equal(c.path, d.path) })
		if i < 0 || !p.same(c.value, y[i].value, depth+1) {
			return false
		}
	}
	return a.Type().String() == b.Type().String()
}

// pure are the packages whose functions give the same for the same.
var pure = map[string]bool{"fmt": true, "strings": true, "strconv": true, "regexp": true, "path": true, "path/filepath": true}

// alike reports whether fn makes the same criterion whenever it is given the same.
func (p *pack) alike(fn *ssa.Function) bool {
	res := fn.Signature.Results()
	if res.Len() != 1 || !names.MethodsOf(res.At(0).Type()).Criterion() {
		return false
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch x := instr.(type) {
			case *ssa.Alloc, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Slice, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.Convert,
				*ssa.BinOp, *ssa.If, *ssa.Jump, *ssa.Phi, *ssa.Return, *ssa.Store, *ssa.DebugRef, *ssa.Field:
			case *ssa.UnOp:
				if x.Op == token.ARROW {
					return false
				}
			case *ssa.Call:
				if _, builtin := x.Call.Value.(*ssa.Builtin); builtin {
					break
				}
				obj := program.Callee(&x.Call)
				if obj == nil || !polarity.Builtin(obj) && !pure[obj.Pkg().Path()] {
					if obj == nil {
						return false
					}
					if f := p.factOf(obj); f == nil || !f.Same {
						return false
					}
				}
			default:
				return false
			}
			for _, op := range instr.Operands(nil) {
				if g, ok := (*op).(*ssa.Global); ok && !(g.Pkg == fn.Pkg && p.constant(g)) {
					return false
				}
			}
		}
	}
	return true
}
