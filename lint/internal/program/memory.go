package program

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Stores is what is written to a local variable, or to a new struct: by its function, and by function literals that
// capture it.
type Stores struct {
	Paths   [][]int // of each of Stores: the fields within the variable; empty: the whole
	Stores  []*ssa.Store
	Escapes bool // its address is given to others, who may write to it, too
}

// StoresTo is everything that is seen to be written to a.
func StoresTo(a *ssa.Alloc) *Stores {
	s := new(Stores)
	s.collect(a, nil, 0)
	return s
}

func (s *Stores) collect(addr ssa.Value, path []int, depth int) {
	if depth > 10 || addr.Referrers() == nil {
		s.Escapes = true
		return
	}
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == addr {
				s.Paths, s.Stores = append(s.Paths, path), append(s.Stores, ref)
			}
		case *ssa.FieldAddr:
			s.collect(ref, slices.Concat(path, []int{ref.Field}), depth+1)
		case *ssa.MakeClosure:
			fn, ok := ref.Fn.(*ssa.Function)
			if !ok {
				s.Escapes = true
				continue
			}
			for i, b := range ref.Bindings {
				if b == addr && i < len(fn.FreeVars) {
					s.collect(fn.FreeVars[i], path, depth+1)
				}
			}
		case *ssa.MakeInterface:
			if i, ok := ref.Type().Underlying().(*types.Interface); ok && i.Empty() {
				s.Escapes = true // json.Unmarshal(data, &v)
			}
		case ssa.CallInstruction:
			s.Escapes = true
		}
	}
}

// Binding is what a captured variable is; nil where its function literal is made in several ways.
func Binding(v *ssa.FreeVar) ssa.Value {
	fn := v.Parent()
	i := slices.Index(fn.FreeVars, v)
	if fn.Parent() == nil || i < 0 {
		return nil
	}
	var found ssa.Value
	for _, b := range fn.Parent().Blocks {
		for _, instr := range b.Instrs {
			if mk, ok := instr.(*ssa.MakeClosure); ok && mk.Fn == fn {
				if found != nil && found != mk.Bindings[i] {
					return nil
				}
				found = mk.Bindings[i]
			}
		}
	}
	return found
}
