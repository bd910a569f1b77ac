package evalrun

import (
	"cmp"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// isTest reports whether t is the type of a test: *testing.T, B or F, or testing.TB.
func isTest(t types.Type) bool { return isRunning(t) || names.Is(t, "testing", "TB") }

// isRunning reports whether t is the type of a test that the testing package runs: no stand-in has it.
func isRunning(t types.Type) bool {
	for _, name := range []string{"T", "B", "F"} {
		if names.IsPointer(t, "testing", name) {
			return true
		}
	}
	return false
}

// isEval reports whether t is *evaltest.T.
func isEval(t types.Type) bool { return names.IsPointer(t, names.Evaltest, "T") }

// fails says what the methods of a test do to it.
var fails = map[string]act{
	"FailNow": ends, "Fatal": ends, "Fatalf": ends, "SkipNow": ends, "Skip": ends, "Skipf": ends,
	"Fail": marks, "Error": marks, "Errorf": marks,
}

// canFail reports whether a value of type t may be a test: a test, an eval, or what assertions take in its place.
func canFail(t types.Type) bool {
	if isTest(t) || isEval(t) {
		return true
	}
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return false
	}
	for m := range i.Methods() {
		if fails[m.Name()] != 0 {
			return true
		}
	}
	return false
}

// origin is where a test or an eval comes from, through variables, captured ones too, and conversions: a parameter, a call, or,
// where that is not known, some other value.
func origin(v ssa.Value) ssa.Value { return cmp.Or(originOf(v, map[ssa.Value]bool{}), v) }

// originOf is nil where it leads to what was seen before.
func originOf(v ssa.Value, seen map[ssa.Value]bool) ssa.Value {
	next := func(v ssa.Value) ssa.Value { return originOf(v, seen) }
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
		if isRunning(x.X.Type()) {
			return next(x.X)
		}
	case *ssa.UnOp:
		if x.Op == token.MUL {
			if seen[v] {
				return nil
			}
			seen[v] = true
			if of := stored(x.X); of != nil {
				return next(of)
			}
			if f, ok := x.X.(*ssa.FieldAddr); ok && isEval(f.X.Type()) && isTest(x.Type()) { // what evaltest.T embeds
				return next(f.X)
			}
		}
	}
	return v
}

// stored is what a variable holds that is set once, or always to the same; nil: it is not known.
func stored(addr ssa.Value) ssa.Value {
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

// home is the function that a value belongs to; nil for one that is not known.
func home(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.Parameter:
		return v.Parent()
	case *ssa.Call:
		return v.Parent()
	case *ssa.Extract:
		return v.Parent()
	}
	return nil
}

// outside reports whether fn is in a function literal, or is one, and v belongs to a function around fn.
func outside(v ssa.Value, fn *ssa.Function) bool {
	h := home(v)
	if h == nil || h == fn {
		return false
	}
	for f := fn.Parent(); f != nil; f = f.Parent() {
		if f == h {
			return true
		}
	}
	return false
}

// realTest reports whether it is certain that v is a test, and no stand-in for one.
func realTest(v ssa.Value) bool {
	if isRunning(v.Type()) {
		_, own := v.(*ssa.Alloc) // new(testing.T)
		return !own
	}
	param, ok := v.(*ssa.Parameter)
	return ok && isTest(v.Type()) && param.Parent().Parent() == nil
}

// realEval reports whether it is certain that v is an eval of a test, and of no stand-in for one.
func (p *pack) realEval(v ssa.Value) bool {
	if !isEval(v.Type()) {
		return false
	}
	if param, ok := v.(*ssa.Parameter); ok {
		return param.Parent().Parent() == nil
	}
	of := p.madeOf(v)
	return of != nil && (realTest(of) || p.realEval(of))
}

// madeOf is the test that an eval is made of; nil where that is not seen.
func (p *pack) madeOf(v ssa.Value) ssa.Value {
	result := 0
	if x, ok := v.(*ssa.Extract); ok {
		v, result = x.Tuple, x.Index
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	obj := program.Callee(&call.Call)
	if obj == nil {
		return nil
	}
	if isNew(obj) {
		return origin(call.Call.Args[0])
	}
	if f := p.factOf(obj); f != nil {
		for _, m := range f.Evals {
			if m.Result == result && m.Param < len(call.Call.Args) {
				return origin(call.Call.Args[m.Param])
			}
		}
	}
	return nil
}

func isNew(obj *types.Func) bool { return names.Full(obj) == names.Evaltest+".New" }

func isRun(obj *types.Func) bool { return names.Full(obj) == "(*"+names.Evaltest+".T).Run" }
