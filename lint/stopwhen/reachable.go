package stopwhen

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// reachable reports what fn arms for what it cannot reach.
func (p *pack) reachable(fn *ssa.Function) {
	for _, b := range polarity.Feasible(fn) {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				for _, a := range p.armings(call) {
					p.checkReach(a)
				}
			}
		}
	}
}

func (p *pack) checkReach(a arming) {
	if c, ok := a.when.(*ssa.Const); ok && c.Value != nil && (c.Int64() == 0 || polarity.Exactly(c.Int64()).Open) {
		p.report(a.call, nil, "the polarity %d is none; use Pass, Fail, Pass|Fail or Decided", c.Int64())
		return
	}
	when, reach := a.set(p.reach), p.reach.Value(a.criterion)
	what := program.Text(a.x, "the criterion")
	for _, bit := range []int{names.Pass, names.Fail} {
		if !reach.Cannot(bit) || !when.Must(bit) && !when.Decided() {
			continue
		}
		switch {
		case reach.Cannot(names.Pass) && reach.Cannot(names.Fail):
			p.report(a.call, nil, "%s is armed for %v, and can decide nothing before the end; use Expect", what, when)
			return
		case when.Must(bit):
			p.report(a.call, nil, "%s is armed for %v, and can reach %v alone; arm it for that, or use Expect", what, when, reach)
			return
		}
	}
	if when.Mask != 0 && !when.Open && p.prevents(a.options) {
		if when.Must(names.Pass) || when.Decided() && reach.Must(names.Pass) {
			p.report(a.call, nil, "Prevent is for what is armed for Fail alone: there is nothing to prevent in what is armed for Pass; leave it out, or use StopWhen(Fail, …)")
		}
	}
}

// prevents reports whether the options are written out, and Prevent is one of them.
func (p *pack) prevents(options ssa.Value) bool {
	for _, o := range elements(options) {
		if call, ok := o.(*ssa.Call); ok {
			if obj := program.Callee(&call.Call); obj != nil && is(obj, "Prevent") {
				return true
			}
		}
	}
	return false
}

func is(obj *types.Func, name string) bool { return names.Full(obj) == names.Evaltest+"."+name }

// elements is the elements of a slice that is written out; nil: they are not known.
func elements(v ssa.Value) []ssa.Value {
	s, ok := v.(*ssa.Slice)
	if !ok || s.Low != nil || s.High != nil {
		return nil
	}
	array, ok := s.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	found := map[int64]ssa.Value{}
	for _, ref := range *array.Referrers() {
		switch ref := ref.(type) {
		case *ssa.IndexAddr:
			index, ok := ref.Index.(*ssa.Const)
			if !ok || len(*ref.Referrers()) != 1 {
				return nil
			}
			store, ok := (*ref.Referrers())[0].(*ssa.Store)
			if !ok || store.Addr != ref {
				return nil
			}
			found[index.Int64()] = store.Val
		case *ssa.Slice, *ssa.DebugRef:
		default:
			return nil
		}
	}
	all := make([]ssa.Value, 0, len(found))
	for i := range int64(len(found)) {
		if found[i] == nil {
			return nil
		}
		all = append(all, found[i])
	}
	return all
}
