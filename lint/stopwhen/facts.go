package stopwhen

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
)

// A Fact is what a helper always does with what it is given: parameters count from the receiver on.
type Fact struct {
	Arms []Arm
	Runs []int  // evals that it runs
	Says []Said // evals of which it says what can be said before they run only
	Same bool   // what it makes depends on its parameters alone: given the same, it makes the same
}

// An Arm is a criterion that a helper arms, made of what it is given, or for what it is told.
type Arm struct {
	Eval        int            // the parameter; -1: none
	Criterion   int            // the parameter; -1: it is made of others
	Each        bool           // the parameter is a slice, and each of it is armed
	When, Reach *polarity.Expr // in terms of the parameters
	Options     bool           // it gives options
}

// Said is a method of an eval that a helper calls.
type Said struct {
	Eval   int // the parameter
	Method string
}

// AFact makes it a fact.
func (*Fact) AFact() {}

func (f *Fact) String() string {
	var words []string
	for _, a := range f.Arms {
		what := fmt.Sprintf("parameter %d", a.Criterion)
		if a.Criterion < 0 {
			what = "what it makes"
		}
		if a.Each {
			what = "each of " + what
		}
		when := a.When.Set().String()
		if !a.When.Fixed() {
			when = "what it is told"
		}
		words = append(words, fmt.Sprintf("arms %s for %s", what, when))
	}
	for _, n := range f.Runs {
		words = append(words, fmt.Sprintf("runs parameter %d", n))
	}
	for _, s := range f.Says {
		words = append(words, fmt.Sprintf("calls %s of parameter %d", s.Method, s.Eval))
	}
	if f.Same {
		words = append(words, "makes the same of the same")
	}
	return strings.Join(words, ", ")
}

// factOf is what a function always does; nil: nothing that is known.
func (p *pack) factOf(obj *types.Func) *Fact {
	obj = obj.Origin()
	if f, ok := p.facts[obj]; ok {
		return f
	}
	p.facts[obj] = nil // under way
	if obj.Pkg() != p.pass.Pkg {
		if f := new(Fact); p.pass.ImportObjectFact(obj, f) {
			p.facts[obj] = f
		}
		return p.facts[obj]
	}
	fn := p.prog.Func(obj)
	if fn == nil || len(fn.Blocks) == 0 {
		return nil
	}
	f := &Fact{Same: p.alike(fn)}
	evals.Calls(fn, func(call ssa.CallInstruction) {
		if _, now := call.(*ssa.Call); !now {
			return
		}
		for _, a := range p.armings(call) {
			arm := Arm{Eval: parameter(fn, a.eval), Criterion: parameter(fn, a.criterion), When: a.when, Reach: a.reach, Options: !bare(a.options)}
			if slice := ranged(a.criterion); arm.Criterion < 0 && parameter(fn, slice) >= 0 {
				arm.Criterion, arm.Each = parameter(fn, slice), true
			}
			if (arm.Each || !arm.When.Fixed() || !arm.Reach.Fixed()) && a.row == 0 && always(call, arm) {
				f.Arms = append(f.Arms, arm)
			}
		}
		runs, says := p.runs(call), p.says(call)
		if len(runs)+len(says) == 0 || len(conditions(call)) > 0 {
			return
		}
		for _, v := range runs {
			if n := parameter(fn, v); n >= 0 && !slices.Contains(f.Runs, n) {
				f.Runs = append(f.Runs, n)
			}
		}
		for _, s := range says {
			said := Said{Eval: parameter(fn, s.eval), Method: s.method}
			if said.Eval >= 0 && !slices.Contains(f.Says, said) {
				f.Says = append(f.Says, said)
			}
		}
	})
	if len(f.Arms)+len(f.Runs)+len(f.Says) > 0 || f.Same {
		p.facts[obj] = f
	}
	return p.facts[obj]
}

// parameter is the number of the parameter that a value is; -1: it is none.
func parameter(fn *ssa.Function, v ssa.Value) int {
	if v == nil {
		return -1
	}
	of := evals.Origin(v)
	return slices.IndexFunc(fn.Params, func(q *ssa.Parameter) bool { return of == ssa.Value(q) })
}

// ranged is the slice that a value is an element of; nil: it is none.
func ranged(v ssa.Value) ssa.Value {
	if v == nil {
		return nil
	}
	if load, ok := evals.Origin(v).(*ssa.UnOp); ok {
		if at, ok := load.X.(*ssa.IndexAddr); ok {
			return evals.Origin(at.X)
		}
	}
	return nil
}
