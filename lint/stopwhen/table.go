package stopwhen

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

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
