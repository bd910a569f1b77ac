// Package evals follows the tests and evals of a function: where they come from, and what is done with them before something else.
//
//	if evals.Origin(a) == evals.Origin(b) { … } // the same eval
package evals

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// Is reports whether t is *evaltest.T.
func Is(t types.Type) bool { return names.IsPointer(t, names.Evaltest, "T") }

// IsTest reports whether t is the type of a test: *testing.T, B or F, or testing.TB.
func IsTest(t types.Type) bool { return IsRunning(t) || names.Is(t, "testing", "TB") }

// IsRunning reports whether t is the type of a test that the testing package runs: no stand-in has it.
func IsRunning(t types.Type) bool {
	for _, name := range []string{"T", "B", "F"} {
		if names.IsPointer(t, "testing", name) {
			return true
		}
	}
	return false
}

// Method is the name of the method of *evaltest.T that a function is; empty: it is none.
func Method(obj *types.Func) string {
	if obj == nil || obj.Signature().Recv() == nil || !Is(obj.Signature().Recv().Type()) {
		return ""
	}
	return obj.Name()
}

// Origin is where a test, an eval or a criterion comes from, through variables, captured ones too, and conversions: a parameter,
// a call, or, where that is not known, some other value.
func Origin(v ssa.Value) ssa.Value { return cmp.Or(origin(v, map[ssa.Value]bool{}), v) }

// origin is nil where it leads to what was seen before.
func origin(v ssa.Value, seen map[ssa.Value]bool) ssa.Value {
	next := func(v ssa.Value) ssa.Value { return origin(v, seen) }
	switch x := v.(type) {
	case *ssa.MakeInterface:
		return next(x.X)
	case *ssa.ChangeInterface:
		return next(x.X)
	case *ssa.ChangeType:
		return next(x.X)
	case *ssa.TypeAssert:
		if !x.CommaOk {
			return next(x.X)
		}
	case *ssa.Extract:
		if a, ok := x.Tuple.(*ssa.TypeAssert); ok && x.Index == 0 {
			return next(a.X)
		}
	case *ssa.Phi:
		if seen[v] {
			return nil
		}
		seen[v] = true
		var found ssa.Value
		for _, e := range x.Edges {
			o := next(e)
			if o != nil && found != nil && found != o {
				return v
			}
			found = cmp.Or(found, o)
		}
		return cmp.Or(found, v)
	case *ssa.FieldAddr: // what testing.T embeds
		if IsRunning(x.X.Type()) {
			return next(x.X)
		}
	case *ssa.UnOp:
		if x.Op == token.MUL {
			if seen[v] {
				return nil
			}
			seen[v] = true
			if of := Stored(x.X); of != nil {
				return next(of)
			}
			if f, ok := x.X.(*ssa.FieldAddr); ok && Is(f.X.Type()) && IsTest(x.Type()) { // what evaltest.T embeds
				return next(f.X)
			}
		}
	}
	return v
}

// Stored is what a variable holds that is set once, or always to the same; nil: it is not known.
func Stored(addr ssa.Value) ssa.Value {
	for range 10 {
		free, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		addr = program.Binding(free)
	}
	a, ok := addr.(*ssa.Alloc)
	if !ok {
		return nil
	}
	s := program.StoresTo(a)
	if s.Escapes || len(s.Stores) == 0 {
		return nil
	}
	for i, store := range s.Stores {
		if len(s.Paths[i]) > 0 || store.Val != s.Stores[0].Val {
			return nil
		}
	}
	return s.Stores[0].Val
}

// Before reports whether the first of two instructions of a function has been carried out whenever the second is.
func Before(first, second ssa.Instruction) bool {
	a, b := first.Block(), second.Block()
	if a == b {
		return slices.Index(a.Instrs, first) < slices.Index(a.Instrs, second)
	}
	return a.Dominates(b)
}

// In is where an instruction of a function literal is, as seen from a function around it: where the literal is made. It is the
// instruction itself in its own function, and nil where that is not seen.
func In(fn *ssa.Function, instr ssa.Instruction) ssa.Instruction {
	for instr != nil && instr.Parent() != fn {
		instr = made(instr.Parent())
	}
	return instr
}

// made is where a function literal is made; nil: nowhere that is seen, or in several places.
func made(lit *ssa.Function) ssa.Instruction {
	if lit.Parent() == nil {
		return nil
	}
	var found ssa.Instruction
	for _, b := range lit.Parent().Blocks {
		for _, instr := range b.Instrs {
			for _, op := range instr.Operands(nil) {
				if *op == ssa.Value(lit) {
					if found != nil {
						return nil
					}
					found = instr
				}
			}
		}
	}
	return found
}

// Calls calls f for every call of a function.
func Calls(fn *ssa.Function, f func(ssa.CallInstruction)) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				f(call)
			}
		}
	}
}
