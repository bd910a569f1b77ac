// Package polarity finds out, without running them, which verdicts criteria can reach: from the constants that
// StopPolarities and LiveVerdict return, through helpers, constructors, struct literals, embedded criteria, generic types and
// the built-in combinators. What it finds of a package's types and functions travels with the package as facts, so that a
// criterion of one package is known where it is armed in another.
//
//	reach := pass.ResultOf[polarity.Analyzer].(*polarity.Result)
//	reach.Value(call.Args[2])  // what the criterion with this SSA value declares
//	reach.Type(t)              // what every value of this type declares
//	if s := reach.Type(t); s.Cannot(names.Fail) { … }
//
// A [Set] says what is known: the polarities that code shows, and whether there may be others. What it cannot follow is
// open: a polarity computed at run time, read from a table, or held in a field that nobody is seen to set.
package polarity

import (
	"fmt"
	"go/types"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// Analyzer gives the Result of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "evalpolarity",
	Doc:        "which verdicts criteria can reach",
	URL:        "https://pkg.go.dev/" + names.Module + "/lint",
	Run:        run,
	Requires:   []*analysis.Analyzer{program.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{new(TypeFact), new(FuncFact)},
}

// A TypeFact is what is known of the criteria of a type, in terms of their fields: parameter 0 is the criterion.
type TypeFact struct {
	Declared *Expr // what StopPolarities answers
	Reached  *Expr // what LiveVerdict answers; nil: unknown
}

// AFact makes it a fact.
func (*TypeFact) AFact() {}

func (f *TypeFact) String() string {
	return fmt.Sprintf("declares %v, reaches %v", f.Declared.Set(), Verdicts(f.Reached.Set()))
}

// A FuncFact is what is known of each result of a function that is a criterion, a polarity or a verdict.
type FuncFact struct{ Results []*Expr }

// AFact makes it a fact.
func (*FuncFact) AFact() {}

func (f *FuncFact) String() string {
	text := "returns"
	for i, r := range f.Results {
		if i > 0 {
			text += ","
		}
		text += " " + r.Set().String()
	}
	return text
}

// Verdicts is a Set of verdicts in words.
type Verdicts Set

func (v Verdicts) String() string {
	text := ""
	for i, word := range []string{"Undecided", "Passed", "Failed"} {
		if Set(v).Has(i) {
			if text != "" {
				text += " or "
			}
			text += word
		}
	}
	if v.Open {
		if text != "" {
			text += " or "
		}
		text += "unknown"
	}
	return text
}

// A Result is what is known in a package. It is safe for concurrent use: several analyzers ask it side by side.
type Result struct {
	pass *analysis.Pass
	prog *program.Program

	mu    sync.Mutex
	funcs map[*types.Func][]*Expr // done, or under way (nil)
	types map[*types.TypeName]*TypeFact
}

func run(pass *analysis.Pass) (any, error) {
	r := &Result{
		pass: pass, prog: pass.ResultOf[program.Analyzer].(*program.Program),
		funcs: map[*types.Func][]*Expr{}, types: map[*types.TypeName]*TypeFact{},
	}
	if !r.prog.Concerned() {
		return r, nil
	}
	scope := pass.Pkg.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() || types.IsInterface(obj.Type()) {
			continue
		}
		if fact := r.typeFact(obj); fact != nil {
			out := &TypeFact{Declared: fact.Declared.whole()}
			if fact.Reached != nil {
				out.Reached = fact.Reached.whole()
			}
			pass.ExportObjectFact(obj, out)
		}
	}
	for _, fn := range r.prog.Funcs() {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Synthetic != "" || !obj.Exported() || builtin[names.Full(obj)] != nil {
			continue
		}
		for _, res := range r.results(obj) {
			if res != nil && (res.Set() != unknown || !res.closed()) {
				fact := new(FuncFact)
				for _, e := range r.results(obj) {
					fact.Results = append(fact.Results, e.whole())
				}
				pass.ExportObjectFact(obj, fact)
				break
			}
		}
	}
	return r, nil
}

// Program is the package's.
func (r *Result) Program() *program.Program { return r.prog }

// Type is what the values of a type declare, whatever is in them.
func (r *Result) Type(t types.Type) Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.typ(t)
}

func (r *Result) typ(t types.Type) Set { return r.declared(t).Set() }

// Value is what a criterion declares, or what a polarity is, as far as its function shows.
func (r *Result) Value(v ssa.Value) Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expr(v).Set()
}

// Of is what is known of a named type; nil: nothing.
func (r *Result) Of(obj *types.TypeName) *TypeFact {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.typeFact(obj)
}

// Func is what the results of a function are, whatever it is given: nil where it is no function of which anything is known.
func (r *Result) Func(fn *types.Func) []Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	var sets []Set
	for _, e := range r.results(fn) {
		sets = append(sets, e.Set())
	}
	return sets
}

// Concrete is what is known of the type of a value that is an interface: the type that it was made from, or t itself.
func Concrete(v ssa.Value) types.Type {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			return x.X.Type()
		case *ssa.ChangeInterface:
			v = x.X
		default:
			return v.Type()
		}
	}
}

// typeFact is what is known of a named type; nil: it is no criterion that could be armed, or nothing is known.
func (r *Result) typeFact(obj *types.TypeName) *TypeFact {
	if fact, ok := r.types[obj]; ok {
		return fact
	}
	r.types[obj] = nil // under way
	if obj.Pkg() != r.pass.Pkg {
		fact := new(TypeFact)
		if !r.pass.ImportObjectFact(obj, fact) {
			fact = nil
		}
		r.types[obj] = fact
		return fact
	}
	m := names.MethodsOf(types.NewPointer(obj.Type()))
	if m.StopPolarities == nil {
		return nil
	}
	fact := &TypeFact{Declared: r.method(m.StopPolarities)}
	if m.LiveVerdict != nil {
		fact.Reached = r.method(m.LiveVerdict)
	}
	if (fact.Declared == nil || fact.Declared.Set() == unknown && fact.Declared.closed()) && fact.Reached == nil {
		fact = nil
	}
	r.types[obj] = fact
	return fact
}

// method is what a method answers, in terms of the value that it was selected from.
func (r *Result) method(sel *types.Selection) *Expr {
	fn, ok := sel.Obj().(*types.Func)
	if !ok {
		return nil
	}
	path := sel.Index()[:len(sel.Index())-1]
	var answer *Expr
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		if fn.Name() != names.StopPolarities {
			return nil
		}
		answer = &Expr{Op: Param, Is: unknown} // what the criterion in the field declares
	} else if owner := names.TypeName(fn); owner != nil && owner.Pkg() != r.pass.Pkg {
		fact := r.typeFact(owner)
		if fact == nil {
			return nil
		}
		answer = fact.Declared
		if fn.Name() == names.LiveVerdict {
			answer = fact.Reached
		}
	} else if rs := r.results(fn); len(rs) == 1 {
		answer = rs[0]
	}
	if answer == nil || len(path) == 0 {
		return answer
	}
	if fn.Name() == names.StopPolarities && pointers(sel.Recv(), path) {
		// What it declares that is embedded depends on how it was made: see Expr.
		return &Expr{Op: Field, Path: path, Is: answer.Set()}
	}
	return answer.with(func(int) *Expr {
		return &Expr{Op: Field, Path: path, Is: answer.Set()}
	})
}

// pointers reports whether the field at path of a struct is a pointer, so that it was made elsewhere.
func pointers(t types.Type, path []int) bool {
	for _, i := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return false
		}
		t = s.Field(i).Type()
	}
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// declared is what a criterion of type t declares, in terms of its fields; nil: nothing is known.
func (r *Result) declared(t types.Type) *Expr {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok || types.IsInterface(n) {
		return nil
	}
	if fact := r.typeFact(n.Origin().Obj()); fact != nil {
		return fact.Declared
	}
	return nil
}

// interesting reports whether values of type t are followed.
func interesting(t types.Type) bool {
	if names.IsPolarity(t) || names.IsVerdict(t) {
		return true
	}
	return criterion(t)
}

// criterion reports whether values of type t are criteria.
func criterion(t types.Type) bool {
	sel := types.NewMethodSet(t).Lookup(nil, "Grade")
	if sel == nil {
		return false
	}
	sig, ok := sel.Obj().Type().(*types.Signature)
	return ok && names.IsGrade(sig)
}
