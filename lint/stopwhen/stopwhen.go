// Package stopwhen reports criteria that are armed for what they cannot reach, too late, or twice.
//
// A run says so at the same line, and so late that an agent may be waiting already; and of a criterion that is armed twice it says
// nothing: it counts twice. Reported are
//
//   - a polarity that the criterion cannot reach, or none at all;
//   - StopWhen, Expect, Workspace and WorkspaceDir after Run;
//   - a criterion that is armed twice, or armed and expected: what is armed is expected, too;
//   - Prevent on what is not armed for Fail alone;
//   - what else StopWhen refuses whatever the agent does: a criterion that is nil or was built of what does not fit, such as
//     WithinCalls of one that looks at the workspace, and options out of their range.
//
// Bad:
//
//	e.StopWhen(evaltest.Pass, criteria.Never(criteria.CommandExecuted("rm"))) // until the end rm can still run
//	e.StopWhen(evaltest.Fail, criteria.CommandExecuted("go test"))            // it can still come
//	e.StopWhen(evaltest.Decided, criteria.AllOf(tests, criteria.FileExists("out.csv")))
//	e.Expect(criteria.CommandExecuted("go test")) // the same again
//
// Good:
//
//	e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
//	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go test"))
//	e.Expect(criteria.AllOf(tests, criteria.FileExists("out.csv")))
//
// What a criterion can reach is known through constructors, struct literals, embedding, generic types and the built-in
// combinators, also those of other packages. So is what a helper arms, asks and runs of what it is given, and a row of a table is
// reported where it is written. Where it depends on what is known only when the test runs, or where the test or the helper asks
// first what a criterion reaches, nothing is said.
//
// The same criterion twice is no mistake with another PassAt, as an advisory one, or with Prevent for Fail beside Pass.
package stopwhen

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "stopwhen"

// Options is empty: there is nothing to choose.
type Options struct{}

// New is the analyzer.
func New(Options) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name,
		Doc: "reports criteria that are armed for what they cannot reach, too late, or twice\n\n" +
			"StopWhen takes a polarity that its criterion can reach, before Run, and once for each criterion.",
		URL:       names.Page(name),
		Requires:  []*analysis.Analyzer{program.Analyzer, polarity.Analyzer},
		FactTypes: []analysis.Fact{new(Fact)},
		Run:       run,
	}
}

func run(pass *analysis.Pass) (any, error) {
	prog := pass.ResultOf[program.Analyzer].(*program.Program)
	if !prog.Concerned() || names.Path(pass.Pkg) == names.Evaltest {
		return nil, nil
	}
	p := &pack{pass: pass, prog: prog, reach: pass.ResultOf[polarity.Analyzer].(*polarity.Result), facts: map[*types.Func]*Fact{}}
	for _, fn := range prog.Funcs() {
		if obj, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil && fn.Synthetic == "" {
			if f := p.factOf(obj); f != nil && obj.Exported() {
				pass.ExportObjectFact(obj, f)
			}
		}
		p.reachable(fn)
		p.late(fn)
		p.twice(fn)
	}
	return nil, nil
}

// pack is a package, and what is known of its helpers.
type pack struct {
	pass  *analysis.Pass
	prog  *program.Program
	reach *polarity.Result
	facts map[*types.Func]*Fact

	globals *globals // nil: nobody has asked yet
}

// report reports a finding at a call, or at another place.
func (p *pack) report(call ssa.CallInstruction, at token.Pos, related []analysis.RelatedInformation, format string, args ...any) {
	d := analysis.Diagnostic{Pos: call.Pos(), Message: fmt.Sprintf(format, args...), Related: related}
	if at.IsValid() {
		d.Pos = at
	} else if x := p.prog.Expr(call); x != nil {
		d.Pos, d.End = x.Pos(), x.End()
	}
	report.Diagnostic(p.pass, d)
}
