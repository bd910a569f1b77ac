// Package evalmain reports packages of evals in which an outage looks like success.
//
// Where errors skip an eval, with evaltest.OnError("skip") or EVALTEST_ON_ERROR=skip, a provider that is down for the whole run leaves
// nothing but skipped tests, and go test says ok. evaltest.Main makes a package red that was asked to measure something and measured
// nothing; it has to be called, in TestMain.
//
// Bad:
//
//	func TestReport(t *testing.T) {
//		e := evaltest.New(t, evaltest.OnError("skip"))
//		…
//	}
//
// Good:
//
//	func TestMain(m *testing.M) { evaltest.Main(m) }
//
// So is a TestMain that calls m.Run without evaltest.Main. Options, variables and functions of other packages are followed where they
// import evaltest. A TestMain of the package is known to its external test package (package foo_test), and the reverse; one that gives
// m to a function of which nothing is known is left alone.
//
// What the environment says when the tests are run cannot be seen: a project whose CI sets EVALTEST_ON_ERROR asks for evaltest.Main
// everywhere, see [Options]. Evals on a fake testing.TB are not the package's.
//
// The fix adds the function, or calls evaltest.Main in the place of m.Run where nothing comes after it.
package evalmain

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "evalmain"

// Options say which packages have to have evaltest.Main. The zero value is what most projects want.
type Options struct {
	// Always asks for evaltest.Main in every package of evals, since the environment may say that errors skip them.
	Always bool `json:"always"`
}

// New is the analyzer.
func New(opts Options) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: name,
		Doc: "reports packages of evals that skip on errors and have no evaltest.Main\n\n" +
			"Where errors skip evals an outage looks like success, unless TestMain calls evaltest.Main.",
		URL:       names.Page(name),
		Requires:  []*analysis.Analyzer{program.Analyzer},
		FactTypes: []analysis.Fact{new(Does)},
		Run: func(pass *analysis.Pass) (any, error) {
			if pass.ResultOf[program.Analyzer].(*program.Program).Concerned() {
				run(pass, opts)
			}
			return nil, nil
		},
	}
	a.Flags.BoolVar(&opts.Always, "always", opts.Always, "every package of evals has to have evaltest.Main")
	return a
}

func run(pass *analysis.Pass, opts Options) {
	p := newPack(pass)
	p.export()
	if names.Path(pass.Pkg) == names.Evaltest || !p.tests() {
		return // its own package is what Main is in
	}
	beside := siblings(pass)
	evals, skips := p.first(makesEval), p.first(skipsErrors)
	if main := p.testMain(); main != nil {
		does := p.does[pass.TypesInfo.Defs[main.Name]]
		if does&(callsMain|unknown) != 0 || does&runsTests == 0 {
			return
		}
		switch {
		case evals == nil && !beside.evals:
		case skips != nil || beside.skips:
			p.report(main.Name, skips, p.replace(main), "TestMain runs evals that errors skip, without evaltest.Main: an outage looks like success; call evaltest.Main(m) instead of m.Run()")
		case opts.Always:
			p.report(main.Name, evals, p.replace(main), "TestMain runs evals without evaltest.Main; call evaltest.Main(m) instead of m.Run()")
		}
		return
	}
	if evals == nil || beside.testMain || beside.reports(opts) {
		return
	}
	var fix *analysis.SuggestedFix
	if !beside.concerned || !p.external() {
		fix = p.add()
	}
	const advice = "add func TestMain(m *testing.M) { evaltest.Main(m) }"
	switch {
	case skips != nil:
		p.report(skips.at, evals, fix, "errors skip evals of package %s, which has no evaltest.Main: an outage looks like success; "+advice, pass.Pkg.Name())
	case opts.Always:
		p.report(evals.at, nil, fix, "package %s has evals, and no evaltest.Main; "+advice, pass.Pkg.Name())
	}
}

func (p *pack) report(at ast.Node, related *use, fix *analysis.SuggestedFix, format string, args ...any) {
	d := analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)}
	if related != nil && related.at != at {
		d.Related = []analysis.RelatedInformation{{Pos: related.at.Pos(), End: related.at.End(), Message: related.words()}}
	}
	if fix != nil {
		d.SuggestedFixes = []analysis.SuggestedFix{*fix}
	}
	report.Diagnostic(p.pass, d)
}

// testMain is the function that go test calls; nil: there is none here.
func (p *pack) testMain() *ast.FuncDecl {
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && isTestMain(fn) {
				if obj, ok := p.pass.TypesInfo.Defs[fn.Name].(*types.Func); ok && takesM(obj.Signature()) {
					return fn
				}
			}
		}
	}
	return nil
}

func takesM(sig *types.Signature) bool {
	return sig.Params().Len() == 1 && names.IsPointer(sig.Params().At(0).Type(), "testing", "M")
}

// isTestMain reports whether a function can be TestMain, as far as syntax tells.
func isTestMain(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || fn.Name.Name != "TestMain" || fn.Body == nil {
		return false
	}
	params := fn.Type.Params.List
	if len(params) != 1 || len(params[0].Names) > 1 {
		return false
	}
	star, ok := params[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := star.X.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == "M"
	case *ast.Ident:
		return x.Name == "M"
	}
	return false
}

// position is where something is in its file, whatever //line says.
func position(pass *analysis.Pass, pos token.Pos) token.Position {
	return pass.Fset.PositionFor(pos, false)
}
