package livepolarity

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// answer is what a method answers on some path, whatever others may answer.
type answer struct {
	pos token.Pos
	set polarity.Set
	is  *ssa.Const // nil where it is none
}

// certain is what a method of the criterion is sure to answer on some path: the constants that it returns itself, that
// helpers of its own return, or that a function returns which has one verdict to give. What a helper returns that serves
// others, too, it may never return to this one.
func (p *pair) certain(method *types.Func) []answer {
	w := &walker{pair: p, seen: map[ssa.Value]bool{}, in: map[*ssa.Function]bool{}}
	w.function(p.reach.Program().Func(method), token.NoPos)
	return w.answers
}

type walker struct {
	*pair
	answers []answer
	seen    map[ssa.Value]bool
	in      map[*ssa.Function]bool
}

func (w *walker) function(fn *ssa.Function, at token.Pos) {
	if fn == nil || w.in[fn] {
		return
	}
	w.in[fn] = true
	for _, b := range polarity.Feasible(fn) {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && len(ret.Results) > 0 {
			pos := at
			if !pos.IsValid() {
				pos = ret.Pos()
			}
			w.value(ret.Results[0], pos)
		}
	}
}

func (w *walker) add(new answer) {
	for _, a := range w.answers {
		if a.pos == new.pos && a.set == new.set {
			return
		}
	}
	w.answers = append(w.answers, new)
}

func (w *walker) value(v ssa.Value, pos token.Pos) {
	if v, ok := v.(*ssa.Const); ok { // one constant stands in many places
		w.add(answer{pos, w.reach.Value(v), v})
		return
	}
	if w.seen[v] {
		return
	}
	w.seen[v] = true
	switch v := v.(type) {
	case *ssa.Phi:
		for _, e := range polarity.Edges(v) {
			w.value(e, pos)
		}
	case *ssa.ChangeType:
		w.value(v.X, pos)
	case *ssa.BinOp:
		if v.Op == token.OR {
			w.value(v.X, pos)
			w.value(v.Y, pos)
		}
	case *ssa.UnOp:
		w.load(v, pos)
	case *ssa.Call:
		w.call(v, pos)
	}
}

// load follows a variable that cannot be followed as a value: a named result, or what the body of a range over a
// function returns.
func (w *walker) load(v *ssa.UnOp, pos token.Pos) {
	a, ok := v.X.(*ssa.Alloc)
	if v.Op != token.MUL || !ok {
		return
	}
	s := program.StoresTo(a)
	for i, store := range s.Stores {
		if len(s.Paths[i]) > 0 || !feasible(store.Block()) {
			continue
		}
		at := pos
		if store.Pos().IsValid() {
			at = store.Pos()
		}
		w.value(store.Val, at)
	}
}

func feasible(block *ssa.BasicBlock) bool {
	for _, b := range polarity.Feasible(block.Parent()) {
		if b == block {
			return true
		}
	}
	return false
}

func (w *walker) call(call *ssa.Call, pos token.Pos) {
	obj := program.Callee(&call.Call)
	if obj == nil {
		return
	}
	if fn := w.reach.Program().Func(obj); fn != nil && w.own(fn, map[*ssa.Function]bool{}) {
		w.function(fn, token.NoPos)
		return
	}
	set := w.reach.Value(call)
	if one := set.Mask &^ 1; one != 0 && one&(one-1) == 0 {
		w.add(answer{pos: pos, set: polarity.Set{Mask: one}})
	}
}

// own reports whether a function serves this criterion alone: it is a method of its type, or everything that calls it is.
func (w *walker) own(fn *ssa.Function, busy map[*ssa.Function]bool) bool {
	obj := program.Object(fn)
	if obj == nil || busy[fn] {
		return false
	}
	busy[fn] = true
	if n := names.TypeName(obj); n != nil && n == w.typ {
		return true
	}
	if obj.Exported() {
		return false
	}
	uses := w.reach.Program().Uses(obj)
	for _, instr := range uses {
		call, ok := instr.(ssa.CallInstruction)
		if !ok || program.Callee(call.Common()) != obj {
			return false // it is kept, or given to someone
		}
		if caller := outermost(instr.Parent()); caller != fn && !w.own(caller, busy) {
			return false
		}
	}
	return len(uses) > 0
}

func outermost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}
