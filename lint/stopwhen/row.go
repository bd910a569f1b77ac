package stopwhen

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
)

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
