package graderr

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// kind is whose an error is.
type kind int

const (
	unknown  kind = iota // the agent's, or nobody can tell
	never                // not the agent's
	missing              // of reading a file: the agent's if it is missing
	exits                // of running a program: the agent's if it ran
	panicked             // it is none yet
)

// advice is what to do about it.
func (k kind) advice() string {
	switch k {
	case missing:
		return "only a missing file is the agent's failure: return what is not fs.ErrNotExist"
	case panicked:
		return "a panic is the author's error: do not recover, and it is reported"
	case exits:
		return "only what ran has judged the agent: return what is not an *exec.ExitError"
	}
	return "no score could be had: return the error"
}

// A source is where an error comes from.
type source struct {
	value   ssa.Value // the error, in the function that scores
	kind    kind
	what    string // "the error of os.ReadFile"
	pos     token.Pos
	certain bool // it is of this kind whatever it is
}

// Fault is the fact of a function whose error may be one that is not the agent's failure.
type Fault struct {
	Kind    int
	Of      string // os.ReadFile
	Certain bool   // there is no other
}

// AFact makes it a fact.
func (*Fault) AFact() {}

func (f *Fault) String() string { return "returns the error of " + f.Of }

// export tells packages that import this one.
func (a *analyzer) export() {
	for _, fn := range a.prog.Funcs() {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil || !errorResult(obj.Signature()) {
			continue
		}
		if f := a.errorsOf(fn); f != nil {
			a.pass.ExportObjectFact(obj, f)
		}
	}
}

func errorResult(sig *types.Signature) bool {
	r := sig.Results()
	return r.Len() > 0 && isError(r.At(r.Len()-1).Type())
}

// errorsOf is what is known of the error that a function of the package returns; nil: nothing.
func (a *analyzer) errorsOf(fn *ssa.Function) *Fault {
	if f, ok := a.faults[fn]; ok {
		return f
	}
	a.faults[fn] = nil // for a function that calls itself
	var found *Fault
	certain := true
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || b == fn.Recover || len(ret.Results) == 0 {
			continue
		}
		for _, s := range a.sources(ret.Results[len(ret.Results)-1]) {
			switch {
			case s.kind == unknown:
				certain = false
			case found == nil:
				found = &Fault{Kind: int(s.kind), Of: s.of()}
			case found.Kind != int(s.kind):
				certain = false
			}
			certain = certain && s.certain
		}
	}
	if found != nil {
		found.Certain = certain
	}
	a.faults[fn] = found
	return found
}

// of is the function that an error is of.
func (s source) of() string { return s.what[len("the error of "):] }

// sources is where an error may come from.
func (a *analyzer) sources(err ssa.Value) []source {
	var found []source
	a.trace(err, map[ssa.Value]bool{}, &found)
	return found
}

func (a *analyzer) trace(v ssa.Value, seen map[ssa.Value]bool, found *[]source) {
	v = resolve(v)
	if seen[v] || isNil(v) {
		return
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			a.trace(e, seen, found)
		}
		return
	case *ssa.ChangeInterface:
		a.trace(v.X, seen, found)
		return
	case *ssa.UnOp:
		if alloc, ok := v.X.(*ssa.Alloc); ok && v.Op == token.MUL {
			for _, store := range program.StoresTo(alloc).Stores {
				a.trace(store.Val, seen, found)
			}
			return
		}
	case *ssa.MakeInterface:
		if names.IsPointer(v.X.Type(), names.Agents, "Error") {
			*found = append(*found, source{value: v, kind: never, what: "the error of *agents.Error", pos: v.Pos(), certain: true})
			return
		}
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok {
			*found = append(*found, a.source(v, call))
			return
		}
	case *ssa.Call:
		if wrapped := wrapped(v); wrapped != nil {
			n := len(*found)
			for _, w := range wrapped {
				a.trace(w, seen, found)
			}
			if len(*found) > n {
				return
			}
		}
		*found = append(*found, a.source(v, v))
		return
	}
	*found = append(*found, source{value: v, what: "the error of something"})
}

// wrapped is the errors that an error is made of.
func wrapped(call *ssa.Call) []ssa.Value {
	obj := program.Callee(&call.Call)
	if obj == nil {
		return nil
	}
	switch names.Full(obj) {
	case "fmt.Errorf", "errors.Join", "github.com/pkg/errors.Wrap", "github.com/pkg/errors.Wrapf", "github.com/pkg/errors.WithMessage", "github.com/pkg/errors.WithStack":
	default:
		return nil
	}
	var found []ssa.Value
	for _, arg := range call.Call.Args {
		if errorLike(arg) {
			found = append(found, arg)
		}
		for _, e := range elements(arg) {
			if c, ok := e.(*ssa.ChangeInterface); ok {
				e = c.X
			}
			if errorLike(e) {
				found = append(found, e)
			}
		}
	}
	return found
}

// elements is what is in a slice that is made for a call with "...".
func elements(v ssa.Value) []ssa.Value {
	s, ok := v.(*ssa.Slice)
	if !ok {
		return nil
	}
	a, ok := s.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	var found []ssa.Value
	for _, ref := range *a.Referrers() {
		if at, ok := ref.(*ssa.IndexAddr); ok {
			for _, ref := range *at.Referrers() {
				if store, ok := ref.(*ssa.Store); ok && store.Addr == at {
					found = append(found, store.Val)
				}
			}
		}
	}
	return found
}

// source is what is known of the error of a call.
func (a *analyzer) source(v ssa.Value, call *ssa.Call) source {
	s := source{value: v, pos: call.Pos()}
	obj := program.Callee(&call.Call)
	if call.Call.IsInvoke() {
		obj = call.Call.Method
	}
	if obj == nil {
		s.what = "the error of a function"
		if fn := a.own(call); fn != nil {
			a.known(&s, a.errorsOf(fn), "a function literal")
		} else if _, ok := scores(call.Call.Signature()); ok {
			s.kind, s.what, s.certain = never, "the error of a function that scores", true
		}
		return s
	}
	s.what = "the error of " + a.calls(obj)
	full := names.Full(obj)
	switch {
	case listed(a.opts.Verdicts, obj, full):
	case listed(a.opts.Faults, obj, full):
		s.kind, s.certain = never, true
	case full == names.Evaltest+".AuthorError":
		s.kind, s.certain = never, true
	case full == "(context.Context).Err":
		if _, ok := call.Call.Value.(*ssa.Parameter); ok {
			s.kind, s.certain = never, true
		}
	case isScoring(obj):
		s.kind, s.certain = never, true
	case a.prog.Func(obj) != nil:
		a.known(&s, a.errorsOf(a.prog.Func(obj)), a.calls(obj))
	case program.Stdlib(names.Path(obj.Pkg())):
		s.kind, s.certain = a.standard(call, full)
	default:
		var f Fault
		if a.pass.ImportObjectFact(obj, &f) {
			a.known(&s, &f, a.calls(obj))
		} else if obj.Name() == "Unmarshal" && len(call.Call.Args) > 0 {
			s.kind, s.certain = a.parsing(call.Call.Args[0])
		}
	}
	return s
}

// known notes what a function is known to return.
func (a *analyzer) known(s *source, f *Fault, calls string) {
	if f == nil {
		return
	}
	s.kind, s.certain = kind(f.Kind), f.Certain && kind(f.Kind) == never
	s.what = "the error of " + calls
	if f.Of != calls {
		s.what += ", which may be that of " + f.Of
	}
}

// isScoring reports whether a function's error means by contract that there is no score.
func isScoring(obj *types.Func) bool {
	err, ok := scores(obj.Signature())
	return ok && err != noError
}

// calls is a function as this package calls it.
func (a *analyzer) calls(obj *types.Func) string {
	qualifier := func(pkg *types.Package) string {
		if pkg == a.pass.Pkg {
			return ""
		}
		return pkg.Name()
	}
	sig := obj.Signature()
	if sig.Recv() != nil {
		t := types.TypeString(sig.Recv().Type(), qualifier)
		if t[0] == '*' {
			t = "(" + t + ")"
		}
		return t + "." + obj.Name()
	}
	if q := qualifier(obj.Pkg()); q != "" {
		return q + "." + obj.Name()
	}
	return obj.Name()
}

// listed reports whether a function, or its package, is in a list.
func listed(list []string, obj *types.Func, full string) bool {
	for _, l := range list {
		if l == full || obj.Pkg() != nil && l == names.Path(obj.Pkg()) {
			return true
		}
	}
	return false
}
