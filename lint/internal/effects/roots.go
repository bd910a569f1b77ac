package effects

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// roots is what a pointer, a map or a slice may lead into. Empty: nothing that anyone but the function sees.
type roots struct {
	params  uint64        // parameters of the declared function; the receiver is bit 0
	globals []*ssa.Global // variables of packages
	fresh   bool          // what the function made itself
	memory  bool          // what a trajectory remembers: the result of a fold
	far     bool          // something that a function keeps which is called
	through []*ssa.Function
}

func (r *roots) add(o roots) {
	r.params |= o.params
	r.fresh = r.fresh || o.fresh
	r.memory = r.memory || o.memory
	for _, g := range o.globals {
		if !slices.Contains(r.globals, g) {
			r.globals = append(r.globals, g)
		}
	}
	for _, f := range o.through {
		if !slices.Contains(r.through, f) {
			r.through = append(r.through, f)
		}
	}
}

// captured reports whether it leads, out of the function literal lit, to a variable of the function around it.
func (r *roots) captured(lit *ssa.Function) bool { return r.fresh && slices.Contains(r.through, lit) }

// rootsOf is what v leads into.
func (a *Analysis) rootsOf(v ssa.Value) roots {
	var r roots
	a.trace(v, &r, map[ssa.Value]bool{})
	return r
}

func (a *Analysis) trace(v ssa.Value, r *roots, seen map[ssa.Value]bool) {
	if v == nil || seen[v] || len(seen) > 500 {
		return
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeClosure, *ssa.MakeChan:
		r.fresh = true
	case *ssa.Global:
		r.add(roots{globals: []*ssa.Global{v}})
	case *ssa.Parameter:
		if i := slices.Index(v.Parent().Params, v); v.Parent().Parent() == nil && 0 <= i && i < 64 {
			r.params |= 1 << i
		}
	case *ssa.FreeVar:
		r.add(roots{through: []*ssa.Function{v.Parent()}})
		a.trace(program.Binding(v), r, seen)
	case *ssa.FieldAddr:
		a.trace(v.X, r, seen)
	case *ssa.Field:
		a.trace(v.X, r, seen)
	case *ssa.IndexAddr:
		a.trace(v.X, r, seen)
	case *ssa.Index:
		a.trace(v.X, r, seen)
	case *ssa.Lookup:
		a.trace(v.X, r, seen)
	case *ssa.Slice:
		a.trace(v.X, r, seen)
	case *ssa.ChangeType:
		a.trace(v.X, r, seen)
	case *ssa.ChangeInterface:
		a.trace(v.X, r, seen)
	case *ssa.MakeInterface:
		a.trace(v.X, r, seen)
	case *ssa.SliceToArrayPointer:
		a.trace(v.X, r, seen)
	case *ssa.TypeAssert:
		a.trace(v.X, r, seen)
	case *ssa.Extract:
		a.trace(v.Tuple, r, seen)
	case *ssa.Next:
		a.trace(v.Iter, r, seen)
	case *ssa.Range:
		a.trace(v.X, r, seen)
	case *ssa.Phi:
		for _, e := range v.Edges {
			a.trace(e, r, seen)
		}
	case *ssa.UnOp:
		if v.Op == token.MUL {
			a.traceLoad(v.X, nil, r, seen)
		}
	case *ssa.Call:
		a.traceCall(v, r, seen)
	}
}

// traceLoad is what a pointer leads into that is stored at addr.
func (a *Analysis) traceLoad(addr ssa.Value, path []int, r *roots, seen map[ssa.Value]bool) {
	switch v := addr.(type) {
	case *ssa.FieldAddr:
		a.traceLoad(v.X, slices.Concat([]int{v.Field}, path), r, seen)
	case *ssa.FreeVar:
		r.add(roots{through: []*ssa.Function{v.Parent()}})
		if b := program.Binding(v); b != nil {
			a.traceLoad(b, path, r, seen)
		}
	case *ssa.Alloc:
		s := program.StoresTo(v)
		for i, store := range s.Stores {
			at := s.Paths[i]
			if n := min(len(at), len(path)); slices.Equal(at[:n], path[:n]) {
				a.trace(store.Val, r, seen)
			}
		}
		if len(s.Stores) == 0 {
			r.fresh = true
		}
	default:
		a.trace(addr, r, seen)
	}
}

// traceCall is what the result of a call leads into.
func (a *Analysis) traceCall(call *ssa.Call, r *roots, seen map[ssa.Value]bool) {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		if b.Name() == "append" {
			a.trace(call.Call.Args[0], r, seen)
			r.fresh = true
		}
		return
	}
	obj := program.Callee(&call.Call)
	switch {
	case obj == nil:
		return
	case names.Path(obj.Pkg()) == names.Agents:
		r.memory = true
		return
	}
	if obj.Pkg() != nil && stdPackages[obj.Pkg().Path()] != nil {
		return
	}
	f := a.of(obj)
	r.memory = r.memory || f.Memory
	for i, arg := range call.Call.Args {
		if i < 64 && f.Returns&(1<<i) != 0 {
			a.trace(arg, r, seen)
		}
	}
}

// refers reports whether a value of type t can lead to something that others see, too.
func refers(t types.Type) bool { return leads(t, 0) }

func leads(t types.Type, depth int) bool {
	if depth > 6 {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Struct:
		for f := range t.Fields() {
			if leads(f.Type(), depth+1) {
				return true
			}
		}
		return false
	case *types.Array:
		return leads(t.Elem(), depth+1)
	}
	return true
}
