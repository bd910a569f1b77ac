package effects

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// mapOrder notes loops over a map whose result depends on which of its elements came first or last.
//
// That some element has a property, or all have, does not depend on the order, nor does a sum or the largest. It does where the
// loop is left with an element, where it can be left with one of several results, where the last element that fits is kept,
// and where the elements are put into a slice that is then taken apart without being sorted.
func (l *looker) mapOrder() {
	for _, b := range l.fn.Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Range:
				if isMap(instr.X.Type()) && !counted(instr.X, b) {
					l.rangeOver(instr)
				}
			case *ssa.Call:
				l.mapIterator(instr)
			}
		}
	}
}

func (l *looker) rangeOver(r *ssa.Range) {
	for _, ref := range *r.Referrers() {
		next, ok := ref.(*ssa.Next)
		if !ok {
			continue
		}
		if how := newLoop(next).depends(); how != "" {
			l.add(r.Pos(), MapOrder, "ranges over a map and "+how)
		}
	}
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// counted reports whether the way to a block leads past a comparison of the length of such a map with one or two: where there
// is a single element, it comes first whatever the order.
func counted(m ssa.Value, block *ssa.BasicBlock) bool {
	for d := block.Idom(); d != nil; d = d.Idom() {
		cond, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		op, ok := cond.Cond.(*ssa.BinOp)
		if ok && (lengthOf(op.X, m) && oneOrTwo(op.Y) || lengthOf(op.Y, m) && oneOrTwo(op.X)) {
			return true
		}
	}
	return false
}

func lengthOf(v, m ssa.Value) bool {
	call, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	b, ok := call.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == "len" && types.Identical(call.Call.Args[0].Type(), m.Type())
}

func oneOrTwo(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && (c.Int64() == 1 || c.Int64() == 2)
}

// loop is a loop over a map.
type loop struct {
	head   *ssa.BasicBlock
	blocks map[*ssa.BasicBlock]bool // head included
	key    map[ssa.Value]bool       // the key itself
	taint  map[ssa.Value]bool       // what depends on the element
	phis   map[ssa.Value]bool       // what depends on earlier elements
}

func newLoop(next *ssa.Next) *loop {
	head := next.Block()
	lp := &loop{head: head, blocks: map[*ssa.BasicBlock]bool{head: true}, key: map[ssa.Value]bool{}, taint: map[ssa.Value]bool{}, phis: map[ssa.Value]bool{}}
	// Everything that leads back to the head, and that the head dominates.
	var back func(*ssa.BasicBlock)
	back = func(b *ssa.BasicBlock) {
		if lp.blocks[b] || !head.Dominates(b) {
			return
		}
		lp.blocks[b] = true
		for _, p := range b.Preds {
			back(p)
		}
	}
	for _, p := range head.Preds {
		if head.Dominates(p) {
			back(p)
		}
	}
	for _, ref := range *next.Referrers() {
		if x, ok := ref.(*ssa.Extract); ok && x.Index > 0 {
			spread(x, lp.taint)
			lp.key[x] = lp.key[x] || x.Index == 1
		}
	}
	for _, instr := range head.Instrs {
		if phi, ok := instr.(*ssa.Phi); ok {
			spread(phi, lp.phis)
		}
	}
	return lp
}

// spread marks all that is computed from v.
func spread(v ssa.Value, marks map[ssa.Value]bool) {
	if marks[v] || v.Referrers() == nil {
		return
	}
	marks[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Phi: // where ways meet: see depends
		case *ssa.Store:
			// A variable of a struct is not taken apart into values.
			if a, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == v {
				spread(a, marks)
			}
		case ssa.Value:
			spread(ref, marks)
		}
	}
}

// depends says how what comes of the loop depends on the order; "": it does not, or that cannot be told.
func (lp *loop) depends() string {
	if how := lp.first(lp.exits()); how != "" {
		return how
	}
	for _, instr := range lp.head.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if lp.last(phi) {
			return "keeps the element that happens to come last"
		}
	}
	if lp.unsorted() {
		return "takes elements by their place without sorting them"
	}
	return ""
}

// exit is a way out of a loop before its end.
type exit struct{ from, to *ssa.BasicBlock }

func (lp *loop) exits() []exit {
	if len(lp.blocks) == 1 { // nothing leads back: whatever comes first is the only one
		return []exit{{lp.head, lp.head.Succs[0]}}
	}
	var exits []exit
	for b := range lp.blocks {
		if b == lp.head {
			continue
		}
		for _, out := range b.Succs {
			if !lp.blocks[out] {
				exits = append(exits, exit{b, out})
			}
		}
	}
	return exits
}

// first says how what the loop is left with depends on which element comes first.
func (lp *loop) first(exits []exit) string {
	results := map[string]bool{}
	for _, e := range exits {
		result, picks := lp.leave(e, 8)
		if picks && lp.keyed(e) {
			result, picks = []string{"the element with a key"}, false
		}
		if picks {
			return "takes the element that happens to come first"
		}
		for _, r := range result {
			results[r] = true
		}
	}
	if len(results) > 1 {
		return "lets the element that happens to come first decide between results"
	}
	return ""
}

// keyed reports whether the loop is left this way for one key only: there is no other element to come first.
func (lp *loop) keyed(e exit) bool {
	for b := range lp.blocks {
		cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		eq, ok := cond.Cond.(*ssa.BinOp)
		if !ok || eq.Op != token.EQL || lp.key[eq.X] == lp.key[eq.Y] {
			continue
		}
		if yes := b.Succs[0]; yes == e.to && b == e.from || len(yes.Preds) == 1 && yes.Dominates(e.from) {
			return true
		}
	}
	return false
}

// leave is the constants with which the loop may be left by an exit; picks: with something of the element. Where it depends on
// other things than the element what it is left with, it is not known.
func (lp *loop) leave(e exit, depth int) (results []string, picks bool) {
	var parts []string
	note := func(v ssa.Value) bool {
		if lp.taint[v] {
			return true
		}
		if c, ok := v.(*ssa.Const); ok {
			parts = append(parts, c.String())
		} else {
			parts = append(parts, v.Name())
		}
		return false
	}
	for ; depth > 0; depth-- {
		phis := false
		for _, instr := range e.to.Instrs {
			phi, ok := instr.(*ssa.Phi)
			if !ok {
				break
			}
			phis = true
			for i, p := range e.to.Preds {
				if p == e.from && note(phi.Edges[i]) {
					return nil, len(*phi.Referrers()) > 0
				}
			}
		}
		if phis {
			return []string{strings.Join(parts, ",")}, false
		}
		for _, instr := range e.to.Instrs {
			// The body of a range over a function returns through variables of its own.
			if store, ok := instr.(*ssa.Store); ok {
				if _, captured := store.Addr.(*ssa.FreeVar); captured && note(store.Val) {
					return nil, true
				}
			}
		}
		switch last := e.to.Instrs[len(e.to.Instrs)-1].(type) {
		case *ssa.Return:
			for _, v := range last.Results {
				if note(v) {
					return nil, true
				}
			}
			return []string{strings.Join(parts, ",")}, false
		case *ssa.If:
			if !lp.taint[last.Cond] {
				return nil, false
			}
			for _, to := range e.to.Succs {
				more, picks := lp.leave(exit{e.to, to}, depth-1)
				if picks || more == nil {
					return nil, picks
				}
				for _, r := range more {
					results = append(results, strings.Join(append(parts, r), ","))
				}
			}
			return results, false
		case *ssa.Jump:
			e = exit{e.to, e.to.Succs[0]}
		default:
			return nil, false
		}
	}
	return nil, false
}

// last reports whether phi is the last element that fits, and is used after the loop. One that depends on those before, such
// as the largest, is not.
func (lp *loop) last(phi *ssa.Phi) bool {
	var came []ssa.Value
	for i, p := range lp.head.Preds {
		if !lp.blocks[p] {
			continue
		}
		if v, ok := phi.Edges[i].(*ssa.Phi); ok && v != phi && lp.blocks[v.Block()] {
			came = append(came, v.Edges...)
		} else {
			came = append(came, phi.Edges[i])
		}
	}
	kept, taken := false, false
	for _, v := range came {
		switch {
		case v == phi:
			kept = true
		case lp.element(v):
			taken = true
		default:
			return false
		}
	}
	if !taken || kept && lp.compares() {
		return false
	}
	for _, ref := range *phi.Referrers() {
		if !lp.blocks[ref.Block()] {
			return true
		}
	}
	return false
}

// element reports whether v is the element, or something made of it alone.
func (lp *loop) element(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Extract, *ssa.Field, *ssa.UnOp, *ssa.FieldAddr, *ssa.Convert, *ssa.ChangeType, *ssa.MakeInterface:
		return lp.taint[v] && !lp.phis[v]
	}
	return false
}

// compares reports whether a condition of the loop depends on the elements before.
func (lp *loop) compares() bool {
	for b := range lp.blocks {
		if cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok && lp.phis[cond.Cond] {
			return true
		}
	}
	return false
}

// unsorted reports whether elements are appended to a slice of which one is then taken by a constant index, and that nobody
// is seen to sort.
func (lp *loop) unsorted() bool {
	for b := range lp.blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok {
				continue
			}
			if f, ok := call.Call.Value.(*ssa.Builtin); !ok || f.Name() != "append" {
				continue
			}
			for _, ref := range *call.Referrers() {
				if phi, ok := ref.(*ssa.Phi); ok && phi.Block() == lp.head && taken(phi, lp.blocks) {
					return true
				}
			}
		}
	}
	return false
}

// taken reports whether one of a slice's elements is taken by its place outside of these blocks, and nobody is seen to sort it.
func taken(slice ssa.Value, except map[*ssa.BasicBlock]bool) bool {
	taken := false
	for _, ref := range *slice.Referrers() {
		switch ref := ref.(type) {
		case *ssa.IndexAddr:
			if _, ok := ref.Index.(*ssa.Const); ok && !except[ref.Block()] {
				taken = true
			}
		case ssa.CallInstruction:
			if b, ok := ref.Common().Value.(*ssa.Builtin); ok && (b.Name() == "len" || b.Name() == "append") {
				continue
			}
			if obj := program.Callee(ref.Common()); obj != nil && names.Full(obj) == "strings.Join" {
				taken = true
				continue
			}
			return false
		case *ssa.MakeInterface, *ssa.ChangeType, *ssa.Store:
			return false // sort.Slice(keys, …), sort.Sort(byName(keys))
		}
	}
	return taken
}
