package stopwhen

import (
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// asked is a criterion that a call adds to an eval.
type asked struct {
	call      ssa.CallInstruction
	eval      ssa.Value
	criterion ssa.Value
	when      polarity.Set // nothing: it is expected
	armed     bool
	options   ssa.Value
	text      string
}

// added is the criteria that fn adds to evals.
func (p *pack) added(fn *ssa.Function) []asked {
	var all []asked
	evals.Calls(fn, func(call ssa.CallInstruction) {
		args := call.Common().Args
		if method(call) == "Expect" && len(args) == 3 {
			v := variant{call: call, args: args}
			all = append(all, asked{call: call, eval: args[0], criterion: args[1], options: args[2], text: p.text(v, 1, "the criterion")})
			return
		}
		for _, a := range p.armings(call) {
			if a.row == 0 && a.eval != nil && a.criterion != nil {
				all = append(all, asked{call, a.eval, a.criterion, a.when.Set(), true, a.options, a.text})
			}
		}
	})
	return all
}

// twice reports a criterion that fn arms twice on an eval, or arms and expects.
func (p *pack) twice(fn *ssa.Function) {
	all := p.added(fn)
	for j, second := range all {
		for i, first := range all {
			if i == j || !first.armed && !second.armed || first.call != second.call && !evals.Before(first.call, second.call) || first.call == second.call && i > j {
				continue
			}
			if placeOf(first.eval) != placeOf(second.eval) || !p.steady(second.eval, fn, first.call, second.call) || !p.same(first.criterion, second.criterion, 0) || !p.redundant(first, second) {
				continue
			}
			if first.armed && second.armed {
				p.report(second.call, 0, where(first.call.Pos(), "it is armed here"), "%s is armed twice, and counts twice; arm it once, for Decided or for both polarities", second.text)
			} else {
				p.report(second.call, 0, where(first.call.Pos(), "it is here already"), "%s is armed and expected, and counts twice; what is armed is expected, too: leave Expect out", second.text)
			}
			break
		}
	}
}

// redundant reports whether nothing but a mistake explains why a criterion is added a second time. PassAt asks another question of
// the same criterion, an advisory one counts for nothing, and Prevent keeps what is armed for Fail apart from what is armed for Pass.
func (p *pack) redundant(first, second asked) bool {
	a, known := p.optionsOf(first.options)
	b, both := p.optionsOf(second.options)
	if !known || !both || a["PassAt"] || b["PassAt"] || a["Advisory"] || b["Advisory"] {
		return false
	}
	if overlap := first.when.Decided() || second.when.Decided() || common(first.when, second.when); !first.armed || !second.armed || overlap {
		return true
	}
	return len(a) == 0 && len(b) == 0
}

// common reports whether both polarities are sure to hold the same bit.
func common(a, b polarity.Set) bool {
	return a.Must(names.Pass) && b.Must(names.Pass) || a.Must(names.Fail) && b.Must(names.Fail)
}

// optionsOf is the names of the options of evaltest that are written out; not known: there may be others.
func (p *pack) optionsOf(v ssa.Value) (map[string]bool, bool) {
	found := map[string]bool{}
	if bare(v) {
		return found, true
	}
	if v == nil { // a helper's
		return found, false
	}
	list := p.elements(v)
	for _, o := range list {
		call, ok := evals.Origin(o).(*ssa.Call)
		if !ok {
			return found, false
		}
		obj := program.Callee(&call.Call)
		if obj == nil || names.Path(obj.Pkg()) != names.Evaltest {
			return found, false
		}
		found[obj.Name()] = true
	}
	return found, list != nil
}
