package effects

import (
	"go/constant"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// mapIterator notes what is made of the keys or values of a map in the order in which package maps gives them: a slice of which
// one is taken by its place, or a loop that is left with what comes first.
func (l *looker) mapIterator(call *ssa.Call) {
	how, pos := "", call.Pos()
	if from, ok := collected(call); ok {
		if !counted(from, call.Block()) && taken(call, nil) {
			how = "takes elements by their place without sorting them"
		}
	} else if from, body := iterated(call); body != nil && !counted(from, call.Block()) {
		how, pos = newBody(body).depends(), body.Pos()
	}
	if how != "" {
		l.add(pos, MapOrder, "goes over a map and "+how)
	}
}

// collected reports whether a call makes a slice of what a map holds, and of which map.
func collected(call *ssa.Call) (m ssa.Value, ok bool) {
	obj := program.Callee(&call.Call)
	if obj == nil || len(call.Call.Args) != 1 {
		return nil, false
	}
	switch names.Full(obj) {
	case "slices.Collect":
		m = ofMap(call.Call.Args[0])
		return m, m != nil
	case "golang.org/x/exp/maps.Keys", "golang.org/x/exp/maps.Values":
		return call.Call.Args[0], true
	}
	return nil, false
}

// ofMap is the map of which a value iterates the keys, the values or both; nil: it does not.
func ofMap(seq ssa.Value) ssa.Value {
	if t, ok := seq.(*ssa.ChangeType); ok {
		seq = t.X
	}
	call, ok := seq.(*ssa.Call)
	if !ok || len(call.Call.Args) != 1 {
		return nil
	}
	obj := program.Callee(&call.Call)
	if obj == nil {
		return nil
	}
	switch names.Full(obj) {
	case "maps.Keys", "maps.Values", "maps.All":
		return call.Call.Args[0]
	}
	return nil
}

// iterated is the map that a range over a function goes over with this call, and the body of the loop.
func iterated(call *ssa.Call) (m ssa.Value, body *ssa.Function) {
	if len(call.Call.Args) != 1 || call.Call.IsInvoke() {
		return nil, nil
	}
	m = ofMap(call.Call.Value)
	if m == nil {
		return nil, nil
	}
	switch f := call.Call.Args[0].(type) {
	case *ssa.MakeClosure:
		body, _ = f.Fn.(*ssa.Function)
	case *ssa.Function:
		body = f
	}
	return m, body
}

// body is the body of a range over a function: it answers true for the next element, and false to leave the loop.
type body struct {
	loop
	fn *ssa.Function
}

func newBody(fn *ssa.Function) *body {
	b := &body{fn: fn, loop: loop{blocks: map[*ssa.BasicBlock]bool{}, key: map[ssa.Value]bool{}, taint: map[ssa.Value]bool{}}}
	for i, p := range fn.Params {
		spread(p, b.taint)
		b.key[p] = i == 0
	}
	for _, block := range fn.Blocks {
		b.blocks[block] = true
	}
	return b
}

func (b *body) depends() string {
	var exits []exit
	for _, block := range b.fn.Blocks {
		ret, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) != 1 {
			continue
		}
		if c, ok := ret.Results[0].(*ssa.Const); ok && c.Value != nil && !constant.BoolVal(c.Value) {
			from := block
			if len(block.Preds) > 0 {
				from = block.Preds[0]
			}
			exits = append(exits, exit{from, block})
		}
	}
	return b.first(exits)
}
