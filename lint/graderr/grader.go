package graderr

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

// analyzer looks at one package.
type analyzer struct {
	pass *analysis.Pass
	prog *program.Program
	opts Options

	faults   map[*ssa.Function]*Fault
	reported map[token.Pos]bool
}

// noError says that a function returns a score alone.
const noError = -1

// scores reports whether a function returns a score, and which of its results is the error.
func scores(sig *types.Signature) (err int, ok bool) {
	r := sig.Results()
	if r.Len() == 0 || !names.IsScore(r.At(0).Type()) {
		return 0, false
	}
	switch {
	case r.Len() == 1:
		return noError, true
	case r.Len() == 2 && isError(r.At(1).Type()):
		return 1, true
	}
	return 0, false
}

var errorType = types.Universe.Lookup("error").Type()

func isError(t types.Type) bool { return types.Identical(t, errorType) }

// grader is a function that scores.
type grader struct {
	*analyzer
	fn  *ssa.Function
	err int // which result is the error

	scorer string                 // what scores the answer of this function
	inner  map[*ssa.Function]bool // the functions whose answers are scored, on the way to this one

	tests []test
}

func (g *grader) check() {
	if len(g.fn.Blocks) == 0 {
		return
	}
	g.tests = testsOf(g.fn)
	if !g.failed() {
		for _, at := range g.arrivals() {
			g.arrival(at)
		}
	}
	g.compared()
	g.dropped()
	g.helpers()
	g.deferred()
}

// failed reports whether the score is always 0: then no error has made it so.
func (g *grader) failed() bool {
	for _, w := range g.returns() {
		if !g.zero(w.score) {
			return false
		}
	}
	return true
}

// arrival looks at one way on which a score that is fixed is returned without an error.
func (g *grader) arrival(at arrival) {
	// The innermost test that the way has failed.
	for i := len(g.tests) - 1; i >= 0; i-- {
		t := g.tests[i]
		if t.says == notNil && t.besides(at) {
			return // something else went well, after an error or before
		}
		if !t.leadsTo(at) || at.direct && t.says == notNil && t.from != at.pred {
			continue
		}
		switch t.says {
		case nothing, agents:
			return // told apart
		case fault:
			if !g.ownLimit(t) && (at.of == nil || of(t.err, at.of)) {
				g.report(finding{at: at.ret.Pos(), test: &t, kind: never, what: "an error that is " + t.what})
			}
			return
		case notNil:
			if s, ok := g.blamed(t.err, at); ok {
				g.report(finding{at: at.ret.Pos(), test: &t, kind: s.kind, what: s.what, source: s, fixable: s.certain && at.pred == nil})
			}
			return
		}
	}
	if what, ok := g.ended(at); ok && at.of == nil {
		g.report(finding{at: at.ret.Pos(), kind: never, what: what})
	}
}

// blamed is the source of an error that is never, or not always, the agent's failure and is not told apart.
func (g *grader) blamed(err ssa.Value, at arrival) (source, bool) {
	for _, s := range g.sources(err) {
		if s.kind == unknown || g.toldApart(s, at) || at.of != nil && !of(s.value, at.of) {
			continue
		}
		return s, true
	}
	return source{}, false
}

// of reports whether an error is that of a call.
func of(err, call ssa.Value) bool {
	x, ok := err.(*ssa.Extract)
	return ok && x.Tuple == call
}

// toldApart reports whether the function returns the error on some path, or has looked at what it is on this one.
func (g *grader) toldApart(s source, at arrival) bool {
	for _, b := range g.fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if ok && b != g.fn.Recover && g.err != noError && len(ret.Results) > g.err && g.contains(ret.Results[g.err], s.value) {
			return true
		}
	}
	for _, t := range g.tests {
		if t.says == notNil || !g.contains(t.err, s.value) {
			continue
		}
		// Beside the branch of errors.Is(err, fs.ErrNotExist) are the errors that are not the agent's.
		if t.says == agents && at.ret != nil && t.besides(at) {
			continue
		}
		return true
	}
	return false
}

// A finding is an error that becomes a score.
type finding struct {
	at      token.Pos
	kind    kind
	what    string // the error: "the error of os.ReadFile"
	source  source
	test    *test
	dropped bool
	fixable bool
}

func (g *grader) report(f finding) {
	if !f.at.IsValid() {
		f.at = g.fn.Pos()
	}
	if g.reported[f.at] {
		return
	}
	g.reported[f.at] = true
	verb := "scores"
	if f.dropped {
		verb = "drops"
	}
	if g.scorer != "" {
		verb = "makes an answer of"
	}
	d := analysis.Diagnostic{Pos: f.at, Message: fmt.Sprintf("%s %s %s; %s", g.name(), verb, f.what, f.kind.advice())}
	if g.err == noError {
		d.Message += ", as a second result"
	}
	if pos := f.source.pos; pos.IsValid() && pos != f.at {
		d.Related = append(d.Related, analysis.RelatedInformation{Pos: pos, Message: "the error comes from here"})
	}
	if f.test != nil && (f.fixable || f.test.says == fault) {
		if fix := g.fix(f); fix != nil {
			d.SuggestedFixes = []analysis.SuggestedFix{*fix}
		}
	}
	report.Diagnostic(g.pass, d)
}

// name is the function for people: Report.Grade, score, or what a function literal is in.
func (g *grader) name() string {
	fn, literal := g.fn, false
	for fn.Parent() != nil {
		fn, literal = fn.Parent(), true
	}
	text := fn.Name()
	if obj := program.Object(fn); obj != nil {
		text = obj.Name()
		if n := names.TypeName(obj); n != nil {
			text = n.Name() + "." + text
		}
	}
	switch {
	case literal && text == "init":
		return "a function that scores"
	case literal:
		return "a function in " + text
	}
	if g.scorer != "" {
		text += ", whose answer " + g.scorer + " scores,"
	}
	return text
}
