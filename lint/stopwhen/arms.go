package stopwhen

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// A Fact is what a helper arms of what it is given: parameters count from the receiver on.
type Fact struct{ Arms []Arm }

// An Arm is a criterion that a helper arms.
type Arm struct {
	Criterion int   // the parameter
	When      int   // the parameter that says for what; -1: Const
	Const     int64 // the polarity
}

// AFact makes it a fact.
func (*Fact) AFact() {}

func (f *Fact) String() string {
	var words []string
	for _, a := range f.Arms {
		when := fmt.Sprintf("parameter %d", a.When)
		if a.When < 0 {
			when = polarity.Exactly(a.Const).String()
		}
		words = append(words, fmt.Sprintf("arms parameter %d for %s", a.Criterion, when))
	}
	return strings.Join(words, ", ")
}

// arming is a criterion that a call arms.
type arming struct {
	call      ssa.CallInstruction
	eval      ssa.Value // nil for one that a helper arms
	when      ssa.Value // nil: is
	is        int64
	criterion ssa.Value
	x         ast.Expr  // the criterion as it is written; nil: it is not
	options   ssa.Value // nil: a helper's
}

// set is what is known of the polarity.
func (a arming) set(reach *polarity.Result) polarity.Set {
	if a.when == nil {
		return polarity.Exactly(a.is)
	}
	return reach.Value(a.when)
}

// armings is what a call arms, itself or as the call of a helper.
func (p *pack) armings(call ssa.CallInstruction) []arming {
	obj := program.Callee(call.Common())
	if obj == nil {
		return nil
	}
	args := call.Common().Args
	at := func(i int) ast.Expr { // as it is written
		x := p.prog.Expr(call)
		if x != nil && obj.Signature().Recv() != nil && len(x.Args) == len(args)-1 {
			i--
		}
		if x == nil || i < 0 || i >= len(x.Args) {
			return nil
		}
		return x.Args[i]
	}
	if method(call) == "StopWhen" {
		if len(args) != 4 { // a method value
			return nil
		}
		a := arming{call: call, eval: args[0], when: args[1], criterion: args[2], options: args[3]}
		if x := p.prog.Expr(call); x != nil && len(x.Args) >= 2 {
			a.x = x.Args[1]
		}
		return []arming{a}
	}
	f := p.factOf(obj)
	if f == nil {
		return nil
	}
	var all []arming
	for _, arm := range f.Arms {
		if arm.Criterion >= len(args) || arm.When >= len(args) {
			continue
		}
		a := arming{call: call, is: arm.Const, criterion: args[arm.Criterion], x: at(arm.Criterion)}
		if arm.When >= 0 {
			a.when = args[arm.When]
		}
		all = append(all, a)
	}
	return all
}

// method is the name of the method of *evaltest.T that is called; empty: none is.
func method(call ssa.CallInstruction) string {
	obj := program.Callee(call.Common())
	if obj == nil || names.Path(obj.Pkg()) != names.Evaltest {
		return ""
	}
	return evals.Method(obj)
}

// factOf is what a function arms of what it is given; nil: nothing that is known.
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
	if fn == nil {
		return nil
	}
	param := func(v ssa.Value) int {
		if v == nil {
			return -1
		}
		of := evals.Origin(v)
		return slices.IndexFunc(fn.Params, func(q *ssa.Parameter) bool { return of == ssa.Value(q) })
	}
	f := new(Fact)
	evals.Calls(fn, func(call ssa.CallInstruction) {
		for _, a := range p.armings(call) {
			arm := Arm{Criterion: param(a.criterion), When: param(a.when), Const: a.is}
			if c, ok := a.when.(*ssa.Const); ok && c.Value != nil {
				arm.Const = c.Int64()
			} else if arm.When < 0 && a.when != nil {
				continue
			}
			if arm.Criterion >= 0 && !slices.Contains(f.Arms, arm) {
				f.Arms = append(f.Arms, arm)
			}
		}
	})
	if len(f.Arms) > 0 {
		p.facts[obj] = f
	}
	return p.facts[obj]
}
