package stopwhen

import (
	"cmp"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
)

// reachable reports what fn arms for what it cannot reach, and what else StopWhen refuses.
func (p *pack) reachable(fn *ssa.Function) {
	for _, b := range polarity.Feasible(fn) {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			all := p.armings(call)
			if len(all) == 0 || p.guarded(call) {
				continue
			}
			for _, a := range all {
				p.check(a)
			}
		}
	}
}

// check reports an arming that StopWhen refuses whenever the test comes to it.
func (p *pack) check(a arming) {
	when, reach := a.when.Set(), a.reach.Set()
	if what := p.wrong(a); what != "" {
		p.say(a, "%s", what)
		return
	}
	switch {
	case none(a):
		p.say(a, "the polarity %s is none; use Pass, Fail, Pass|Fail or Decided", cmp.Or(a.polarity, when.String()))
	case refused(when, reach) && reach == polarity.Exactly(0):
		p.say(a, "%s is armed for %v, and can decide nothing before the end; use Expect", a.text, when)
	case refused(when, reach):
		p.say(a, "%s is armed for %v, and can reach %v alone; arm it for that, or use Expect", a.text, when, reach)
	case p.prevents(a.options) && !preventable(when, reach):
		p.say(a, "Prevent is for what is armed for Fail alone: there is nothing to prevent in what is armed for Pass; leave it out, or use StopWhen(Fail, …)")
	}
}

// wrong is what is wrong with the criterion or the options, whatever it is armed for; empty: nothing that is known.
func (p *pack) wrong(a arming) string {
	if a.criterion != nil {
		if what := p.misuse(a.criterion, 0); what != "" {
			return what
		}
	}
	return p.option(a.options)
}

// say reports an arming: at the row of the table where it comes from one.
func (p *pack) say(a arming, format string, args ...any) {
	if a.row.IsValid() && a.row != a.call.Pos() {
		p.report(a.call, a.row, where(a.call.Pos(), "it is armed here"), format, args...)
		return
	}
	p.report(a.call, 0, nil, format, args...)
}

// none reports whether the polarity is none that StopWhen takes.
func none(a arming) bool {
	if a.when.Set() == polarity.Exactly(0) {
		return true
	}
	if a.says == nil {
		return false
	}
	c, ok := evals.Origin(a.says).(*ssa.Const)
	return ok && c.Value != nil && polarity.Exactly(c.Int64()).Open
}

// refused reports whether a criterion that reaches this is refused where it is armed for that, whatever of it they turn out to be.
func refused(when, reach polarity.Set) bool {
	return every(when, reach, func(w, r int) bool { return w == names.Decided && r == 0 || w != names.Decided && w&r != w })
}

// preventable reports whether Prevent may go with this.
func preventable(when, reach polarity.Set) bool {
	if !when.Decided() {
		reach = polarity.Exactly(0) // it does not matter
	}
	return !every(when, reach, func(w, r int) bool { return w != names.Fail && !(w == names.Decided && r == names.Fail) })
}

// every reports whether the values of two sets are known, and each pair of them is so.
func every(when, reach polarity.Set, so func(when, reach int) bool) bool {
	ws, rs := values(when), values(reach)
	for _, w := range ws {
		for _, r := range rs {
			if !so(w, r) {
				return false
			}
		}
	}
	return len(ws) > 0 && len(rs) > 0
}

// values is what a polarity can be; none: it is not known.
func values(s polarity.Set) []int {
	if s.Open {
		return nil
	}
	var all []int
	for v := range 4 {
		if s.Has(v) {
			all = append(all, v)
		}
	}
	if s.Decided() {
		all = append(all, names.Decided)
	}
	return all
}
