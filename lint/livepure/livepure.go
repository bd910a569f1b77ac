// Package livepure reports live criteria whose verdict depends on more than the trajectory and their own constant fields.
//
// A live verdict is asked for at every event, on every prefix, in several goroutines, and once more when the trial is
// graded: one that reads a clock or keeps a count of its own says something else each time, and a stop that rests on it is
// wrong. So LiveVerdict, LiveBounds and StopPolarities, and the functions that they call, in whatever package, must not
//
//   - read a clock, draw random numbers, look at files, the environment or the network, run processes, print;
//   - start goroutines, use channels, locks or atomics;
//   - write to fields or to variables of a package, or sort a slice that is in a field; read variables that are changed;
//   - let the order in which a map is gone over decide.
//
// The same holds for the steps of agents.Fold, FoldPrefixes, Tally, Weigh and View, which are run once for each event, whenever
// that is: what they remember belongs into what they return.
//
// Bad:
//
//	func (c *Slow) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
//		if time.Since(c.started) > c.limit { // the same trajectory, judged later, fails
//			return evaltest.Failed
//		}
//		return evaltest.Undecided
//	}
//
//	func (c *Retries) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
//		c.seen++ // counts how often it was asked
//		…
//	}
//
// Good:
//
//	type spanKey struct{}
//
//	func (c *Slow) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
//		took := agents.Fold(tr, spanKey{}, func(s span, e agents.Event) span {
//			if s.first.IsZero() {
//				s.first = e.Time
//			}
//			s.last = e.Time
//			return s
//		})
//		if took.last.Sub(took.first) > c.limit {
//			return evaltest.Failed
//		}
//		return evaltest.Undecided
//	}
//
// Writing to variables of the function, to what it made itself, and to what a trajectory remembers (the state of a fold, with
// its maps and locks) is fine. So is a sync.Once that compiles a pattern from a field. Of calls of interface methods and of function
// values nothing is known, and nothing is said: see [Options].
package livepure

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/effects"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "livepure"

// Options say what is known of functions that code does not show. The zero value is what most projects want.
type Options struct {
	// Strict reports calls of which nothing is known, too: of interface methods, of function values, and of functions of the
	// standard library that depend on how they are used.
	Strict bool `json:"strict"`
	// Pure lists functions that are pure whatever they seem to do, by full name (example.com/clock.Frozen,
	// (*example.com/cache.Cache).Get), and packages of such functions, by import path.
	Pure []string `json:"pure"`
	// Impure lists functions and packages that are not, in the same form.
	Impure []string `json:"impure"`
}

// New is the analyzer.
func New(opts Options) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: name,
		Doc: "reports live criteria that depend on more than the trajectory\n\n" +
			"LiveVerdict, LiveBounds and StopPolarities, the functions that they call and the steps of agents.Fold and its like must not read " +
			"clocks, random numbers, files or changing variables, start goroutines, keep state, or let the order of a map decide.",
		URL:       names.Page(name),
		Requires:  []*analysis.Analyzer{program.Analyzer},
		FactTypes: []analysis.Fact{new(effects.Fact), new(effects.Changing)},
		Run: func(pass *analysis.Pass) (any, error) {
			run(pass, opts)
			return nil, nil
		},
	}
	a.Flags.BoolVar(&opts.Strict, "strict", opts.Strict, "report calls of which nothing is known, too")
	report.ListVar(&a.Flags, &opts.Pure, "pure", "functions and packages that are pure, by full name, with commas between")
	report.ListVar(&a.Flags, &opts.Impure, "impure", "functions and packages that are not, by full name, with commas between")
	return a
}

func run(pass *analysis.Pass, opts Options) {
	prog := pass.ResultOf[program.Analyzer].(*program.Program)
	if prog.Standard() {
		return
	}
	a := effects.New(pass, prog, effects.Options(opts))
	a.Export() // for packages that import evaltest, and this one
	if !prog.Concerned() || names.Path(pass.Pkg) == names.Agents {
		return
	}
	r := reporter{pass: pass, reported: map[token.Pos]bool{}}
	for _, fn := range prog.Funcs() {
		if obj, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil && judges(obj) {
			for _, f := range a.Findings(obj) {
				if f.Outside() {
					r.method(obj, f)
				}
			}
		}
	}
	for _, fn := range prog.Funcs() {
		if !inTest(fn) {
			r.callbacks(a, fn)
		}
	}
}

// judges reports whether a method is one of a live criterion's.
func judges(obj *types.Func) bool {
	sig := obj.Signature()
	if sig.Recv() == nil || types.IsInterface(sig.Recv().Type()) {
		return false
	}
	switch obj.Name() {
	case names.LiveVerdict:
		return names.IsLiveVerdict(sig)
	case names.LiveBounds:
		return names.IsLiveBounds(sig)
	case names.StopPolarities:
		return names.IsStopPolarities(sig)
	}
	return false
}

// inTest reports whether a function is part of a test, which may look at what a step is given.
func inTest(fn *ssa.Function) bool {
	for ; fn != nil; fn = fn.Parent() {
		for _, p := range fn.Params {
			for _, t := range []string{"T", "B", "F"} {
				if names.IsPointer(p.Type(), "testing", t) || names.Is(p.Type(), "testing", "TB") {
					return true
				}
			}
		}
	}
	return false
}

type reporter struct {
	pass     *analysis.Pass
	reported map[token.Pos]bool
}

func (r *reporter) method(obj *types.Func, f effects.Finding) {
	of := obj.Name()
	if n := names.TypeName(obj); n != nil {
		of = n.Name() + "." + of
	}
	r.report(f, of+" is not pure: it "+f.What+"; "+f.Kind.Advice())
}

// callbacks looks at what a function gives to agents.Fold and its like.
func (r *reporter) callbacks(a *effects.Analysis, fn *ssa.Function) {
	lits, folds := effects.Callbacks(fn)
	for i, lit := range lits {
		for _, f := range a.Callback(lit) {
			advice := f.Kind.Advice()
			if f.Kind == effects.State {
				if !f.Captured(lit) {
					continue
				}
				advice = "keep it in what the step returns"
			}
			r.report(f, "a step of "+folds[i]+" is not pure: it "+f.What+"; "+advice)
		}
	}
}

func (r *reporter) report(f effects.Finding, message string) {
	if r.reported[f.Pos] {
		return
	}
	r.reported[f.Pos] = true
	report.Diagnostic(r.pass, analysis.Diagnostic{Pos: f.Pos, Message: message, Related: f.Related})
}
