package evalrun

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// A role is what a function literal is for.
type role uint8

const (
	grader    role = iota + 1 // of criteria.Check or CheckScore, which call it in a goroutine of its own
	field                     // of an author's own criterion
	hook                      // of evaltest.Setup or TearDown
	subtest                   // of Run of a test or benchmark, or of Fuzz
	goroutine                 // run beside the test
	cleanup                   // run when the test is over
	deferred                  // run at the end of the function, however it ends
	numRoles
)

// role is what a function literal of the package is for.
func (p *pack) role(fn *ssa.Function) role {
	if r, ok := p.roles[fn]; ok {
		return r
	}
	p.roles[fn] = 0 // under way
	if fn.Parent() == nil || isLoop(fn) || fn.Referrers() == nil {
		return 0
	}
	seen := map[ssa.Value]bool{}
	r := p.roleOf(fn, seen)
	for _, ref := range *fn.Referrers() {
		if mk, ok := ref.(*ssa.MakeClosure); ok && r == 0 {
			r = p.roleOf(mk, seen)
		}
	}
	p.roles[fn] = r
	return r
}

// roleOf is what becomes of a function; 0: that is not known.
func (p *pack) roleOf(v ssa.Value, seen map[ssa.Value]bool) role {
	if seen[v] || v.Referrers() == nil {
		return 0
	}
	seen[v] = true
	for _, ref := range *v.Referrers() {
		var r role
		switch ref := ref.(type) {
		case ssa.CallInstruction:
			r = p.roleIn(ref, v)
		case *ssa.ChangeType:
			r = p.roleOf(ref, seen)
		case *ssa.MakeInterface: // Fuzz takes any function
			r = p.roleOf(ref, seen)
		case *ssa.Phi:
			r = p.roleOf(ref, seen)
		case *ssa.Store:
			if ref.Val != v {
				continue
			}
			switch addr := ref.Addr.(type) {
			case *ssa.Alloc:
				r = p.roleOfVariable(addr, seen)
			case *ssa.FieldAddr:
				if judges(v.Type()) && inCriterion(addr) {
					r = field
				}
			}
		}
		if r != 0 {
			return r
		}
	}
	return 0
}

func (p *pack) roleOfVariable(addr ssa.Value, seen map[ssa.Value]bool) role {
	if seen[addr] || addr.Referrers() == nil {
		return 0
	}
	seen[addr] = true
	for _, ref := range *addr.Referrers() {
		var r role
		switch ref := ref.(type) {
		case *ssa.UnOp:
			r = p.roleOf(ref, seen)
		case *ssa.MakeClosure:
			if fn, ok := ref.Fn.(*ssa.Function); ok {
				for i, b := range ref.Bindings {
					if b == addr && i < len(fn.FreeVars) && r == 0 {
						r = p.roleOfVariable(fn.FreeVars[i], seen)
					}
				}
			}
		}
		if r != 0 {
			return r
		}
	}
	return 0
}

// roleIn is what a call makes of a function that it is given, or calls.
func (p *pack) roleIn(call ssa.CallInstruction, v ssa.Value) role {
	common := call.Common()
	if common.Value == v && !common.IsInvoke() {
		switch call.(type) {
		case *ssa.Go:
			return goroutine
		case *ssa.Defer:
			return deferred
		}
		// A function that is called by a function literal is for what that is for.
		for fn := call.Parent(); fn.Parent() != nil; fn = fn.Parent() {
			if v.Parent() == fn && !isFree(v) {
				break // it is the literal's own
			}
			if r := p.role(fn); r != 0 {
				return r
			}
		}
		return 0
	}
	for i, arg := range common.Args {
		if arg == v {
			if r := p.roleAs(common, i); r != 0 {
				return r
			}
		}
	}
	return 0
}

// isFree reports whether v is read from a captured variable.
func isFree(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	_, ok = load.X.(*ssa.FreeVar)
	return ok
}

// roleAs is what the function is for that a call has as its i-th argument.
func (p *pack) roleAs(common *ssa.CallCommon, i int) role {
	if common.IsInvoke() {
		if canFail(common.Value.Type()) && common.Method.Name() == "Cleanup" {
			return cleanup
		}
		return 0
	}
	obj := program.Callee(common)
	if obj == nil || obj.Pkg() == nil {
		return 0
	}
	switch names.Full(obj) {
	case "(*testing.T).Run", "(*testing.B).Run", "(*testing.F).Fuzz":
		return subtest
	case "(*testing.B).RunParallel", "(*sync.WaitGroup).Go", "time.AfterFunc",
		"(*golang.org/x/sync/errgroup.Group).Go", "(*golang.org/x/sync/errgroup.Group).TryGo":
		return goroutine
	case "(*testing.common).Cleanup":
		return cleanup
	case names.Evaltest + ".Setup", names.Evaltest + ".TearDown":
		return hook
	}
	switch names.Path(obj.Pkg()) {
	case names.Criteria:
		if judges(common.Args[i].Type()) {
			return grader
		}
		return 0
	case names.Evaltest:
		return 0
	}
	if f := p.factOf(obj); f != nil {
		for r := range numRoles {
			if has(f.Roles[r], i) {
				return r
			}
		}
	}
	return 0
}

// judges reports whether a function of type t looks at a trial or a trajectory.
func judges(t types.Type) bool {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok {
		return false
	}
	for v := range sig.Params().Variables() {
		if names.IsPointer(v.Type(), names.Evaltest, "Trial") || names.IsTrajectory(v.Type()) {
			return true
		}
	}
	return false
}

// inCriterion reports whether it is a field of a criterion.
func inCriterion(addr *ssa.FieldAddr) bool {
	ptr, ok := types.Unalias(addr.X.Type()).(*types.Pointer)
	return ok && names.MethodsOf(ptr).Criterion()
}
