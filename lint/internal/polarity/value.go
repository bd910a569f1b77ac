package polarity

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// results is what is known of each result of a function, in terms of its parameters; nil where nothing is.
func (r *Result) results(obj *types.Func) []*Expr {
	obj = obj.Origin()
	if rs, ok := r.funcs[obj]; ok {
		return rs
	}
	if e := builtin[names.Full(obj)]; e != nil {
		rs := []*Expr{e}
		r.funcs[obj] = rs
		return rs
	}
	r.funcs[obj] = nil // under way: what depends on itself is unknown
	if obj.Pkg() != r.pass.Pkg {
		var fact FuncFact
		if r.pass.ImportObjectFact(obj, &fact) {
			r.funcs[obj] = fact.Results
		}
		return r.funcs[obj]
	}
	res := obj.Signature().Results()
	follows := false
	for v := range res.Variables() {
		follows = follows || interesting(v.Type())
	}
	fn := r.prog.Func(obj)
	if !follows || fn == nil || fn.Blocks == nil {
		return nil
	}
	rs := make([]*Expr, res.Len())
	for i := range rs {
		if interesting(res.At(i).Type()) {
			rs[i] = r.result(fn, i)
		}
	}
	r.funcs[obj] = rs
	return rs
}

// result is what is known of the i-th result of a function.
func (r *Result) result(fn *ssa.Function, i int) *Expr {
	var all []*Expr
	for _, b := range Feasible(fn) {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			all = append(all, r.expr(ret.Results[i]))
		}
	}
	if len(all) == 0 {
		return &Expr{} // it never returns
	}
	for _, e := range all {
		if e == nil {
			return &Expr{Is: union(all).Set()}
		}
	}
	return union(all)
}

// Feasible is the blocks of a function that it can come to: those behind conditions that are constant are left out.
func Feasible(fn *ssa.Function) []*ssa.BasicBlock {
	if len(fn.Blocks) == 0 {
		return nil
	}
	seen := map[*ssa.BasicBlock]bool{}
	var list []*ssa.BasicBlock
	var visit func(*ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if seen[b] {
			return
		}
		seen[b] = true
		list = append(list, b)
		for _, s := range successors(b) {
			visit(s)
		}
	}
	visit(fn.Blocks[0])
	return list
}

func successors(b *ssa.BasicBlock) []*ssa.BasicBlock {
	if len(b.Instrs) == 0 {
		return nil
	}
	if cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
		if c, ok := cond.Cond.(*ssa.Const); ok && c.Value != nil {
			if c.Value.String() == "true" {
				return b.Succs[:1]
			}
			return b.Succs[1:]
		}
	}
	return b.Succs
}

// Edges is the values that a Phi can have: those of the blocks that its function can come to.
func Edges(phi *ssa.Phi) []ssa.Value {
	feasible := map[*ssa.BasicBlock]bool{}
	for _, b := range Feasible(phi.Parent()) {
		feasible[b] = true
	}
	var vs []ssa.Value
	for i, v := range phi.Edges {
		pred := phi.Block().Preds[i]
		if !feasible[pred] {
			continue
		}
		for _, s := range successors(pred) {
			if s == phi.Block() {
				vs = append(vs, v)
				break
			}
		}
	}
	return vs
}

// expr is what is known of a criterion, a polarity or a verdict; nil: nothing.
func (r *Result) expr(v ssa.Value) *Expr { return r.follow(v, map[ssa.Value]bool{}) }

// follow is expr, where busy is the values that it is about already.
func (r *Result) follow(v ssa.Value, busy map[ssa.Value]bool) *Expr {
	if busy[v] || len(busy) > 50 {
		return nil
	}
	busy[v] = true
	defer delete(busy, v)
	switch v := v.(type) {
	case *ssa.Const:
		if v.Value == nil || !names.IsPolarity(v.Type()) && !names.IsVerdict(v.Type()) {
			return r.ofType(v.Type()) // a struct without anything in it
		}
		return exactly(v.Int64())
	case *ssa.Parameter:
		return &Expr{Op: Param, N: parameter(v), Is: r.typ(v.Type())}
	case *ssa.Phi:
		var all []*Expr
		for _, e := range Edges(v) {
			if e == v || busy[e] {
				if _, loop := e.(*ssa.Phi); loop {
					continue // what comes around is one of the others
				}
			}
			all = append(all, or(r.follow(e, busy), open))
		}
		return union(all)
	case *ssa.BinOp:
		if v.Op == token.OR {
			x, y := or(r.follow(v.X, busy), open), or(r.follow(v.Y, busy), open)
			return (&Expr{Op: Or, Args: []*Expr{x, y}}).short()
		}
	case *ssa.ChangeType:
		if interesting(v.X.Type()) {
			return r.follow(v.X, busy)
		}
	case *ssa.MakeInterface:
		if m := names.MethodsOf(v.X.Type()); m.Criterion() && !m.Live() {
			return exactly(0) // it is graded when the trial is over
		}
		return r.follow(v.X, busy)
	case *ssa.ChangeInterface:
		return r.follow(v.X, busy)
	case *ssa.TypeAssert:
		if !v.CommaOk {
			return or(r.follow(v.X, busy), r.declared(v.AssertedType).closedOrNil())
		}
	case *ssa.Extract:
		switch tuple := v.Tuple.(type) {
		case *ssa.Call:
			return r.call(tuple, v.Index, busy)
		case *ssa.TypeAssert:
			if v.Index == 0 {
				return or(r.follow(tuple.X, busy), r.declared(tuple.AssertedType).closedOrNil())
			}
		}
	case *ssa.Call:
		return r.call(v, 0, busy)
	case *ssa.Alloc:
		return r.built(v, busy)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return or(or(r.load(v.X, nil, v.Type(), busy), r.made(v, busy)), r.ofType(v.Type()))
		}
	case *ssa.Field:
		return or(r.load(v.X, []int{v.Field}, v.Type(), busy), r.ofType(v.Type()))
	}
	return r.ofType(v.Type())
}

func (e *Expr) closedOrNil() *Expr {
	if e == nil || !e.closed() {
		return nil
	}
	return e
}

// ofType is what is known of every criterion of a type.
func (r *Result) ofType(t types.Type) *Expr {
	if e := r.declared(t); e != nil {
		return &Expr{Is: e.Set()}
	}
	return nil
}

func parameter(p *ssa.Parameter) int {
	for i, q := range p.Parent().Params {
		if p == q {
			return i
		}
	}
	return -1
}

// call is the i-th result of a call.
func (r *Result) call(call *ssa.Call, i int, busy map[ssa.Value]bool) *Expr {
	if call.Call.IsInvoke() {
		if call.Call.Method.Name() == names.StopPolarities && names.IsStopPolarities(call.Call.Method.Signature()) {
			return r.follow(call.Call.Value, busy)
		}
		return nil
	}
	typ := call.Type()
	if t, ok := typ.(*types.Tuple); ok {
		typ = t.At(i).Type()
	}
	obj := program.Callee(&call.Call)
	if obj == nil {
		return r.ofType(typ)
	}
	args := call.Call.Args
	if names.IsStopPolarities(obj.Signature()) && obj.Name() == names.StopPolarities && len(args) == 1 {
		if e := r.declared(args[0].Type()); e != nil {
			return e.with(func(int) *Expr { return r.structure(args[0], busy) })
		}
	}
	rs := r.results(obj)
	if i >= len(rs) || rs[i] == nil {
		return r.ofType(typ)
	}
	e := rs[i].with(r.arguments(args, busy))
	if e.Set() == unknown && e.closed() {
		return or(r.ofType(typ), e)
	}
	return e
}

// list is a number that is constant, or a slice of criteria whose elements are known; nil otherwise.
func (r *Result) list(v ssa.Value, busy map[ssa.Value]bool) *Expr {
	switch v := v.(type) {
	case *ssa.Const:
		if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 && v.Value != nil {
			return &Expr{Op: Int, N: int(v.Int64())}
		}
		if _, ok := v.Type().Underlying().(*types.Slice); ok && v.Value == nil {
			return &Expr{Op: List}
		}
	case *ssa.Parameter:
		if s, ok := v.Type().Underlying().(*types.Slice); ok && criterion(s.Elem()) {
			return &Expr{Op: Param, N: parameter(v), Is: unknown}
		}
	case *ssa.Slice:
		// What the compiler makes of f(a, b, c) and of a slice literal.
		array, ok := v.X.(*ssa.Alloc)
		if !ok || v.Low != nil || v.High != nil {
			return nil
		}
		typ, ok := array.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		if !ok || typ.Len() > 32 {
			return nil
		}
		out := &Expr{Op: List, Args: make([]*Expr, typ.Len())}
		for _, ref := range *array.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Slice:
				if ref != v {
					return nil
				}
			case *ssa.IndexAddr:
				c, ok := ref.Index.(*ssa.Const)
				if !ok || len(*ref.Referrers()) != 1 {
					return nil
				}
				store, ok := (*ref.Referrers())[0].(*ssa.Store)
				if !ok || store.Addr != ref {
					return nil
				}
				out.Args[c.Int64()] = or(r.follow(store.Val, busy), open)
			case *ssa.DebugRef:
			default:
				return nil
			}
		}
		for i, a := range out.Args {
			if a == nil {
				out.Args[i] = open
			}
		}
		return out
	}
	return nil
}
