// Package livepolarity reports live criteria whose StopPolarities and LiveVerdict do not agree.
//
// A criterion that says Failed without having declared Fail breaks its contract: it is disarmed in the middle of the trial. One
// that declares Fail and can never say Failed is armed in vain: the run is never stopped, and nobody learns why.
//
// Bad:
//
//	func (c *NoRm) StopPolarities() evaltest.Polarity { return evaltest.Pass }
//
//	func (c *NoRm) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
//		if c.count(tr).Ran() > 0 {
//			return evaltest.Failed // not declared
//		}
//		return evaltest.Undecided
//	}
//
// Good:
//
//	func (c *NoRm) StopPolarities() evaltest.Polarity { return evaltest.Fail }
//
// What is declared and what is said is followed through helpers, embedded criteria, variables and constants. Where it depends on
// what a field holds or a table says, it is not known, and nothing is said. A criterion with LiveBounds may declare what its
// verdict never says, since its bounds may rise and fall.
//
// evaltest.Decided is for StopWhen: as an answer of StopPolarities it is reported, too. So is a verdict that is none.
package livepolarity

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "livepolarity"

// Options is empty: there is nothing to choose.
type Options struct{}

// New is the analyzer.
func New(Options) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name,
		Doc: "reports live criteria whose StopPolarities and LiveVerdict do not agree\n\n" +
			"A verdict that is returned has to be declared, and a polarity that is declared has to be reached on some path.",
		URL:      names.Page(name),
		Requires: []*analysis.Analyzer{polarity.Analyzer},
		Run:      run,
	}
}

func run(pass *analysis.Pass) (any, error) {
	reach := pass.ResultOf[polarity.Analyzer].(*polarity.Result)
	if !reach.Program().Concerned() {
		return nil, nil
	}
	scope := pass.Pkg.Scope()
	for _, n := range scope.Names() {
		obj, ok := scope.Lookup(n).(*types.TypeName)
		if ok && !obj.IsAlias() && !types.IsInterface(obj.Type()) {
			check(pass, reach, obj)
		}
	}
	return nil, nil
}

// pair is the methods of a criterion that have to agree, each as it was selected from the criterion.
type pair struct {
	pass  *analysis.Pass
	reach *polarity.Result
	typ   *types.TypeName

	polarities, verdict *types.Func
}

func check(pass *analysis.Pass, reach *polarity.Result, obj *types.TypeName) {
	m := names.MethodsOf(types.NewPointer(obj.Type()))
	if m.StopPolarities == nil || m.LiveVerdict == nil {
		return
	}
	p := &pair{pass: pass, reach: reach, typ: obj}
	p.polarities, _ = m.StopPolarities.Obj().(*types.Func)
	p.verdict, _ = m.LiveVerdict.Obj().(*types.Func)
	fact := reach.Of(obj)
	if p.polarities == nil || p.verdict == nil || fact == nil {
		return
	}
	declared, reached := fact.Declared.Set(), fact.Reached.Set()
	ownPolarities, ownVerdict := len(m.StopPolarities.Index()) == 1, len(m.LiveVerdict.Index()) == 1

	if ownPolarities {
		for _, c := range p.certain(p.polarities) {
			if c.set.Decided() {
				p.report(c.pos, p.polarities, "StopPolarities of %s returns Decided, which is for StopWhen alone; return Pass, Fail or both", p.typ.Name())
				return
			}
		}
	}
	if ownVerdict {
		for _, c := range p.certain(p.verdict) {
			if c.is != nil && c.is.Value != nil && (c.is.Int64() < 0 || c.is.Int64() > names.Fail) {
				p.report(c.pos, p.polarities, "%s says %v, which is no verdict; return Undecided, Passed or Failed", p.typ.Name(), c.is.Value)
			}
		}
		for _, word := range words {
			bit := word.bit
			if !declared.Cannot(bit) {
				continue
			}
			for _, c := range p.certain(p.verdict) {
				if c.set.Has(bit) {
					p.report(c.pos, p.polarities, "%s says %s, and its StopPolarities declares %v; declare %s, or leave it undecided", p.typ.Name(), word.verdict, declared, word.polarity)
				}
			}
		}
	}
	if ownPolarities && m.LiveBounds == nil && !reached.Open {
		for _, word := range words {
			bit := word.bit
			if reached.Has(bit) {
				continue
			}
			for _, c := range p.certain(p.polarities) {
				if c.set.May(bit) {
					p.report(c.pos, p.verdict, "%s declares %s, and its LiveVerdict never says %s; do not declare what no path returns", p.typ.Name(), word.polarity, word.verdict)
				}
			}
		}
	}
}

// words is how a polarity and its verdict are called; their numbers are the same.
var words = []struct {
	bit               int
	polarity, verdict string
}{
	{names.Pass, "Pass", "Passed"},
	{names.Fail, "Fail", "Failed"},
}

func (p *pair) report(pos token.Pos, other *types.Func, format string, args ...any) {
	d := analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...)}
	if other.Pkg() == p.pass.Pkg && other.Pos().IsValid() {
		d.Related = []analysis.RelatedInformation{{Pos: other.Pos(), Message: "its " + other.Name() + " is here"}}
	}
	report.Diagnostic(p.pass, d)
}
