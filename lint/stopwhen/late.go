package stopwhen

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// before are the methods of an eval that have to be called before Run.
var before = map[string]bool{"StopWhen": true, "Expect": true, "Workspace": true, "WorkspaceDir": true}

// saying is that a call says something of an eval that can be said before it runs only.
type saying struct {
	eval   ssa.Value
	method string
	helper string // the helper that says it; empty: none
}

// says is what a call always says of evals.
func (p *pack) says(call ssa.CallInstruction) []saying {
	args := call.Common().Args
	if name := method(call); name != "" {
		if before[name] && len(args) > 1 {
			return []saying{{eval: args[0], method: name}}
		}
		return nil
	}
	var all []saying
	if obj := program.Callee(call.Common()); obj != nil {
		if f := p.factOf(obj); f != nil {
			for _, s := range f.Says {
				if s.Eval < len(args) {
					all = append(all, saying{args[s.Eval], s.Method, obj.Name()})
				}
			}
		}
	}
	return all
}

// runs is the evals that a call always runs.
func (p *pack) runs(call ssa.CallInstruction) []ssa.Value {
	args := call.Common().Args
	if name := method(call); name != "" {
		if name == "Run" && len(args) > 1 {
			return args[:1]
		}
		return nil
	}
	var all []ssa.Value
	if obj := program.Callee(call.Common()); obj != nil {
		if f := p.factOf(obj); f != nil {
			for _, n := range f.Runs {
				if n < len(args) {
					all = append(all, args[n])
				}
			}
		}
	}
	return all
}

// late reports what is said of an eval after it has run: in fn, and in function literals that are made after that.
func (p *pack) late(fn *ssa.Function) {
	evals.Calls(fn, func(call ssa.CallInstruction) {
		for _, s := range p.says(call) {
			if slices.ContainsFunc(p.runs(call), func(v ssa.Value) bool { return placeOf(v) == placeOf(s.eval) }) {
				continue // the helper says it, and runs the eval
			}
			if run := p.ran(call, s.eval); run != nil {
				what := s.method
				if s.helper != "" {
					what = s.helper + " calls " + s.method
				}
				p.report(call, 0, where(run.Pos(), "it is run here"), "%s after Run: the agent is done, and its test ends here; say all that is asked of the agent before it runs", what)
				return
			}
		}
	})
}

// ran is a call by which an eval has run whenever another call is made; nil: there is none.
func (p *pack) ran(by ssa.CallInstruction, eval ssa.Value) (run ssa.CallInstruction) {
	at := placeOf(eval)
	for fn := by.Parent(); fn != nil && run == nil; fn = fn.Parent() {
		here := evals.In(fn, by)
		if here == nil {
			return nil
		}
		evals.Calls(fn, func(call ssa.CallInstruction) {
			if _, now := call.(*ssa.Call); !now || !evals.Before(call, here) {
				return
			}
			for _, v := range p.runs(call) {
				if placeOf(v) == at && p.steady(eval, fn, call, by) {
					run = call
				}
			}
		})
	}
	return run
}

func where(pos token.Pos, message string) []analysis.RelatedInformation {
	return []analysis.RelatedInformation{{Pos: pos, Message: message}}
}
