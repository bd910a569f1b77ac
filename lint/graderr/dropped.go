package graderr

import (
	"cmp"
	"go/token"
	"go/types"
	"maps"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// compared looks for scores that say whether there was an error: PassIf(err == nil).
func (g *grader) compared() {
	for _, w := range g.ways() {
		if cond := passIf(w.score); cond != nil {
			g.comparison(w.arrival, cond, map[ssa.Value]bool{})
		}
	}
}

func (g *grader) comparison(at arrival, cond ssa.Value, seen map[ssa.Value]bool) {
	if seen[cond] {
		return
	}
	seen[cond] = true
	switch v := cond.(type) {
	case *ssa.UnOp:
		if v.Op == token.NOT {
			g.comparison(at, v.X, seen)
		}
	case *ssa.Phi:
		for _, e := range v.Edges {
			g.comparison(at, e, seen)
		}
	case *ssa.BinOp:
		t, ok := testOf(v)
		if !ok || t.says != notNil {
			return
		}
		if s, ok := g.blamed(t.err, arrival{}); ok {
			g.report(finding{at: at.ret.Pos(), kind: s.kind, what: s.what, source: s})
		}
	}
}

// helpers looks at functions of the package that answer without an error, and whose answer is scored.
func (g *grader) helpers() {
	for _, b := range g.fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok {
				continue
			}
			fn := g.own(call)
			if fn == nil || fn == g.fn || g.inner[fn] || fn.Signature.Results().Len() != 1 {
				continue
			}
			t := fn.Signature.Results().At(0).Type()
			if _, ok := t.Underlying().(*types.Interface); ok || names.IsScore(t) || !g.decides(call) {
				continue
			}
			inner := map[*ssa.Function]bool{g.fn: true}
			maps.Copy(inner, g.inner)
			h := &grader{analyzer: g.analyzer, fn: fn, err: noError, scorer: cmp.Or(g.scorer, g.name()), inner: inner}
			h.check()
		}
	}
}

// dropped looks for calls whose error nobody looks at, and whose result is scored.
func (g *grader) dropped() {
	for _, b := range g.fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok {
				continue
			}
			results, ok := call.Type().(*types.Tuple)
			if !ok || results.Len() < 2 || !isError(results.At(results.Len()-1).Type()) {
				continue
			}
			if data := g.without(call, results.Len()-1); data != nil && g.decides(data) {
				if s := g.source(call, call); s.kind != unknown {
					g.report(finding{at: call.Pos(), kind: s.kind, what: s.what + " and scores what is left", source: source{}, dropped: true})
				}
			}
		}
	}
}

// without is what is taken of a call without its error; nil: the error is looked at, or nothing is taken.
func (g *grader) without(call *ssa.Call, err int) ssa.Value {
	var data ssa.Value
	for _, ref := range *call.Referrers() {
		x, ok := ref.(*ssa.Extract)
		if !ok {
			return nil // it is returned as it is
		}
		switch {
		case x.Index != err:
			if len(*x.Referrers()) > 0 {
				data = x
			}
		case len(*x.Referrers()) > 0:
			return nil
		}
	}
	return data
}

// decides reports whether a score depends on a value, and no error does.
func (g *grader) decides(data ssa.Value) bool {
	for _, b := range g.fn.Blocks {
		last, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || !g.contains(last.Cond, data) {
			continue
		}
		for _, succ := range b.Succs {
			if ret, ok := succ.Instrs[len(succ.Instrs)-1].(*ssa.Return); ok && g.err != noError && !g.noErr(ret.Results[g.err], 0) {
				return false // if info == nil { return an error }
			}
		}
	}
	for _, w := range g.ways() {
		if g.worth(w.score, data, 0) {
			return true
		}
	}
	for _, b := range g.fn.Blocks {
		if last, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok && g.contains(last.Cond, data) {
			return true
		}
	}
	return false
}

// worth reports whether a score, not only the reason for it, is made of a value.
func (g *grader) worth(score, data ssa.Value, depth int) bool {
	score = resolve(score)
	if depth > 8 || g.fixed(score) {
		return false
	}
	switch v := score.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			if g.worth(e, data, depth+1) {
				return true
			}
		}
		return false
	case *ssa.Call:
		switch scoring(v) {
		case "Because", "Labels":
			return g.worth(v.Call.Args[0], data, depth+1)
		}
		fn := g.own(v)
		if fn == nil || !names.IsScore(v.Type()) {
			break
		}
		for i, arg := range v.Call.Args {
			if i < len(fn.Params) && g.contains(arg, data) && !everyResult(fn, 0, func(r ssa.Value) bool { return !g.worth(r, fn.Params[i], depth+1) }) {
				return true
			}
		}
		return false
	}
	return g.contains(score, data)
}

// contains reports whether a value is made of another one.
func (a *analyzer) contains(v, part ssa.Value) bool {
	return contains(v, part, map[ssa.Value]bool{})
}

func contains(v, part ssa.Value, seen map[ssa.Value]bool) bool {
	if v == part {
		return true
	}
	if seen[v] {
		return false
	}
	seen[v] = true
	if r := resolve(v); r != v {
		return contains(r, part, seen)
	}
	if alloc, ok := v.(*ssa.Alloc); ok {
		return stored(alloc, part, seen, 0)
	}
	instr, ok := v.(ssa.Instruction)
	if !ok {
		return false
	}
	for _, op := range instr.Operands(nil) {
		if *op != nil && contains(*op, part, seen) {
			return true
		}
	}
	return false
}

// stored reports whether something is put into a variable that is made of a value.
func stored(addr ssa.Value, part ssa.Value, seen map[ssa.Value]bool, depth int) bool {
	if depth > 6 || addr.Referrers() == nil {
		return false
	}
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == addr && contains(ref.Val, part, seen) {
				return true
			}
		case *ssa.FieldAddr:
			if stored(ref, part, seen, depth+1) {
				return true
			}
		case *ssa.IndexAddr:
			if stored(ref, part, seen, depth+1) {
				return true
			}
		case *ssa.MakeInterface:
			if stored(ref, part, seen, depth+1) {
				return true
			}
		case *ssa.Call:
			for _, arg := range ref.Call.Args {
				if arg != addr && contains(arg, part, seen) {
					return true
				}
			}
		}
	}
	return false
}
