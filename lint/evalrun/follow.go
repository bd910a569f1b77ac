package evalrun

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// A way is where an eval goes.
type way struct {
	p    *pack
	seen map[ssa.Value]bool

	run      bool // it is, or may be, run there
	returned bool
	lost     bool // it goes where it is not seen any more
}

// follow looks where an eval goes, through variables, function literals and helpers.
func (p *pack) follow(v ssa.Value) *way {
	w := &way{p: p, seen: map[ssa.Value]bool{}}
	w.value(v)
	return w
}

func (w *way) value(v ssa.Value) {
	if w.seen[v] {
		return
	}
	w.seen[v] = true
	refs := v.Referrers()
	if refs == nil {
		w.lost = true
		return
	}
	for _, ref := range *refs {
		switch ref := ref.(type) {
		case ssa.CallInstruction:
			w.call(ref, v)
		case *ssa.MakeInterface:
			if !canFail(ref.Type()) {
				w.lost = true
				continue
			}
			w.value(ref)
		case *ssa.ChangeInterface:
			w.value(ref)
		case *ssa.ChangeType:
			w.value(ref)
		case *ssa.Phi:
			w.value(ref)
		case *ssa.TypeAssert:
			w.value(ref)
		case *ssa.Extract:
			w.value(ref)
		case *ssa.Store:
			if local, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == v {
				w.variable(local)
			} else {
				w.lost = true
			}
		case *ssa.MakeClosure: // a method value
			if fn, ok := ref.Fn.(*ssa.Function); ok {
				w.method(program.Object(fn))
			}
		case *ssa.Return:
			w.returned = true
		case *ssa.FieldAddr, *ssa.UnOp, *ssa.BinOp, *ssa.DebugRef:
		default:
			w.lost = true
		}
	}
}

// variable looks where the value of a variable goes.
func (w *way) variable(addr ssa.Value) {
	if w.seen[addr] {
		return
	}
	w.seen[addr] = true
	refs := addr.Referrers()
	if refs == nil {
		w.lost = true
		return
	}
	for _, ref := range *refs {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			if ref.Op == token.MUL {
				w.value(ref)
			}
		case *ssa.Store:
			if ref.Addr != addr {
				w.lost = true
			}
		case *ssa.MakeClosure:
			fn, ok := ref.Fn.(*ssa.Function)
			if !ok {
				w.lost = true
				continue
			}
			for i, b := range ref.Bindings {
				if b == addr && i < len(fn.FreeVars) {
					w.variable(fn.FreeVars[i])
				}
			}
		case *ssa.DebugRef:
		default:
			w.lost = true
		}
	}
}

// method notes that the eval is bound to one of its methods.
func (w *way) method(obj *types.Func) {
	switch {
	case obj == nil || names.Path(obj.Pkg()) != names.Evaltest && names.Path(obj.Pkg()) != "testing":
		w.lost = true
	case isRun(obj):
		w.run = true
	}
}

// call looks what a call makes of an eval.
func (w *way) call(call ssa.CallInstruction, v ssa.Value) {
	common := call.Common()
	if common.IsInvoke() && common.Value == v {
		w.run = w.run || common.Method.Name() == "Run"
		return
	}
	obj := program.Callee(common)
	if obj != nil && obj.Pkg() != nil {
		switch path := names.Path(obj.Pkg()); {
		case isRun(obj):
			w.run = true
			return
		case path == names.Evaltest, path == "testing", isTestify(path):
			return
		}
	}
	callee := common.StaticCallee()
	for i, arg := range common.Args {
		if arg != v {
			continue
		}
		if callee != nil && callee.Parent() != nil && i < len(callee.Params) { // a function literal
			w.value(callee.Params[i])
			continue
		}
		var f *Fact
		if obj != nil {
			f = w.p.factOf(obj)
		}
		switch {
		case f == nil:
			w.lost = true
		case has(f.Runs, i):
			w.run = true
		}
	}
}
