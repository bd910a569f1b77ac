package evalrun

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
)

// inside reports what a function literal does to tests and evals of the functions around it, and evals that are made of evals.
func (p *pack) inside(fn *ssa.Function) {
	evals.Calls(fn, func(call ssa.CallInstruction) {
		for _, d := range p.deeds(call) {
			if d.act == makes && evals.Is(d.on.Type()) {
				p.report(call, fmt.Sprintf("%s makes an eval of an eval, and what it reports becomes the other's; give it the test", p.words(d)), p.whereMade(d.on))
				continue
			}
			if _, ok := call.(*ssa.Defer); ok && d.act == runs && p.realEval(d.on) {
				p.late(d)
				continue
			}
			if _, ok := call.(*ssa.Go); ok && p.beside(d) {
				continue
			}
			if lit, r := p.innermost(fn, d.on); lit != nil {
				p.in(lit, r, d)
			}
		}
	})
}

// innermost is the closest function literal around fn, or fn itself, of which is known what it is for, and that v comes from
// outside of.
func (p *pack) innermost(fn *ssa.Function, v ssa.Value) (*ssa.Function, role) {
	for f := fn; f != nil && outside(v, f); f = f.Parent() {
		if r := p.role(f); r != 0 {
			return f, r
		}
	}
	return nil, 0
}

// in reports what is wrong with a deed in a function literal.
func (p *pack) in(lit *ssa.Function, r role, d deed) {
	switch r {
	case grader, field:
		p.inGrader(lit, r, d)
	case hook:
		if d.act == ends && (evals.IsTest(d.on.Type()) || p.realEval(d.on)) {
			p.report(d.call, fmt.Sprintf("%s in a Setup or TearDown ends the test in a goroutine that is not the test's; return an error", p.words(d)), p.declaration(d.on))
		}
	case subtest:
		p.inSubtest(lit, d)
	case goroutine:
		p.beside(d)
	case cleanup:
		if d.act == runs && p.realEval(d.on) {
			p.report(d.call, fmt.Sprintf("%s in a Cleanup runs the eval when its test is over, where no agent runs any more; run it in the test", p.words(d)), p.whereMade(d.on))
		}
	case deferred:
		if d.act == runs && p.realEval(d.on) {
			p.late(d)
		}
	}
}

// late reports an eval that is run at the end of a function.
func (p *pack) late(d deed) {
	p.report(d.call, fmt.Sprintf("%s is deferred, so that the agent is run even when the test was skipped or has failed before; call it where the eval is complete", p.words(d)), p.whereMade(d.on))
}

// inSubtest reports the outer test, and evals of it, in a subtest.
func (p *pack) inSubtest(lit *ssa.Function, d deed) {
	words := p.words(d)
	switch d.act {
	case makes:
		if evals.IsRunning(d.on.Type()) {
			p.report(d.call, fmt.Sprintf("%s in a subtest makes an eval of the outer test, which cannot be ended there; give it %s", words, own(lit)), p.declaration(d.on), p.rename(lit, d)...)
		}
	case runs:
		if p.realEval(d.on) {
			p.report(d.call, fmt.Sprintf("%s in a subtest runs an eval of the outer test, which cannot be ended there; make an eval of %s", words, own(lit)), p.whereMade(d.on))
		}
	case ends:
		switch {
		case p.realEval(d.on):
			p.report(d.call, fmt.Sprintf("%s in a subtest ends the outer test, which only its own goroutine can do; use %s", words, own(lit)), p.whereMade(d.on), p.rename(lit, d)...)
		case evals.IsRunning(d.on.Type()) && p.usesEvals(lit):
			p.report(d.call, fmt.Sprintf("%s in a subtest with an eval ends the outer test, which only its own goroutine can do; use %s", words, own(lit)), p.declaration(d.on), p.rename(lit, d)...)
		}
	}
}

// own names the test that a subtest is given.
func own(lit *ssa.Function) string {
	for _, v := range lit.Params {
		if evals.IsTest(v.Type()) && nameOf(v) != "" {
			return "the subtest's own " + nameOf(v)
		}
	}
	return "the test that the subtest is given"
}

// usesEvals reports whether a function, or a function literal in it, makes or runs evals.
func (p *pack) usesEvals(fn *ssa.Function) (found bool) {
	nest(fn, func(fn *ssa.Function) {
		evals.Calls(fn, func(call ssa.CallInstruction) {
			for _, d := range p.deeds(call) {
				found = found || d.act == makes && evals.IsRunning(d.on.Type()) || d.act == runs && p.realEval(d.on)
			}
		})
	})
	return found
}

// beside reports evals that are made, run or ended beside their test.
func (p *pack) beside(d deed) bool {
	words := p.words(d)
	switch {
	case d.act == makes && evals.IsRunning(d.on.Type()):
		p.report(d.call, fmt.Sprintf("%s in a goroutine makes an eval there that only the test's own goroutine can end or skip; use a subtest with t.Parallel", words), p.declaration(d.on))
	case d.act == runs && p.realEval(d.on):
		p.report(d.call, fmt.Sprintf("%s in a goroutine runs an eval there that only the test's own goroutine can end or skip; use a subtest with t.Parallel", words), p.whereMade(d.on))
	case d.act == ends && p.realEval(d.on):
		p.report(d.call, fmt.Sprintf("%s in a goroutine ends the test, which only its own goroutine can do; use Error, and return", words), p.whereMade(d.on))
	default:
		return false
	}
	return true
}

// declaration points at where a test comes from.
func (p *pack) declaration(test ssa.Value) []analysis.RelatedInformation {
	if pos := test.Pos(); pos != token.NoPos {
		return []analysis.RelatedInformation{{Pos: pos, Message: "the test is this one"}}
	}
	return nil
}
