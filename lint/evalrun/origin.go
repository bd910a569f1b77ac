package evalrun

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// fails says what the methods of a test do to it.
var fails = map[string]act{
	"FailNow": ends, "Fatal": ends, "Fatalf": ends, "SkipNow": ends, "Skip": ends, "Skipf": ends,
	"Fail": marks, "Error": marks, "Errorf": marks,
}

// canFail reports whether a value of type t may be a test: a test, an eval, or what assertions take in its place.
func canFail(t types.Type) bool {
	if evals.IsTest(t) || evals.Is(t) {
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
	if evals.IsRunning(v.Type()) {
		_, own := v.(*ssa.Alloc) // new(testing.T)
		return !own
	}
	param, ok := v.(*ssa.Parameter)
	return ok && evals.IsTest(v.Type()) && param.Parent().Parent() == nil
}

// realEval reports whether it is certain that v is an eval of a test, and of no stand-in for one.
func (p *pack) realEval(v ssa.Value) bool {
	if !evals.Is(v.Type()) {
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
		return evals.Origin(call.Call.Args[0])
	}
	if f := p.factOf(obj); f != nil {
		for _, m := range f.Evals {
			if m.Result == result && m.Param < len(call.Call.Args) {
				return evals.Origin(call.Call.Args[m.Param])
			}
		}
	}
	return nil
}

func isNew(obj *types.Func) bool { return names.Full(obj) == names.Evaltest+".New" }

func isRun(obj *types.Func) bool { return names.Full(obj) == "(*"+names.Evaltest+".T).Run" }
