package effects

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// Callbacks is the function literals that are given to agents.Fold and its like in a function of the package, and where: each is
// run once for an event, whenever that is.
func Callbacks(fn *ssa.Function) (lits []*ssa.Function, names []string) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok {
				continue
			}
			obj := program.Callee(&call.Call)
			if obj == nil || !folds(obj) || len(call.Call.Args) < 3 || private(call.Call.Args[1]) {
				continue
			}
			if lit := literal(call.Call.Args[2]); lit != nil && lit.Parent() != nil {
				lits, names = append(lits, lit), append(names, "agents."+obj.Name())
			}
		}
	}
	return lits, names
}

// private reports whether the key of a fold is made for this one call: then nobody shares it, and it is a loop.
func private(key ssa.Value) bool {
	if mk, ok := key.(*ssa.MakeInterface); ok {
		key = mk.X
	}
	a, ok := key.(*ssa.Alloc)
	return ok && a.Heap
}

func folds(obj *types.Func) bool {
	if names.Path(obj.Pkg()) != names.Agents {
		return false
	}
	return slices.Contains([]string{"Fold", "FoldPrefixes", "Tally", "Weigh", "View"}, obj.Name())
}

// Captured reports whether a finding is that a callback writes to what it captured and no trajectory remembers.
func (f *Finding) Captured(callback *ssa.Function) bool {
	return f.Kind == State && (f.Outside() || f.Roots.captured(callback))
}

// Outside reports whether a finding is of anything that the caller of its function, or another call of it, can see.
func (f *Finding) Outside() bool {
	return f.Kind != State || f.Roots.params != 0 || len(f.Roots.globals) > 0 || f.Roots.far
}

// Callback looks into a function literal that is given to agents.Fold or its like.
func (a *Analysis) Callback(lit *ssa.Function) []Finding { return a.inside(lit) }
