package livepair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// wanted is a method of a live criterion.
type wanted struct {
	name, signature string
	fits            func(*types.Signature) bool
	have            func(names.Methods) *types.Selection
	also            []string // what it is called by mistake, besides what looks like it
}

var methods = []wanted{
	{names.StopPolarities, "StopPolarities() evaltest.Polarity", names.IsStopPolarities,
		func(m names.Methods) *types.Selection { return m.StopPolarities }, []string{"Polarity", "Polarities", "LivePolarities", "LivePolarity"}},
	{names.LiveVerdict, "LiveVerdict(*agents.Trajectory) evaltest.Verdict", names.IsLiveVerdict,
		func(m names.Methods) *types.Selection { return m.LiveVerdict }, []string{"Verdict", "Live", "LiveJudge", "StopVerdict"}},
	{names.LiveBounds, "LiveBounds(*agents.Trajectory) (lo, hi evaltest.Score)", names.IsLiveBounds,
		func(m names.Methods) *types.Selection { return m.LiveBounds }, []string{"Bounds", "LiveInterval"}},
}

// nearMisses reports methods that are nearly those of a live criterion, and whether there are any.
func (p *pack) nearMisses(t *types.Named, m names.Methods, own map[string]*types.Func) bool {
	found := false
	for _, w := range methods {
		if w.have(m) != nil {
			continue
		}
		if fn := own[w.name]; fn != nil {
			if intended(fn.Signature(), w.name) {
				p.report(fn, p.addPointer(fn), "%s of %s has the wrong signature, so %s is not live and cannot be armed: it is %s; make it %s",
					w.name, t.Obj().Name(), t.Obj().Name(), signature(fn), w.signature)
				found = true
			}
			continue
		}
		for fn := range t.Methods() {
			if !w.fits(fn.Signature()) || !p.misspelt(fn, w, m) {
				continue
			}
			p.report(fn, p.rename(fn, w.name), "%s of %s looks like %s, which is what makes a criterion live; rename it", fn.Name(), t.Obj().Name(), w.name)
			found = true
			break
		}
	}
	return found
}

// intended reports whether a method with the right name and another signature has to do with evaltest at all.
func intended(sig *types.Signature, name string) bool {
	if name == names.StopPolarities {
		return true // a name of nobody else's
	}
	for v := range sig.Params().Variables() {
		if names.IsTrajectory(v.Type()) || names.Is(v.Type(), names.Agents, "Trajectory") || names.IsPointer(v.Type(), names.Evaltest, "Trial") {
			return true
		}
	}
	for v := range sig.Results().Variables() {
		if names.IsVerdict(v.Type()) || names.IsScore(v.Type()) {
			return true
		}
	}
	return false
}

// misspelt reports whether a method with the right signature was meant to be w.
func (p *pack) misspelt(fn *types.Func, w wanted, m names.Methods) bool {
	switch have := fn.Name(); {
	case have == names.StopPolarities || have == names.LiveVerdict || have == names.LiveBounds:
		return false
	case !fn.Exported():
		// Helpers are called liveVerdict, and no harm is done unless the other half is there.
		return strings.EqualFold(have, w.name) && (m.StopPolarities != nil || m.LiveVerdict != nil)
	case distance(strings.ToLower(have), strings.ToLower(w.name)) <= 3:
		return true
	default:
		for _, other := range w.also {
			if have == other {
				return m.StopPolarities != nil || m.LiveVerdict != nil || m.LiveBounds != nil
			}
		}
	}
	return false
}

// distance is how many letters have to be added, left out or replaced to make a of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// signature is a method as people write it.
func signature(fn *types.Func) string {
	text := types.TypeString(types.NewSignatureType(nil, nil, nil, fn.Signature().Params(), fn.Signature().Results(), fn.Signature().Variadic()), func(pkg *types.Package) string {
		if names.Path(pkg) == names.Verdict {
			return "evaltest" // where authors know it from
		}
		return pkg.Name()
	})
	return fn.Name() + strings.TrimPrefix(text, "func")
}

// addPointer makes a LiveVerdict or LiveBounds that takes the trajectory by value take a pointer, if that is all.
func (p *pack) addPointer(fn *types.Func) *analysis.SuggestedFix {
	decl, sig := p.decls[fn], fn.Signature()
	if decl == nil || sig.Params().Len() != 1 || !names.Is(sig.Params().At(0).Type(), names.Agents, "Trajectory") {
		return nil
	}
	v := sig.Params().At(0)
	fixed := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, nil, v.Name(), types.NewPointer(v.Type()))), sig.Results(), false)
	if !names.IsLiveVerdict(fixed) && !names.IsLiveBounds(fixed) {
		return nil
	}
	typ := decl.Type.Params.List[0].Type
	edits := []analysis.TextEdit{{Pos: typ.Pos(), End: typ.Pos(), NewText: []byte("*")}}
	// &tr is tr now.
	certain := true
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND && p.pass.TypesInfo.Uses[id] == v {
				edits = append(edits, analysis.TextEdit{Pos: n.Pos(), End: n.X.Pos()})
				return false
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && p.pass.TypesInfo.Uses[id] == v {
				return false // tr.Calls() is fine either way
			}
		case *ast.Ident:
			if p.pass.TypesInfo.Uses[n] == v {
				certain = false
			}
		}
		return true
	})
	if !certain {
		return nil
	}
	return &analysis.SuggestedFix{Message: "take a pointer to the trajectory", TextEdits: edits}
}

// rename gives a method another name, unless the package uses it.
func (p *pack) rename(fn *types.Func, to string) *analysis.SuggestedFix {
	decl := p.decls[fn]
	if decl == nil {
		return nil
	}
	for _, used := range p.pass.TypesInfo.Uses {
		if f, ok := used.(*types.Func); ok && f.Origin() == fn {
			return nil
		}
	}
	edits := []analysis.TextEdit{{Pos: decl.Name.Pos(), End: decl.Name.End(), NewText: []byte(to)}}
	if decl.Doc != nil && strings.HasPrefix(decl.Doc.List[0].Text, "// "+fn.Name()+" ") {
		start := decl.Doc.List[0].Pos() + token.Pos(len("// "))
		edits = append(edits, analysis.TextEdit{Pos: start, End: start + token.Pos(len(fn.Name())), NewText: []byte(to)})
	}
	return &analysis.SuggestedFix{Message: "rename it to " + to, TextEdits: edits}
}
