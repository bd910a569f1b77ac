package evalrun

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
)

// twice reports evals that fn runs again, where it is certain that both runs are of the same eval, one after the other.
func (p *pack) twice(fn *ssa.Function) {
	at := map[ssa.Value][]deed{} // where each eval is run
	var all []ssa.Value
	evals.Calls(fn, func(instr ssa.CallInstruction) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			return
		}
		for _, d := range p.runsOf(call) {
			// What a literal in fn makes is another eval each time it is called.
			if h := home(d.on); p.realEval(d.on) && (h == fn || outside(d.on, fn)) {
				if at[d.on] == nil {
					all = append(all, d.on)
				}
				at[d.on] = append(at[d.on], d)
			}
		}
	})
	for _, eval := range all {
		for _, d := range at[eval] {
			if p.looped(d.call, eval) {
				p.report(d.call, fmt.Sprintf("%s is in a loop, and runs an eval that was made before it: the second time is an error; make the eval in the loop", p.words(d)), p.whereMade(eval))
				continue
			}
			if j := slices.IndexFunc(at[eval], func(first deed) bool { return follows(first.call, d.call, eval) }); j >= 0 {
				p.report(d.call, fmt.Sprintf("%s runs the eval a second time, which is an error; make another eval with New, or give one Run several prompts, each a user turn", p.words(d)),
					[]analysis.RelatedInformation{{Pos: at[eval][j].call.Pos(), Message: "it was run here"}})
			}
		}
	}
}

// runsOf is the evals that a call always runs.
func (p *pack) runsOf(call *ssa.Call) (all []deed) {
	for _, d := range p.deeds(call) {
		if d.act == runs {
			all = append(all, d)
		}
	}
	lit := call.Call.StaticCallee()
	if lit == nil || lit.Parent() == nil {
		return all
	}
	for i, v := range call.Call.Args {
		if evals.Is(v.Type()) && i < len(lit.Params) && p.alwaysRuns(lit, lit.Params[i], 0) {
			all = append(all, deed{call, runs, v, evals.Origin(v), false})
		}
	}
	nest(lit, func(inner *ssa.Function) {
		evals.Calls(inner, func(c ssa.CallInstruction) {
			for _, d := range p.deeds(c) {
				if d.act == runs && outside(d.on, lit) && p.alwaysRuns(lit, d.on, 0) {
					all = append(all, deed{call, runs, d.on, d.on, false})
				}
			}
		})
	})
	return all
}

// alwaysRuns reports whether fn runs the eval whenever it returns.
func (p *pack) alwaysRuns(fn *ssa.Function, eval ssa.Value, depth int) bool {
	if len(fn.Blocks) == 0 || depth > 5 {
		return false
	}
	found := false
	returns := reaches(fn.Blocks[0], 0, func(instr ssa.Instruction) bool {
		call, ok := instr.(*ssa.Call)
		if !ok {
			return false
		}
		run := slices.ContainsFunc(p.deeds(call), func(d deed) bool { return d.act == runs && d.on == eval })
		if lit := call.Call.StaticCallee(); !run && lit != nil && lit.Parent() != nil {
			run = p.alwaysRuns(lit, eval, depth+1)
		}
		found = found || run
		return run
	})
	return found && !returns
}

// follows reports whether the eval is run by first whenever it is run by call, or the reverse, and first comes first.
func follows(first, call ssa.CallInstruction, eval ssa.Value) bool {
	a, b := first.Block(), call.Block()
	if first == call {
		return false
	}
	if a == b {
		return slices.Index(a.Instrs, ssa.Instruction(first)) < slices.Index(a.Instrs, ssa.Instruction(call))
	}
	if a.Dominates(b) {
		return true
	}
	if b.Dominates(a) {
		return false
	}
	// From first on there is no way around call.
	made, _ := eval.(ssa.Instruction)
	from := slices.Index(a.Instrs, ssa.Instruction(first)) + 1
	passed := false
	returns := reaches(a, from, func(instr ssa.Instruction) bool {
		if instr == ssa.Instruction(call) {
			passed = true
			return true
		}
		return false
	})
	again := made != nil && made.Parent() == a.Parent() && cycle(a, made.Block())
	return passed && !returns && !again
}

// looped reports whether a call is in a loop that the eval is not made in, and is made each time around.
func (p *pack) looped(call ssa.CallInstruction, eval ssa.Value) bool {
	b := call.Block()
	var loop map[*ssa.BasicBlock]bool
	var ends []*ssa.BasicBlock
	for _, head := range b.Parent().Blocks {
		body, latches := natural(head)
		if body[b] && (loop == nil || len(body) < len(loop)) {
			loop, ends = body, latches
		}
	}
	if loop == nil {
		return isLoop(b.Parent()) && outside(eval, b.Parent()) && p.eachTime(call)
	}
	if made, ok := eval.(ssa.Instruction); ok && loop[made.Block()] {
		return false
	}
	for _, end := range ends {
		if !b.Dominates(end) {
			return false
		}
	}
	return true
}

// eachTime reports whether the body of a loop over a function goes on to the next round, and only after the call.
func (p *pack) eachTime(call ssa.CallInstruction) bool {
	n := 0
	for _, b := range call.Parent().Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) != 1 {
			continue
		}
		if c, ok := ret.Results[0].(*ssa.Const); ok && c.Value != nil && types.Identical(c.Type().Underlying(), types.Typ[types.Bool]) && c.Value.ExactString() == "true" {
			if !call.Block().Dominates(b) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// natural is the loop that begins at head: its blocks, and those from which it goes back; nil: none does.
func natural(head *ssa.BasicBlock) (body map[*ssa.BasicBlock]bool, latches []*ssa.BasicBlock) {
	for _, pred := range head.Preds {
		if head.Dominates(pred) {
			latches = append(latches, pred)
		}
	}
	if latches == nil {
		return nil, nil
	}
	body = map[*ssa.BasicBlock]bool{head: true}
	work := slices.Clone(latches)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !body[b] {
			body[b] = true
			work = append(work, b.Preds...)
		}
	}
	return body, latches
}

// cycle reports whether there is a way from a to b.
func cycle(a, b *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(*ssa.BasicBlock) bool
	walk = func(x *ssa.BasicBlock) bool {
		for _, s := range x.Succs {
			if s == b {
				return true
			}
			if !seen[s] {
				seen[s] = true
				if walk(s) {
					return true
				}
			}
		}
		return false
	}
	return walk(a)
}

// whereMade points at the call that made an eval.
func (p *pack) whereMade(eval ssa.Value) []analysis.RelatedInformation {
	if x, ok := eval.(*ssa.Extract); ok {
		eval = x.Tuple
	}
	if call, ok := eval.(*ssa.Call); ok {
		return []analysis.RelatedInformation{{Pos: call.Pos(), Message: "the eval is made here"}}
	}
	return nil
}
