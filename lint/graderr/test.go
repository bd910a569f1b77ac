package graderr

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// says is what the outcome of a test says of an error.
type says int

const (
	nothing says = iota // it was looked at, in some way
	notNil              // it is one
	agents              // it is what the agent has done, or may have: fs.ErrNotExist
	fault               // it is in no case what the agent has done: context.DeadlineExceeded
)

// A test is a branch that looks at an error.
type test struct {
	err  ssa.Value
	says says
	what string // for fault: the name of what it is

	from *ssa.BasicBlock
	yes  int // the successor of from where it is what the test says
	pos  token.Pos
}

// testsOf is the tests in a function, those that dominate others before them.
func testsOf(fn *ssa.Function) []test {
	var tests []test
	for _, b := range fn.DomPreorder() {
		if cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			if t, ok := testOf(cond.Cond); ok {
				t.from = b
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// testOf is what a condition says of an error where it is true, or with yes 1, false.
func testOf(cond ssa.Value) (test, bool) {
	yes := 0
	for {
		not, ok := cond.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			break
		}
		cond, yes = not.X, 1-yes
	}
	t, ok := test{}, false
	switch v := cond.(type) {
	case *ssa.BinOp:
		if v.Op != token.EQL && v.Op != token.NEQ {
			break
		}
		x, y := v.X, v.Y
		if isNil(x) || !errorLike(x) {
			x, y = y, x
		}
		if !errorLike(x) {
			break
		}
		ok = true
		t = test{err: x, pos: v.Pos()}
		if isNil(y) {
			t.says = notNil
			if v.Op == token.EQL {
				yes = 1 - yes
			}
			break
		}
		t.says, t.what = sentinel(y)
		if v.Op == token.NEQ {
			yes = 1 - yes
		}
	case *ssa.Call:
		t, ok = predicate(v)
	case *ssa.Extract:
		switch tuple := v.Tuple.(type) {
		case *ssa.TypeAssert:
			if ok = errorLike(tuple.X) && v.Index == 1; ok {
				t = test{err: tuple.X, pos: tuple.Pos()}
				t.says, t.what = errorKind(tuple.AssertedType)
			}
		case *ssa.Call:
			t, ok = predicate(tuple)
		}
	}
	t.yes = yes
	return t, ok
}

// errorLike reports whether a value is an error, as such.
func errorLike(v ssa.Value) bool { return isError(v.Type()) && !isNil(v) }

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// predicate is what a function says that is given an error.
func predicate(call *ssa.Call) (test, bool) {
	i := slices.IndexFunc(call.Call.Args, errorLike)
	obj := program.Callee(&call.Call)
	if i < 0 {
		if call.Call.IsInvoke() && errorLike(call.Call.Value) { // strings.Contains(err.Error(), …) is found by what looks at its text
			return test{err: call.Call.Value, pos: call.Pos()}, true
		}
		for _, arg := range call.Call.Args {
			if inner, ok := arg.(*ssa.Call); ok && inner.Call.IsInvoke() && errorLike(inner.Call.Value) {
				return test{err: inner.Call.Value, pos: call.Pos()}, true
			}
		}
		return test{}, false
	}
	t := test{err: call.Call.Args[i], pos: call.Pos()}
	if obj == nil {
		return t, true
	}
	switch names.Full(obj) {
	case "errors.Is":
		t.says, t.what = sentinel(call.Call.Args[1])
	case "errors.As":
		if mk, ok := call.Call.Args[1].(*ssa.MakeInterface); ok {
			if p, ok := mk.X.Type().Underlying().(*types.Pointer); ok {
				t.says, t.what = errorKind(p.Elem())
			}
		}
	case "errors.AsType":
		if fn := call.Call.StaticCallee(); fn != nil && len(fn.TypeArgs()) == 1 {
			t.says, t.what = errorKind(fn.TypeArgs()[0])
		}
	case "os.IsNotExist", "os.IsPermission":
		t.says = agents
	}
	return t, true
}

// sentinel is what it says of an error that it is this one.
func sentinel(v ssa.Value) (says, string) {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return nothing, ""
	}
	g, ok := load.X.(*ssa.Global)
	if !ok || g.Pkg == nil {
		return nothing, ""
	}
	switch full := names.Path(g.Pkg.Pkg) + "." + g.Name(); full {
	case "context.DeadlineExceeded", "context.Canceled", "os/exec.ErrNotFound":
		return fault, g.Pkg.Pkg.Name() + "." + g.Name()
	case names.Evaltest + ".ErrOpen":
		return fault, "evaltest.ErrOpen"
	case "os.ErrNotExist", "os.ErrPermission", "io/fs.ErrNotExist", "io/fs.ErrPermission":
		return agents, ""
	}
	return nothing, ""
}

// errorKind is what it says of an error that it has this type.
func errorKind(t types.Type) (says, string) {
	switch {
	case names.IsPointer(t, names.Agents, "Error"):
		return fault, "an *agents.Error"
	case names.IsPointer(t, "os/exec", "ExitError"):
		return agents, ""
	}
	return nothing, ""
}

// leadsTo reports whether the way has gone through the test's branch.
func (t test) leadsTo(a arrival) bool { return passes(t.from, t.yes, a) }

// besides reports whether the way has gone through the other branch.
func (t test) besides(a arrival) bool { return passes(t.from, 1-t.yes, a) }

func passes(from *ssa.BasicBlock, succ int, a arrival) bool {
	if len(from.Succs) != 2 || from.Succs[0] == from.Succs[1] {
		return false
	}
	to := from.Succs[succ]
	end := a.at
	if a.pred != nil {
		if a.pred == from && a.at == to {
			return true
		}
		end = a.pred
	}
	return len(to.Preds) == 1 && to.Dominates(end)
}
