// Package names knows the types of evaltest that analyzers look for, by import path and name: the analyzers import nothing
// of the library, so that one build of them serves every version of it.
//
//	if names.IsLiveVerdict(method.Signature()) { … }
package names

import (
	"go/types"
	"strings"
)

// Import paths of the library.
const (
	Module   = "github.com/evaltest-go/evaltest"
	Agents   = Module + "/agents"
	Evaltest = Module + "/evaltest"
	Verdict  = Module + "/evaltest/verdict"
	Criteria = Module + "/evaltest/criteria"
)

// The methods of a live criterion.
const (
	StopPolarities = "StopPolarities"
	LiveVerdict    = "LiveVerdict"
	LiveBounds     = "LiveBounds"
)

// Page is the address of the page about an analyzer.
func Page(analyzer string) string {
	return "https://" + Module + "/blob/main/docs/lint/" + analyzer + ".md"
}

// Values of verdict.Verdict and of verdict.Polarity, as the library declares them.
const (
	Undecided = 0
	Passed    = 1
	Failed    = 2
	Pass      = 1
	Fail      = 2
	Decided   = 1 << 7
)

// Path is the import path that a package is known by, also where it was copied into a vendor folder.
func Path(pkg *types.Package) string {
	if pkg == nil {
		return ""
	}
	path := pkg.Path()
	if i := strings.LastIndex(path, "/vendor/"); i >= 0 {
		return path[i+len("/vendor/"):]
	}
	return strings.TrimPrefix(path, "vendor/")
}

// Full is the full name of a function or method as types.Func.FullName gives it, of the generic one for an instance, and
// without the vendor folder.
func Full(fn *types.Func) string {
	fn = fn.Origin()
	full := fn.FullName()
	if pkg := fn.Pkg(); pkg != nil {
		if path := Path(pkg); path != pkg.Path() {
			full = strings.Replace(full, pkg.Path(), path, 1)
		}
	}
	return full
}

// Is reports whether t is the named type path.name. Aliases are seen through.
func Is(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	obj := n.Obj()
	return obj.Name() == name && obj.Pkg() != nil && Path(obj.Pkg()) == path
}

// IsPointer reports whether t is a pointer to the named type path.name.
func IsPointer(t types.Type, path, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && Is(p.Elem(), path, name)
}

// IsVerdict reports whether t is verdict.Verdict.
func IsVerdict(t types.Type) bool { return Is(t, Verdict, "Verdict") }

// IsPolarity reports whether t is verdict.Polarity.
func IsPolarity(t types.Type) bool { return Is(t, Verdict, "Polarity") }

// IsScore reports whether t is verdict.Score.
func IsScore(t types.Type) bool { return Is(t, Verdict, "Score") }

// IsTrajectory reports whether t is *agents.Trajectory.
func IsTrajectory(t types.Type) bool { return IsPointer(t, Agents, "Trajectory") }

// IsStopPolarities reports whether a method with this signature can be StopPolarities.
func IsStopPolarities(sig *types.Signature) bool {
	return sig.Params().Len() == 0 && sig.Results().Len() == 1 && IsPolarity(sig.Results().At(0).Type())
}

// IsLiveVerdict reports whether a method with this signature can be LiveVerdict.
func IsLiveVerdict(sig *types.Signature) bool {
	return takesTrajectory(sig) && sig.Results().Len() == 1 && IsVerdict(sig.Results().At(0).Type())
}

// IsLiveBounds reports whether a method with this signature can be LiveBounds.
func IsLiveBounds(sig *types.Signature) bool {
	r := sig.Results()
	return takesTrajectory(sig) && r.Len() == 2 && IsScore(r.At(0).Type()) && IsScore(r.At(1).Type())
}

func takesTrajectory(sig *types.Signature) bool {
	return sig.Params().Len() == 1 && !sig.Variadic() && IsTrajectory(sig.Params().At(0).Type())
}

// IsGrade reports whether a method with this signature can be Criterion.Grade.
func IsGrade(sig *types.Signature) bool {
	p, r := sig.Params(), sig.Results()
	return p.Len() == 2 && r.Len() == 2 && Is(p.At(0).Type(), "context", "Context") && IsPointer(p.At(1).Type(), Evaltest, "Trial") &&
		IsScore(r.At(0).Type()) && types.Identical(r.At(1).Type(), types.Universe.Lookup("error").Type())
}

// A Methods says which methods of a criterion a type has, each with the right signature.
type Methods struct {
	Grade, String, StopPolarities, LiveVerdict, LiveBounds *types.Selection
}

// MethodsOf is the methods of t, promoted ones included.
func MethodsOf(t types.Type) Methods {
	set := types.NewMethodSet(t)
	find := func(name string, fits func(*types.Signature) bool) *types.Selection {
		sel := set.Lookup(nil, name) // exported: in any package
		if sel == nil {
			return nil
		}
		if sig, ok := sel.Obj().Type().(*types.Signature); !ok || !fits(sig) {
			return nil
		}
		return sel
	}
	return Methods{
		Grade: find("Grade", IsGrade),
		String: find("String", func(sig *types.Signature) bool {
			return sig.Params().Len() == 0 && sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), types.Typ[types.String])
		}),
		StopPolarities: find(StopPolarities, IsStopPolarities),
		LiveVerdict:    find(LiveVerdict, IsLiveVerdict),
		LiveBounds:     find(LiveBounds, IsLiveBounds),
	}
}

// Criterion reports whether the type is an evaltest.Criterion.
func (m Methods) Criterion() bool { return m.Grade != nil && m.String != nil }

// Live reports whether the type is an evaltest.LiveCriterion.
func (m Methods) Live() bool { return m.Criterion() && m.StopPolarities != nil && m.LiveVerdict != nil }

// TypeName is the type that a method's receiver names, without its pointer; nil for what is no method of a named type.
func TypeName(fn *types.Func) *types.TypeName {
	sig, ok := fn.Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return nil
	}
	t := types.Unalias(sig.Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj()
	}
	return nil
}
