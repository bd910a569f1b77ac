package graderr

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// An arrival is a way on which a function returns: to the block in which, or through the edge on which it is settled what.
type arrival struct {
	ret      *ssa.Return
	at, pred *ssa.BasicBlock // pred is not nil: the edge from pred to at

	of ssa.Value // the call whose score it is, if it is that of a call: it is fixed where that call failed

	direct bool // the edge is where a condition has been found true, or false, one of several: if err != nil || len(data) == 0
}

// A way is what a function returns on an arrival.
type way struct {
	arrival
	score, err ssa.Value // err is nil where there is none
}

// ways is all that the function returns without an error.
func (g *grader) ways() []way {
	return slices.DeleteFunc(g.returns(), func(w way) bool { return w.err != nil && !g.noErr(w.err, 0) })
}

// returns is all that the function returns.
func (g *grader) returns() []way {
	var found []way
	for _, b := range g.fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) == 0 || b == g.fn.Recover {
			continue
		}
		w := way{arrival: arrival{ret: ret, at: b}, score: ret.Results[0]}
		if g.err != noError {
			w.err = ret.Results[g.err]
		}
		g.split(w, 0, &found)
	}
	return found
}

// split follows a way back to where it is settled what is returned.
func (g *grader) split(w way, depth int, found *[]way) {
	w.score = resolve(w.score)
	if w.err != nil {
		w.err = resolve(w.err)
	}
	if depth < 10 {
		phi, _ := w.err.(*ssa.Phi)
		other, _ := w.score.(*ssa.Phi)
		if phi == nil {
			phi = other
		}
		if phi != nil {
			for i, pred := range phi.Block().Preds {
				next := w
				next.at, next.pred = phi.Block(), pred
				if w.err == phi {
					next.err = phi.Edges[i]
				}
				if other != nil && other.Block() == phi.Block() {
					next.score = other.Edges[i]
				}
				if next.err != phi && next.score != phi {
					g.split(next, depth+1, found)
				}
			}
			return
		}
	}
	*found = append(*found, w)
}

// noErr reports whether an error is nil, for certain.
func (a *analyzer) noErr(v ssa.Value, depth int) bool {
	v = resolve(v)
	if isNil(v) {
		return true
	}
	x, ok := v.(*ssa.Extract)
	if !ok || depth > 3 {
		return false
	}
	fn := a.own(x.Tuple)
	return fn != nil && everyResult(fn, x.Index, func(v ssa.Value) bool { return a.noErr(v, depth+1) })
}

// own is the function of the package that a call calls; nil for another, and for what is no call.
func (a *analyzer) own(v ssa.Value) *ssa.Function {
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	if obj := program.Callee(&call.Call); obj != nil {
		return a.prog.Func(obj)
	}
	fn := call.Call.StaticCallee()
	if fn != nil && fn.Parent() != nil { // a function literal
		return fn
	}
	return nil
}

// everyResult reports whether all that a function returns, at least one, has a property.
func everyResult(fn *ssa.Function, i int, has func(ssa.Value) bool) bool {
	n := 0
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && b != fn.Recover && i < len(ret.Results) {
			if !has(ret.Results[i]) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// resolve is what a variable holds that SSA keeps in memory, such as a named result beside a defer; v if it cannot be told.
func resolve(v ssa.Value) ssa.Value {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return v
	}
	a, ok := load.X.(*ssa.Alloc)
	if !ok {
		return v
	}
	if _, ok := load.Type().Underlying().(*types.Struct); ok && !names.IsScore(load.Type()) {
		return v
	}
	block, from := load.Block(), len(load.Block().Instrs)
	for i, instr := range block.Instrs {
		if instr == load {
			from = i
		}
	}
	for range 50 {
		for i := from - 1; i >= 0; i-- {
			switch instr := block.Instrs[i].(type) {
			case *ssa.Store:
				if instr.Addr == a {
					return resolve(instr.Val)
				}
			case *ssa.Alloc:
				if instr == a {
					return ssa.NewConst(nil, load.Type()) // as it began
				}
			case *ssa.UnOp:
			default:
				if uses(instr, a) {
					return v
				}
			}
		}
		if len(block.Preds) != 1 {
			return v
		}
		block = block.Preds[0]
		from = len(block.Instrs)
	}
	return v
}

// uses reports whether an instruction gives the address of a variable to someone.
func uses(instr ssa.Instruction, a *ssa.Alloc) bool {
	for _, op := range instr.Operands(nil) {
		if *op == a {
			return true
		}
	}
	return false
}

// leaks reports whether the address of a variable is given away in an interface, as json.Unmarshal(data, &v) does.
func leaks(addr ssa.Value) bool {
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MakeInterface, *ssa.Phi, *ssa.Return:
			return true
		case *ssa.Store:
			if ref.Val == addr {
				return true
			}
		case *ssa.FieldAddr:
			if leaks(ref) {
				return true
			}
		}
	}
	return false
}

// arrivals is the ways on which a score is returned that is fixed.
func (g *grader) arrivals() []arrival {
	var found []arrival
	for _, w := range g.ways() {
		if g.fixed(w.score) {
			found = append(found, w.arrival)
			found = append(found, direct(w.arrival)...)
			continue
		}
		if x, ok := w.score.(*ssa.Extract); ok && names.IsScore(x.Type()) {
			w.of = x.Tuple
			found = append(found, w.arrival)
			continue
		}
		if cond := passIf(w.score); cond != nil {
			g.settled(w.arrival, cond, map[ssa.Value]bool{}, &found)
		}
	}
	return found
}

// direct is the edges through which a branch leads to an arrival that others lead to as well, if there is another end to it.
func direct(a arrival) []arrival {
	if a.pred != nil || len(a.at.Preds) < 2 {
		return nil
	}
	var found []arrival
	for _, pred := range a.at.Preds {
		if _, ok := pred.Instrs[len(pred.Instrs)-1].(*ssa.If); !ok {
			continue
		}
		for _, other := range pred.Succs {
			if other != a.at && endsElsewhere(other, map[*ssa.BasicBlock]bool{a.at: true}) {
				found = append(found, arrival{ret: a.ret, at: a.at, pred: pred, direct: true})
			}
		}
	}
	return found
}

// endsElsewhere reports whether a function can return from a block on without going through those that were seen.
func endsElsewhere(b *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) bool {
	if seen[b] {
		return false
	}
	seen[b] = true
	if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
		return true
	}
	for _, succ := range b.Succs {
		if endsElsewhere(succ, seen) {
			return true
		}
	}
	return false
}

// settled is the ways on which a condition that is scored is true or false as code shows.
func (g *grader) settled(from arrival, cond ssa.Value, seen map[ssa.Value]bool, found *[]arrival) {
	if seen[cond] {
		return
	}
	seen[cond] = true
	switch v := cond.(type) {
	case *ssa.UnOp:
		if v.Op == token.NOT {
			g.settled(from, v.X, seen, found)
		}
	case *ssa.Phi:
		for i, e := range v.Edges {
			at := arrival{ret: from.ret, at: v.Block(), pred: v.Block().Preds[i]}
			if _, ok := e.(*ssa.Const); ok {
				*found = append(*found, at)
			} else {
				g.settled(at, e, seen, found)
			}
		}
	}
}

// passIf is the condition of which PassIf makes a score, with a reason or not; nil: it is another score.
func passIf(score ssa.Value) ssa.Value {
	for range 5 {
		if isBool(score) {
			return score
		}
		call, ok := score.(*ssa.Call)
		if !ok {
			return nil
		}
		switch scoring(call) {
		case "PassIf":
			return call.Call.Args[0]
		case "Because", "Labels", "Complement":
			score = call.Call.Args[0]
		default:
			return nil
		}
	}
	return nil
}

func isBool(v ssa.Value) bool {
	b, ok := v.Type().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Bool
}

// scoring is the name of a function of evaltest that makes a score; "": it is none.
func scoring(call *ssa.Call) string {
	obj := program.Callee(&call.Call)
	if obj == nil {
		return ""
	}
	switch path := names.Path(obj.Pkg()); {
	case path != names.Evaltest && path != names.Verdict:
		return ""
	case obj.Signature().Recv() != nil && !names.IsScore(obj.Signature().Recv().Type()):
		return ""
	}
	switch obj.Name() {
	case "PassIf", "Points", "Ratio", "Because", "Labels", "Complement":
		return obj.Name()
	}
	return ""
}
