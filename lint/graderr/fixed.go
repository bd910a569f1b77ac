package graderr

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// fixed reports whether a score is the same whatever the agent has done.
func (g *grader) fixed(score ssa.Value) bool {
	return maker{g.analyzer, func(*ssa.Const) bool { return true }}.of(score, nil, 0)
}

// zero reports whether a score is 0.
func (g *grader) zero(score ssa.Value) bool {
	return maker{g.analyzer, func(c *ssa.Const) bool {
		switch {
		case c.Value == nil:
			return true
		case c.Value.Kind() == constant.Bool:
			return !constant.BoolVal(c.Value)
		case c.Value.Kind() == constant.Int, c.Value.Kind() == constant.Float:
			return constant.Sign(c.Value) == 0
		}
		return false
	}}.of(score, nil, 0)
}

// maker looks at what scores are made of.
type maker struct {
	*analyzer
	has func(*ssa.Const) bool // what constants have to be
}

// given says of a parameter whether what it is given is made of such constants; nil: it is not known.
type given func(*ssa.Parameter) bool

// of reports whether a score, or a number that makes one, is made of such constants alone.
func (m maker) of(v ssa.Value, args given, depth int) bool {
	if depth > 8 {
		return false
	}
	switch v := resolve(v).(type) {
	case *ssa.Const:
		return m.has(v)
	case *ssa.Parameter:
		return args != nil && args(v)
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !m.of(e, args, depth+1) {
				return false
			}
		}
		return true
	case *ssa.UnOp:
		return v.Op == token.MUL && m.variable(v.X, args, depth)
	case *ssa.Call:
		switch scoring(v) {
		case "PassIf", "Points", "Because", "Labels":
			return m.of(v.Call.Args[0], args, depth+1)
		case "Ratio":
			_, ok := v.Call.Args[1].(*ssa.Const)
			return ok && m.of(v.Call.Args[0], args, depth+1)
		}
		return names.IsScore(v.Type()) && m.result(v, 0, args, depth)
	case *ssa.Extract:
		return m.result(v.Tuple, v.Index, args, depth)
	}
	return false
}

// result is of for what a function of the package returns.
func (m maker) result(v ssa.Value, i int, args given, depth int) bool {
	fn := m.own(v)
	if fn == nil {
		return false
	}
	list := v.(*ssa.Call).Call.Args
	return everyResult(fn, i, func(r ssa.Value) bool {
		return m.of(r, func(p *ssa.Parameter) bool {
			for i, q := range fn.Params {
				if q == p && i < len(list) {
					return m.of(list[i], args, depth+1)
				}
			}
			return false
		}, depth+1)
	})
}

// variable is of for a variable of the package, and for a score that is made with a reason.
func (m maker) variable(addr ssa.Value, args given, depth int) bool {
	if _, ok := addr.(*ssa.Global); ok {
		return m.has(ssa.NewConst(constant.MakeBool(true), types.Typ[types.Bool]))
	}
	a, ok := addr.(*ssa.Alloc)
	if !ok {
		return false
	}
	s := program.StoresTo(a)
	for i, store := range s.Stores {
		if len(s.Paths[i]) == 0 && !m.of(store.Val, args, depth+1) {
			return false
		}
	}
	return !s.Escapes && !leaks(a) && names.IsScore(a.Type().Underlying().(*types.Pointer).Elem())
}
