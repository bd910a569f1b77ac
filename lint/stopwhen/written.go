package stopwhen

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// tableOf is the table that a slice, an array or a map is; nil: none that is known.
func (p *pack) tableOf(v ssa.Value) *table {
	switch x := v.(type) {
	case *ssa.Slice:
		if a, ok := x.X.(*ssa.Alloc); ok && x.Low == nil && x.High == nil {
			return p.arrayOf(a)
		}
	case *ssa.Alloc:
		return p.arrayOf(x)
	case *ssa.Const:
		if s, ok := x.Type().Underlying().(*types.Slice); ok && x.Value == nil {
			return &table{elem: s.Elem()}
		}
	case *ssa.MakeMap:
		return p.mapOf(x)
	}
	return nil
}

func (p *pack) arrayOf(a *ssa.Alloc) *table {
	typ, ok := a.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
	if !ok || typ.Len() > 500 {
		return nil
	}
	t := &table{pack: p, elem: typ.Elem(), rows: make([]row, typ.Len())}
	if !t.read(a, 0) {
		return nil
	}
	return t
}

// read takes in what is written to an array, and reports whether nobody but those who are seen can write to it.
func (t *table) read(v ssa.Value, depth int) bool {
	if depth > 10 || v.Referrers() == nil {
		return false
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.IndexAddr:
			if index, ok := ref.Index.(*ssa.Const); ok && depth == 0 {
				if i := int(index.Int64()); i < 0 || i >= len(t.rows) || !t.write(i, ref, nil) {
					return false
				}
			} else if !onlyRead(ref) {
				return false
			}
		case *ssa.Slice, *ssa.ChangeType, *ssa.Phi:
			if !t.read(ref.(ssa.Value), depth+1) {
				return false
			}
		case *ssa.Store: // a variable holds it
			if ref.Val != v || !t.held(ref.Addr, depth, t.read) {
				return false
			}
		case *ssa.Call:
			b, builtin := ref.Call.Value.(*ssa.Builtin)
			if variadic := ref.Call.Signature().Variadic() && len(ref.Call.Args) > 0 && ref.Call.Args[len(ref.Call.Args)-1] == v; !variadic && !(builtin && (b.Name() == "len" || b.Name() == "cap")) {
				return false
			}
		case *ssa.UnOp, *ssa.Range, *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

// loads reports whether it is so for all that is read from a variable, also by function literals.
func (t *table) loads(addr ssa.Value, depth int, so func(ssa.Value, int) bool) bool {
	if depth > 10 {
		return false
	}
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			if !so(ref, depth+1) {
				return false
			}
		case *ssa.MakeClosure:
			fn, ok := ref.Fn.(*ssa.Function)
			if !ok {
				return false
			}
			for i, b := range ref.Bindings {
				if b == addr && !t.loads(fn.FreeVars[i], depth+1, so) {
					return false
				}
			}
		}
	}
	return true
}

// write takes in what is written to a row, or to fields of it.
func (t *table) write(i int, addr ssa.Value, path []int) bool {
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr != addr {
				return false
			}
			t.rows[i] = append(t.rows[i], cell{path, ref.Val, ref.Pos()})
		case *ssa.FieldAddr:
			if !t.write(i, ref, slices.Concat(path, []int{ref.Field})) {
				return false
			}
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

// onlyRead reports whether nothing is written to a row whose number is not known.
func onlyRead(addr ssa.Value) bool {
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			if !onlyRead(ref) {
				return false
			}
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

func (p *pack) mapOf(m *ssa.MakeMap) *table {
	t := &table{pack: p, elem: m.Type().Underlying().(*types.Map).Elem()}
	keys := map[string]bool{}
	for _, ref := range *m.Referrers() {
		if set, ok := ref.(*ssa.MapUpdate); ok {
			key, ok := set.Key.(*ssa.Const)
			if !ok || set.Map != m || set.Block() != m.Block() || keys[key.String()] {
				return nil // it may take the place of another
			}
			keys[key.String()] = true
			t.rows = append(t.rows, row{{nil, set.Value, set.Pos()}})
		}
	}
	if !t.readMap(m, 0) {
		return nil
	}
	return t
}

// readMap reports whether nobody writes to a map but where it is made.
func (t *table) readMap(v ssa.Value, depth int) bool {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MapUpdate:
			if depth > 0 {
				return false
			}
		case *ssa.Store:
			if ref.Val != v || !t.held(ref.Addr, depth, t.readMap) {
				return false
			}
		case *ssa.Call:
			if b, ok := ref.Call.Value.(*ssa.Builtin); !ok || b.Name() != "len" {
				return false
			}
		case *ssa.Range, *ssa.Lookup, *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

// held reports whether a variable holds a slice or a map, and nothing else, and whether it is so for all that is read from it.
func (t *table) held(addr ssa.Value, depth int, so func(ssa.Value, int) bool) bool {
	if depth > 10 {
		return false
	}
	switch addr := addr.(type) {
	case *ssa.Global:
		return !addr.Object().Exported() && t.constant(addr) &&
			!slices.ContainsFunc(t.globals.loads[addr], func(load *ssa.UnOp) bool { return !so(load, depth+1) })
	case *ssa.Alloc:
		s := program.StoresTo(addr)
		return !s.Escapes && len(s.Stores) == 1 && t.loads(addr, depth+1, so)
	}
	return false
}
