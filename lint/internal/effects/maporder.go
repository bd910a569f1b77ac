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
			if r, ok := instr.(*ssa.Range); ok {
				if _, ok := r.X.Type().Underlying().(*types.Map); ok {
					l.rangeOver(r)
				}
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
		lp := newLoop(next)
		if lp == nil {
			continue
		}
		if how := lp.depends(); how != "" {
			l.add(r.Pos(), MapOrder, "ranges over a map and "+how)
		}
	}
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
		if _, ok := ref.(*ssa.Phi); ok {
			continue // where ways meet: see depends
		}
		if x, ok := ref.(ssa.Value); ok {
			spread(x, marks)
		}
	}
}

// depends says how what comes of the loop depends on the order; "": it does not, or that cannot be told.
func (lp *loop) depends() string {
	results := map[string]bool{}
	for b := range lp.blocks {
		if b == lp.head {
			continue
		}
		for _, out := range b.Succs {
			if lp.blocks[out] {
				continue
			}
			result, picks := lp.leave(b, out)
			if picks && lp.keyed(b, out) {
				result, picks = "the element with a key", false
			}
			if picks {
				return "takes the element that happens to come first"
			}
			if result != "" {
				results[result] = true
			}
		}
	}
	if len(results) > 1 {
		return "lets the element that happens to come first decide between results"
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

// keyed reports whether the loop is left this way for one key only: there is no other element to come first.
func (lp *loop) keyed(from, to *ssa.BasicBlock) bool {
	for b := range lp.blocks {
		cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		eq, ok := cond.Cond.(*ssa.BinOp)
		if !ok || eq.Op != token.EQL || lp.key[eq.X] == lp.key[eq.Y] {
			continue
		}
		if yes := b.Succs[0]; yes == to && b == from || len(yes.Preds) == 1 && yes.Dominates(from) {
			return true
		}
	}
	return false
}

// leave is the constants with which the loop is left from one block to another; picks: with something of the element.
func (lp *loop) leave(from, to *ssa.BasicBlock) (result string, picks bool) {
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
	for range 8 {
		phis := false
		for _, instr := range to.Instrs {
			phi, ok := instr.(*ssa.Phi)
			if !ok {
				break
			}
			phis = true
			for i, p := range to.Preds {
				if p == from && note(phi.Edges[i]) {
					return "", len(*phi.Referrers()) > 0
				}
			}
		}
		if phis {
			return strings.Join(parts, ","), false
		}
		for _, instr := range to.Instrs {
			// The body of a range over a function returns through variables of its own.
			if store, ok := instr.(*ssa.Store); ok {
				if _, captured := store.Addr.(*ssa.FreeVar); captured && note(store.Val) {
					return "", true
				}
			}
		}
		switch last := to.Instrs[len(to.Instrs)-1].(type) {
		case *ssa.Return:
			for _, v := range last.Results {
				if note(v) {
					return "", true
				}
			}
			return strings.Join(parts, ","), false
		case *ssa.Jump:
			from, to = to, to.Succs[0]
		default:
			return "", false
		}
	}
	return "", false
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
				if phi, ok := ref.(*ssa.Phi); ok && phi.Block() == lp.head && lp.taken(phi) {
					return true
				}
			}
		}
	}
	return false
}

func (lp *loop) taken(slice *ssa.Phi) bool {
	taken := false
	for _, ref := range *slice.Referrers() {
		switch ref := ref.(type) {
		case *ssa.IndexAddr:
			if _, ok := ref.Index.(*ssa.Const); ok && !lp.blocks[ref.Block()] {
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
