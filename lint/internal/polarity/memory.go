package polarity

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// load is what is known of the field at path of what addr points to, or of a struct; nil: nothing.
func (r *Result) load(addr ssa.Value, path []int, typ types.Type, busy map[ssa.Value]bool) *Expr {
	set := r.typ(typ)
	for range 20 {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			path = slices.Concat([]int{v.Field}, path)
			addr = v.X
		case *ssa.Field:
			path = slices.Concat([]int{v.Field}, path)
			addr = v.X
		case *ssa.UnOp: // a pointer that is a field, or a variable
			if v.Op != token.MUL {
				return nil
			}
			addr = v.X
		case *ssa.MakeInterface:
			addr = v.X
		case *ssa.Parameter:
			if len(path) == 0 {
				return &Expr{Op: Param, N: parameter(v), Is: set}
			}
			return &Expr{Op: Field, N: parameter(v), Path: path, Is: set}
		case *ssa.FreeVar:
			b := program.Binding(v)
			if b == nil {
				return nil
			}
			addr = b
		case *ssa.Alloc:
			return r.loadAlloc(v, path, typ, busy)
		default:
			return nil
		}
	}
	return nil
}

// loadAlloc is what is known of the field at path of a local variable, or of a new struct.
func (r *Result) loadAlloc(a *ssa.Alloc, path []int, typ types.Type, busy map[ssa.Value]bool) *Expr {
	s := program.StoresTo(a)
	if s.Escapes {
		return nil
	}
	var all []*Expr
	for i, store := range s.Stores {
		at := s.Paths[i]
		switch {
		case slices.Equal(at, path):
			all = append(all, or(r.follow(store.Val, busy), open))
		case len(at) < len(path) && slices.Equal(at, path[:len(at)]):
			rest := path[len(at):]
			all = append(all, or(r.load(store.Val, rest, typ, busy), open))
		case len(path) < len(at) && slices.Equal(path, at[:len(path)]):
			return nil // a struct in parts: see built
		}
	}
	if names.IsVerdict(typ) || names.IsPolarity(typ) {
		if len(path) == 0 && !initialized(a) || len(all) == 0 {
			all = append(all, exactly(0)) // as it began
		}
	}
	return union(all)
}

// initialized reports whether a variable is set before anything looks at it.
func initialized(a *ssa.Alloc) bool {
	instrs := a.Block().Instrs
	for _, instr := range instrs[slices.Index(instrs, ssa.Instruction(a))+1:] {
		for _, op := range instr.Operands(nil) {
			if *op == ssa.Value(a) {
				store, ok := instr.(*ssa.Store)
				return ok && store.Addr == ssa.Value(a)
			}
		}
	}
	return false
}

// built is what a criterion declares whose struct is made here: what its type says, given what is in its fields.
func (r *Result) built(a *ssa.Alloc, busy map[ssa.Value]bool) *Expr {
	e := r.declared(a.Type())
	if e == nil || e.closed() {
		return e
	}
	return e.with(func(int) *Expr { return r.structure(a, busy) })
}

// made is what a criterion declares that is a struct, not a pointer to one, and was made here; nil: it was not.
func (r *Result) made(v *ssa.UnOp, busy map[ssa.Value]bool) *Expr {
	if _, ok := v.X.(*ssa.Alloc); !ok {
		return nil
	}
	if e := r.declared(v.Type()); e != nil && !e.closed() {
		return e.with(func(int) *Expr { return r.structure(v.X, busy) })
	}
	return nil
}

// structure is a struct that is made here, or a parameter; nil: nothing is known of it.
func (r *Result) structure(v ssa.Value, busy map[ssa.Value]bool) *Expr {
	var path []int
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			path = slices.Concat([]int{x.Field}, path)
			v = x.X
			continue
		case *ssa.UnOp:
			if x.Op != token.MUL {
				return nil
			}
			v = x.X
			continue
		case *ssa.Parameter:
			if len(path) > 0 {
				return &Expr{Op: Field, N: parameter(x), Path: path, Is: unknown}
			}
			return &Expr{Op: Param, N: parameter(x), Is: r.typ(x.Type())}
		case *ssa.Alloc:
			s := program.StoresTo(x)
			if s.Escapes {
				return nil
			}
			out := &Expr{Op: Struct}
			for i, store := range s.Stores {
				if !relevant(s.Paths[i], path) {
					continue
				}
				out.Keys = append(out.Keys, s.Paths[i][len(path):])
				if _, ok := store.Val.Type().Underlying().(*types.Struct); ok {
					out.Args = append(out.Args, r.structure(store.Val, busy))
				} else {
					out.Args = append(out.Args, or(r.follow(store.Val, busy), open))
				}
			}
			return out
		}
		return nil
	}
}

func relevant(at, path []int) bool {
	return len(at) >= len(path) && slices.Equal(path, at[:len(path)])
}
