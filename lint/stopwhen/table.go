package stopwhen

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// table is a slice, an array or a map that is written out, and only read.
type table struct {
	*pack
	elem types.Type
	rows []row
}

// row is an element of a table: what is written to its fields, or to the whole of it (an empty path).
type row []cell

type cell struct {
	path  []int
	value ssa.Value
	pos   token.Pos
}

// at is the field at path of a row, the zero value of its type where nothing is written to it; no value: it is not known.
func (r row) at(path []int, typ types.Type) cell {
	var found []cell
	for _, c := range r {
		switch {
		case slices.Equal(c.path, path):
			found = append(found, c)
		case len(c.path) < len(path) && slices.Equal(c.path, path[:len(c.path)]): // a struct made elsewhere
			inner, ok := made(c.value)
			if !ok {
				return cell{}
			}
			in := inner.at(path[len(c.path):], typ)
			if !in.pos.IsValid() {
				in.pos = c.pos
			}
			found = append(found, in)
		case len(path) < len(c.path) && slices.Equal(path, c.path[:len(path)]):
			return cell{}
		}
	}
	switch len(found) {
	case 0:
		return cell{path: path, value: zero(typ)}
	case 1:
		return found[0]
	}
	return cell{}
}

func zero(typ types.Type) ssa.Value {
	if b, ok := typ.Underlying().(*types.Basic); ok {
		if b.Info()&types.IsInteger == 0 {
			return nil
		}
		return ssa.NewConst(constant.MakeInt64(0), typ)
	}
	switch typ.Underlying().(type) {
	case *types.Interface, *types.Pointer, *types.Slice, *types.Struct:
		return ssa.NewConst(nil, typ)
	}
	return nil
}

// made is a struct, or the struct that a pointer points to, by what is written to it where it is made.
func made(v ssa.Value) (row, bool) {
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		v = load.X
	}
	if c, ok := v.(*ssa.Const); ok {
		return nil, isStruct(c)
	}
	a, ok := v.(*ssa.Alloc)
	if !ok {
		return nil, false
	}
	s := program.StoresTo(a)
	if s.Escapes {
		return nil, false
	}
	var r row
	for i, store := range s.Stores {
		if store.Block() != a.Block() || slices.ContainsFunc(r, func(c cell) bool { return slices.Equal(c.path, s.Paths[i]) }) {
			return nil, false
		}
		r = append(r, cell{s.Paths[i], store.Val, store.Pos()})
	}
	return r, true
}

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
		return mapOf(x)
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
			if g, ok := ref.Addr.(*ssa.Global); ok && !g.Object().Exported() && t.constant(g) {
				if slices.ContainsFunc(t.globals.loads[g], func(load *ssa.UnOp) bool { return !t.read(load, depth+1) }) {
					return false
				}
				break
			}
			a, ok := ref.Addr.(*ssa.Alloc)
			if !ok || ref.Val != v {
				return false
			}
			if s := program.StoresTo(a); s.Escapes || len(s.Stores) != 1 || !t.loads(a, depth+1) {
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

// loads looks at what is done with a variable that holds a slice, also by function literals.
func (t *table) loads(addr ssa.Value, depth int) bool {
	if depth > 10 {
		return false
	}
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			if !t.read(ref, depth+1) {
				return false
			}
		case *ssa.MakeClosure:
			fn, ok := ref.Fn.(*ssa.Function)
			if !ok {
				return false
			}
			for i, b := range ref.Bindings {
				if b == addr && !t.loads(fn.FreeVars[i], depth+1) {
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

func mapOf(m *ssa.MakeMap) *table {
	t := &table{elem: m.Type().Underlying().(*types.Map).Elem()}
	keys := map[string]bool{}
	for _, ref := range *m.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MapUpdate:
			key, ok := ref.Key.(*ssa.Const)
			if !ok || ref.Map != m || ref.Block() != m.Block() || keys[key.String()] {
				return nil // it may take the place of another
			}
			keys[key.String()] = true
			t.rows = append(t.rows, row{{nil, ref.Value, ref.Pos()}})
		case *ssa.Range, *ssa.Lookup, *ssa.DebugRef:
		default:
			return nil
		}
	}
	return t
}

// element is a part of a row, of which it is not known which one it is.
type element struct {
	table     *table
	of, index ssa.Value // the same for the same row
	path      []int
}

// elementOf is the part of a row that a value is; nil: it is none.
func (p *pack) elementOf(v ssa.Value) *element {
	var path []int
	for range 30 {
		switch x := evals.Origin(v).(type) {
		case *ssa.Field:
			path, v = slices.Concat([]int{x.Field}, path), x.X
		case *ssa.UnOp:
			if x.Op != token.MUL {
				return nil
			}
			var next ssa.Value
			if next, path = within(x.X, path); next == nil {
				return nil
			}
			if at, ok := next.(*ssa.IndexAddr); ok {
				return p.elementAt(at.X, at.Index, path)
			}
			v = next
		case *ssa.Extract:
			next, ok := x.Tuple.(*ssa.Next)
			if !ok || x.Index != 2 {
				return nil
			}
			if over, ok := next.Iter.(*ssa.Range); ok {
				return p.elementAt(over.X, next, path)
			}
			return nil
		case *ssa.Index:
			return p.elementAt(x.X, x.Index, path)
		default:
			return nil
		}
	}
	return nil
}

// within is what an address leads to: the row that it lies in, or the value of the variable, with the path from there.
func within(addr ssa.Value, path []int) (ssa.Value, []int) {
	for range 30 {
		switch x := addr.(type) {
		case *ssa.FieldAddr:
			path, addr = slices.Concat([]int{x.Field}, path), x.X
		case *ssa.UnOp: // a row that is a pointer, or a variable that is one
			if x.Op != token.MUL {
				return nil, nil
			}
			return x, path
		case *ssa.IndexAddr:
			return x, path
		case *ssa.FreeVar, *ssa.Alloc:
			return evals.Stored(x), path
		default:
			return nil, nil
		}
	}
	return nil, nil
}

func (p *pack) elementAt(of, index ssa.Value, path []int) *element {
	if _, constant := index.(*ssa.Const); constant {
		return nil
	}
	over := evals.Origin(of)
	if v := p.declared(over); v != nil {
		over = v
	} else if load, ok := over.(*ssa.UnOp); ok { // an array
		over = load.X
	}
	if t := p.tableOf(over); t != nil {
		return &element{t, over, evals.Origin(index), path}
	}
	return nil
}

// variant is a call with the arguments that it has for one row of a table.
type variant struct {
	call ssa.CallInstruction
	args []ssa.Value
	row  token.Pos
}

// variants is a call as it is made for each row of the table that its arguments come from; once where they come from none.
func (p *pack) variants(call ssa.CallInstruction) []variant {
	args := slices.Clone(call.Common().Args)
	for i, arg := range args {
		if v := p.declared(evals.Origin(arg)); v != nil {
			args[i] = v
		}
	}
	elems := make([]*element, len(args))
	var one *element
	for i, arg := range args {
		if elems[i] = p.elementOf(arg); elems[i] != nil {
			if one != nil && (one.of != elems[i].of || one.index != elems[i].index) {
				return []variant{{call: call, args: args}}
			}
			one = elems[i]
		}
	}
	if one == nil {
		return []variant{{call: call, args: args}}
	}
	var all []variant
	for _, r := range one.table.rows {
		v := variant{call: call, args: slices.Clone(args), row: call.Pos()}
		for i, e := range elems {
			if e == nil {
				continue
			}
			c := r.at(e.path, args[i].Type())
			if c.value == nil {
				continue // it stays what it is: not known
			}
			v.args[i] = c.value
			if c.pos.IsValid() {
				v.row = c.pos
			}
		}
		all = append(all, v)
	}
	return all
}
