package stopwhen

import (
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// before are the methods of an eval that have to be called before Run.
var before = map[string]bool{"StopWhen": true, "Expect": true, "Workspace": true, "WorkspaceDir": true}

// late reports what is said of an eval after it has run: in fn, and in function literals that are made after that.
func (p *pack) late(fn *ssa.Function) {
	evals.Calls(fn, func(call ssa.CallInstruction) {
		name := method(call)
		if !before[name] || len(call.Common().Args) == 0 {
			return
		}
		eval := evals.Origin(call.Common().Args[0])
		for at := fn; at != nil; at = at.Parent() {
			here := evals.In(at, call)
			if here == nil {
				return
			}
			if run := p.ran(at, eval, here); run != nil {
				p.report(call, where(run.Pos(), "it is run here"), "%s after Run: the agent is done, and its test ends here; say all that is asked of the agent before it runs", name)
				return
			}
		}
	})
}

// ran is a call in fn by which the eval has run whenever an instruction is carried out; nil: there is none.
func (p *pack) ran(fn *ssa.Function, eval ssa.Value, by ssa.Instruction) (run ssa.CallInstruction) {
	evals.Calls(fn, func(call ssa.CallInstruction) {
		if _, now := call.(*ssa.Call); now && method(call) == "Run" && len(call.Common().Args) > 0 &&
			evals.Origin(call.Common().Args[0]) == eval && evals.Before(call, by) {
			run = call
		}
	})
	return run
}

// twice reports a criterion that fn arms twice on an eval, or arms and expects.
func (p *pack) twice(fn *ssa.Function) {
	var all []ssa.CallInstruction
	evals.Calls(fn, func(call ssa.CallInstruction) {
		switch name := method(call); {
		case name == "StopWhen" && len(call.Common().Args) == 4, name == "Expect" && len(call.Common().Args) == 3:
			all = append(all, call)
		}
	})
	for i, second := range all {
		for j, first := range all {
			if i == j || !evals.Before(first, second) || method(first) == "Expect" && method(second) == "Expect" {
				continue
			}
			c := criterionOf(second)
			if evals.Origin(first.Common().Args[0]) != evals.Origin(second.Common().Args[0]) || !same(criterionOf(first), c, 0) {
				continue
			}
			what := "the criterion"
			if x := p.prog.Expr(second); x != nil {
				n := len(x.Args)
				if method(second) == "StopWhen" && n >= 2 {
					what = program.Text(x.Args[1], what)
				} else if n >= 1 {
					what = program.Text(x.Args[0], what)
				}
			}
			if method(first) == "StopWhen" && method(second) == "StopWhen" {
				p.report(second, where(first.Pos(), "it is armed here"), "%s is armed twice, and counts twice; arm it once, for Decided or for both polarities", what)
			} else {
				p.report(second, where(first.Pos(), "it is here already"), "%s is armed and expected, and counts twice; what is armed is expected, too: leave Expect out", what)
			}
			break
		}
	}
}

func criterionOf(call ssa.CallInstruction) ssa.Value {
	args := call.Common().Args
	return args[len(args)-2]
}

// same reports whether it is certain that two criteria, or two arguments of their constructors, are the same.
func same(a, b ssa.Value, depth int) bool {
	a, b = evals.Origin(a), evals.Origin(b)
	if x, ok := a.(*ssa.Const); ok {
		y, ok := b.(*ssa.Const)
		return ok && x.String() == y.String()
	}
	if a == b {
		return true
	}
	if load, ok := a.(*ssa.UnOp); ok && load.Op == token.MUL { // of a variable of the package
		other, ok := b.(*ssa.UnOp)
		_, global := load.X.(*ssa.Global)
		return ok && other.Op == token.MUL && global && load.X == other.X
	}
	x, ok := a.(*ssa.Call)
	if !ok {
		return sameElements(a, b, depth)
	}
	y, ok := b.(*ssa.Call)
	if !ok || depth > 10 {
		return false
	}
	obj := program.Callee(&x.Call)
	if obj == nil || obj != program.Callee(&y.Call) || !polarity.Builtin(obj) || len(x.Call.Args) != len(y.Call.Args) {
		return false
	}
	for i := range x.Call.Args {
		if !same(x.Call.Args[i], y.Call.Args[i], depth+1) {
			return false
		}
	}
	return true
}

func sameElements(a, b ssa.Value, depth int) bool {
	as, bs := elements(a), elements(b)
	if len(as) == 0 || len(as) != len(bs) || depth > 10 {
		return false
	}
	for i := range as {
		if !same(as[i], bs[i], depth+1) {
			return false
		}
	}
	return true
}

func where(pos token.Pos, message string) []analysis.RelatedInformation {
	return []analysis.RelatedInformation{{Pos: pos, Message: message}}
}
