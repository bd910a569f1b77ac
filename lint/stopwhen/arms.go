package stopwhen

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// arming is a criterion that a call arms, itself or as the call of a helper.
type arming struct {
	call        ssa.CallInstruction
	eval        ssa.Value      // nil: the helper has its own
	when, reach *polarity.Expr // what it is armed for, and what it can reach
	says        ssa.Value      // the polarity; nil: the helper's
	criterion   ssa.Value      // nil: the helper makes it
	text        string         // the criterion, as it is written
	polarity    string         // as it is written; empty: it is not
	options     ssa.Value      // nil: the helper's
	row         token.Pos      // where the criterion or its polarity stands in a table; 0: in none
}

// armings is what a call arms, for each row of the table that it is told from.
func (p *pack) armings(call ssa.CallInstruction) []arming {
	obj := program.Callee(call.Common())
	if obj == nil {
		return nil
	}
	direct := method(call) == "StopWhen"
	var f *Fact
	if !direct {
		f = p.factOf(obj)
	}
	if !direct && (f == nil || len(f.Arms) == 0) {
		return nil
	}
	var all []arming
	for _, v := range p.variants(call) {
		if direct {
			all = append(all, p.armed(call, v)...)
		} else {
			all = append(all, p.helped(call, obj, f, v)...)
		}
	}
	return all
}

// armed is what a call of StopWhen arms.
func (p *pack) armed(call ssa.CallInstruction, v variant) []arming {
	if len(v.args) != 4 { // a method value
		return nil
	}
	a := arming{
		call: call, eval: v.args[0], says: v.args[1], criterion: v.args[2], options: v.args[3], row: v.row,
		when: p.reach.Expr(v.args[1]), reach: p.reach.Expr(v.args[2]),
	}
	a.text = p.text(v, 2, "the criterion")
	if v.args[1] == call.Common().Args[1] {
		a.polarity = p.text(v, 1, "")
	}
	return []arming{a}
}

// helped is what the call of a helper arms.
func (p *pack) helped(call ssa.CallInstruction, helper *types.Func, f *Fact, v variant) []arming {
	var all []arming
	for _, arm := range f.Arms {
		a := arming{
			call: call, row: v.row, when: p.reach.Given(arm.When, v.args), reach: p.reach.Given(arm.Reach, v.args),
			text: "the criterion that " + helper.Name() + " makes",
		}
		if !arm.Options {
			a.options = ssa.NewConst(nil, options)
		}
		if 0 <= arm.Eval && arm.Eval < len(v.args) {
			a.eval = v.args[arm.Eval]
		}
		switch {
		case arm.Criterion >= len(v.args):
		case arm.Each:
			for i, c := range p.elements(v.args[arm.Criterion]) {
				if c == nil {
					continue
				}
				a.criterion, a.reach, a.text = c, p.reach.Expr(c), p.text(v, arm.Criterion+i, "the criterion")
				all = append(all, a)
			}
		case arm.Criterion >= 0:
			a.criterion, a.text = v.args[arm.Criterion], p.text(v, arm.Criterion, "the criterion")
			all = append(all, a)
		default:
			all = append(all, a)
		}
	}
	return all
}

// text is the i-th argument, as it is written, or other words.
func (p *pack) text(v variant, i int, otherwise string) string {
	var x ast.Expr
	if i < len(v.args) && v.row.IsValid() && v.args[i] != v.call.Common().Args[i] { // of a table
		if made, ok := evals.Origin(v.args[i]).(*ssa.Call); ok {
			if call := p.prog.Expr(made); call != nil {
				x = call
			}
		}
	} else if call := p.prog.Expr(v.call); call != nil {
		if p.receiver(call) {
			i--
		}
		if 0 <= i && i < len(call.Args) {
			x = call.Args[i]
		}
	}
	return program.Text(x, otherwise)
}

// receiver reports whether a call has its receiver before the name of the method, and not among the arguments.
func (p *pack) receiver(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := p.pass.TypesInfo.Selections[sel]
	return s != nil && s.Kind() == types.MethodVal
}

// method is the name of the method of *evaltest.T that is called; empty: none is.
func method(call ssa.CallInstruction) string {
	obj := program.Callee(call.Common())
	if obj == nil || names.Path(obj.Pkg()) != names.Evaltest {
		return ""
	}
	return evals.Method(obj)
}

// elements is the elements of a slice that is written out; nil: they are not known.
func (p *pack) elements(v ssa.Value) []ssa.Value {
	if s, ok := evals.Origin(v).(*ssa.Slice); ok && s.Low == nil && s.High == nil {
		if t := p.tableOf(s); t != nil {
			all := make([]ssa.Value, 0, len(t.rows))
			for _, row := range t.rows {
				all = append(all, row.at(nil, t.elem).value)
			}
			return all
		}
	}
	return nil
}

// options stands for a list of options.
var options = types.NewSlice(types.Universe.Lookup("any").Type())

// bare reports whether there are certainly no options.
func bare(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}
