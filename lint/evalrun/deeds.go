package evalrun

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// act is what a call does to a test or an eval.
type act uint8

const (
	runs  act = iota + 1 // runs the eval, always
	makes                // makes an eval of the test
	ends                 // ends the test, or skips it, in some case
	marks                // has the test failed, in some case
)

// A deed is what a call does to one of its arguments.
type deed struct {
	call ssa.CallInstruction
	act  act
	arg  ssa.Value
	on   ssa.Value // where arg comes from
	self bool      // it is a method of what it is done to
}

// deeds is what a call does to the tests and evals that it is given.
func (p *pack) deeds(call ssa.CallInstruction) (all []deed) {
	common := call.Common()
	do := func(a act, arg ssa.Value, self bool) {
		if on := evals.Origin(arg); a != 0 && canFail(on.Type()) {
			all = append(all, deed{call, a, arg, on, self})
		}
	}
	if common.IsInvoke() {
		if canFail(common.Value.Type()) {
			do(fails[common.Method.Name()], common.Value, true)
		}
		return all
	}
	obj := program.Callee(common)
	if obj == nil || obj.Pkg() == nil || len(common.Args) == 0 {
		return nil
	}
	sig := obj.Signature()
	switch path := names.Path(obj.Pkg()); {
	case isNew(obj):
		do(makes, common.Args[0], false)
	case isRun(obj):
		do(runs, common.Args[0], true)
	case path == names.Evaltest, path == "testing":
		if sig.Recv() != nil {
			do(fails[obj.Name()], common.Args[0], true)
		}
	case isTestify(path):
		if sig.Recv() != nil {
			do(assertion(obj), assertsOn(common.Args[0]), false)
		} else if canFail(common.Args[0].Type()) {
			do(assertion(obj), common.Args[0], false)
		}
	default:
		f := p.factOf(obj)
		if f == nil {
			return nil
		}
		for i, arg := range common.Args {
			for _, x := range []struct {
				bits uint64
				act  act
			}{{f.Always, runs}, {f.Makes, makes}, {f.Ends, ends}, {f.Marks, marks}} {
				if has(x.bits, i) {
					do(x.act, arg, false)
				}
			}
		}
	}
	return all
}

const testify = "github.com/stretchr/testify/"

func isTestify(path string) bool { return path == testify+"require" || path == testify+"assert" }

// assertion is what a function of testify does where it does not hold.
func assertion(obj *types.Func) act {
	switch {
	case obj.Name() == "New":
		return 0
	case names.Path(obj.Pkg()) == testify+"require", obj.Name() == "FailNow", obj.Name() == "FailNowf":
		return ends
	}
	return marks
}

// assertsOn is the test that an *Assertions was made of, or the *Assertions where that is not known.
func assertsOn(v ssa.Value) ssa.Value {
	if call, ok := evals.Origin(v).(*ssa.Call); ok {
		if obj := program.Callee(&call.Call); obj != nil && obj.Name() == "New" && isTestify(names.Path(obj.Pkg())) {
			return call.Call.Args[0]
		}
	}
	return v
}

// nest calls f for a function and all function literals in it.
func nest(fn *ssa.Function, f func(*ssa.Function)) {
	f(fn)
	for _, inner := range fn.AnonFuncs {
		nest(inner, f)
	}
}

// findTests finds out of which tests evals are made.
func (p *pack) findTests() {
	for _, fn := range p.prog.Funcs() {
		evals.Calls(fn, func(call ssa.CallInstruction) {
			for _, d := range p.deeds(call) {
				if d.act == makes && realTest(d.on) {
					p.tests[d.on] = true
				}
			}
		})
	}
}
