package graderr

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// origin is whose doing a value is; 0: it is a constant.
type origin uint8

const (
	byAgent   origin = 1 << iota // what the agent did: the trial, its workspace
	byOther                      // the answer of another machine
	byAuthor                     // what the author wrote: fields of the criterion, variables, flags
	bySomeone                    // nobody can tell
)

// origin is whose doing a value is.
func (a *analyzer) origin(v ssa.Value) origin {
	w := &where{analyzer: a, seen: map[ssa.Value]bool{}}
	return w.of(v)
}

// where goes back from a value to what it was made of.
type where struct {
	*analyzer
	seen    map[ssa.Value]bool
	outside int // how many functions that hold the literal, which made it before the trial
}

func (w *where) of(v ssa.Value) origin {
	if w.seen[v] {
		return 0
	}
	w.seen[v] = true
	switch v := v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.Builtin:
		return 0
	case *ssa.Global:
		return byAuthor
	case *ssa.Parameter:
		return w.parameter(v)
	case *ssa.FreeVar:
		b := program.Binding(v)
		if b == nil {
			return bySomeone
		}
		if _, ok := scores(v.Parent().Signature); ok {
			w.outside++
			defer func() { w.outside-- }()
		}
		return w.of(b)
	case *ssa.Alloc:
		return w.written(v, 0)
	case *ssa.Call:
		return w.call(v)
	case *ssa.MakeMap, *ssa.MakeChan, *ssa.MakeClosure:
		return bySomeone
	case ssa.Instruction:
		var o origin
		for _, op := range v.Operands(nil) {
			if *op != nil {
				o |= w.of(*op)
			}
		}
		return o
	}
	return bySomeone
}

// parameter is the origin of what a function is given.
func (w *where) parameter(p *ssa.Parameter) origin {
	switch t := p.Type(); {
	case names.IsPointer(t, names.Evaltest, "Trial"), names.IsTrajectory(t):
		return byAgent
	case names.Is(t, "context", "Context"):
		return 0
	case w.outside > 0:
		return byAuthor
	}
	fn := p.Parent()
	i := 0
	for i < len(fn.Params) && fn.Params[i] != p {
		i++
	}
	obj := program.Object(fn)
	if obj == nil || fn.Parent() != nil {
		return bySomeone
	}
	if recv := obj.Signature().Recv(); recv != nil && i == 0 && isCriterion(recv.Type()) {
		return byAuthor
	}
	uses := w.prog.Uses(obj)
	if obj.Exported() || len(uses) == 0 {
		return bySomeone
	}
	var o origin
	for _, use := range uses {
		call, ok := use.(ssa.CallInstruction)
		if !ok || program.Callee(call.Common()) != obj || i >= len(call.Common().Args) {
			return bySomeone
		}
		o |= w.of(call.Common().Args[i])
	}
	return o
}

func isCriterion(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.Pointer); !ok {
		t = types.NewPointer(t)
	}
	return names.MethodsOf(t).Grade != nil
}

// written is the origin of what is put into a variable: by assignments, and by functions that get its address.
func (w *where) written(addr ssa.Value, depth int) origin {
	if depth > 6 || addr.Referrers() == nil {
		return bySomeone
	}
	var o origin
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == addr {
				o |= w.of(ref.Val)
			}
		case *ssa.FieldAddr:
			o |= w.written(ref, depth+1)
		case *ssa.IndexAddr:
			o |= w.written(ref, depth+1)
		case *ssa.MakeInterface:
			o |= w.written(ref, depth+1) // json.Unmarshal(data, &v)
		case *ssa.Call:
			o |= w.call(ref)
		case *ssa.MakeClosure:
			if fn, ok := ref.Fn.(*ssa.Function); ok {
				for i, b := range ref.Bindings {
					if b == addr && i < len(fn.FreeVars) {
						o |= w.written(fn.FreeVars[i], depth+1)
					}
				}
			}
		}
	}
	return o
}

// call is the origin of what a function returns: that of what it is given, unless it asks someone else.
func (w *where) call(call *ssa.Call) origin {
	w.seen[call] = true
	full := ""
	if obj := program.Callee(&call.Call); obj != nil {
		full = names.Full(obj)
	}
	switch {
	case requests[full] != nil:
		return byOther
	case strings.HasPrefix(full, "os.Getenv"), strings.HasPrefix(full, "os.LookupEnv"), strings.HasPrefix(full, "flag."):
		return byAuthor
	case strings.HasPrefix(full, "(*os/exec.Cmd)."):
		return bySomeone
	}
	var o origin
	if fn := call.Call.StaticCallee(); fn == nil {
		o |= bySomeone
		if call.Call.IsInvoke() {
			o = w.of(call.Call.Value) | bySomeone
		}
	} else if fn.Parent() != nil || !program.Stdlib(names.Path(pkgOf(fn))) && w.own(call) == nil {
		o |= bySomeone
	}
	for _, arg := range call.Call.Args {
		o |= w.of(arg)
	}
	return o
}

func pkgOf(fn *ssa.Function) *types.Package {
	if obj := program.Object(fn); obj != nil {
		return obj.Pkg()
	}
	return nil
}
