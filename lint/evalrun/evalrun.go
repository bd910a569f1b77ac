// Package evalrun reports evals that are not run, run twice, or run where their test cannot end, and tests that are failed inside a
// criterion.
//
// An eval belongs to the test that it was made of: Run fails that test, ends it when there is an error, and skips it where the eval
// makes no sense. A test can be ended in its own goroutine alone, while it runs. And criteria say what they see by their score: a
// criterion that fails the test instead is its author's error. Reported are
//
//   - an eval that is never run, is run a second time, or is run in a loop that it was made before;
//   - evaltest.New of an eval instead of a test;
//   - the outer test, or an eval of it, in a subtest, a goroutine, or a Cleanup; Run in a defer;
//   - the test, the eval, or assertions with either, inside a criterion: in a function given to criteria.Check or CheckScore, in a field
//     of an author's own criterion, or in the Grade, LiveVerdict or LiveBounds of a criterion that holds a test in a field;
//   - the end of the test in a Setup or a TearDown, which return errors.
//
// Bad:
//
//	t.Run(tc.name, func(t2 *testing.T) {
//		e := evaltest.New(t, opts...) // not t2
//		e.Expect(criteria.Check("rows add up", func(ct require.TestingT, trial *evaltest.Trial) {
//			rows, err := readRows(trial.Dir)
//			require.NoError(t, err) // not ct
//			…
//		}))
//	}) // and never run
//
// Good:
//
//	t.Run(tc.name, func(t *testing.T) {
//		e := evaltest.New(t, opts...)
//		e.Expect(criteria.Check("rows add up", func(t require.TestingT, trial *evaltest.Trial) {
//			rows, err := readRows(trial.Dir)
//			require.NoError(t, err)
//			…
//		}))
//		e.Run(tc.prompt)
//	})
//
// Evals and tests are followed through variables, function literals and helpers, also those of other packages: a helper that runs the
// eval it is given counts as Run, one that makes an eval and returns it as New, and one that fails the test it is given as t.Fatal.
// Where an eval goes where it cannot be followed (a field, a slice, a function value), nothing is said; and nothing is said of a
// test that may be a stand-in. A test that skips or fails after New need not run its eval.
//
// Where it is certain which t was meant, a fix is suggested.
package evalrun

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "evalrun"

// Options is empty: there is nothing to choose.
type Options struct{}

// New is the analyzer.
func New(Options) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name,
		Doc: "reports evals that are not run, or not in their test, and tests that are failed inside a criterion\n\n" +
			"An eval is run once, in the goroutine of the test that it was made of, and a criterion says what it sees by its score: it uses neither " +
			"the test nor the eval.",
		URL:       names.Page(name),
		Requires:  []*analysis.Analyzer{program.Analyzer},
		FactTypes: []analysis.Fact{new(Fact)},
		Run:       run,
	}
}

func run(pass *analysis.Pass) (any, error) {
	prog := pass.ResultOf[program.Analyzer].(*program.Program)
	if !prog.Concerned() && (prog.Standard() || !imports(pass.Pkg, "testing")) {
		return nil, nil
	}
	if names.Path(pass.Pkg) == names.Evaltest {
		return nil, nil // it is known
	}
	p := &pack{
		pass: pass, prog: prog, facts: map[*types.Func]*Fact{}, roles: map[*ssa.Function]role{}, tests: map[ssa.Value]bool{},
		reported: map[token.Pos]bool{},
	}
	p.summarize()
	p.export() // for packages that import evaltest, and this one
	if !prog.Concerned() {
		return nil, nil
	}
	clear(p.roles)
	p.findTests()
	for _, fn := range prog.Funcs() {
		p.never(fn)
		p.twice(fn)
		p.inside(fn)
	}
	p.criteria()
	return nil, nil
}

func imports(pkg *types.Package, path string) bool {
	for _, imp := range pkg.Imports() {
		if imp.Path() == path {
			return true
		}
	}
	return false
}

// pack is a package, and what is known of its functions.
type pack struct {
	pass *analysis.Pass
	prog *program.Program

	facts map[*types.Func]*Fact // of this package, and those that were asked for of others
	roles map[*ssa.Function]role
	tests map[ssa.Value]bool // of which evals are made

	reported map[token.Pos]bool
}

// report reports a finding at a call, once.
func (p *pack) report(call ssa.CallInstruction, message string, related []analysis.RelatedInformation, fixes ...analysis.SuggestedFix) {
	d := analysis.Diagnostic{Pos: call.Common().Pos(), Message: message, Related: related, SuggestedFixes: fixes}
	if x := p.prog.Expr(call); x != nil {
		d.Pos, d.End = x.Pos(), x.End()
	}
	if p.reported[d.Pos] {
		return
	}
	p.reported[d.Pos] = true
	report.Diagnostic(p.pass, d)
}
