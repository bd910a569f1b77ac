package livepair

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/imports"
	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// addVerdict is the method LiveVerdict that decides nothing, after StopPolarities.
func (p *pack) addVerdict(t *types.Named, after *types.Func) *analysis.SuggestedFix {
	decl := p.decls[after]
	if decl == nil || declares(t, names.LiveVerdict) {
		return nil
	}
	file := p.files[decl]
	q, edits, ok := imports.Add(p.pass, file, names.Evaltest, names.Agents)
	if !ok {
		return nil
	}
	eval, agents := q[0], q[1]
	text := fmt.Sprintf("\n\n// LiveVerdict judges the trajectory so far.\nfunc (%s) LiveVerdict(tr *%sTrajectory) %sVerdict {\n\treturn %sUndecided\n}",
		p.receiver(decl), agents, eval, eval)
	end := p.lineEnd(decl)
	edits = append(edits, analysis.TextEdit{Pos: end, End: end, NewText: []byte(text)})
	return &analysis.SuggestedFix{Message: "add LiveVerdict", TextEdits: edits}
}

// lineEnd is the end of a declaration, with the comment that follows it on its line.
func (p *pack) lineEnd(decl *ast.FuncDecl) token.Pos {
	end := decl.End()
	for _, c := range p.files[decl].Comments {
		if c.Pos() >= end && p.pass.Fset.Position(c.Pos()).Line == p.pass.Fset.Position(end).Line {
			return c.End()
		}
	}
	return end
}

// addPolarities is the method StopPolarities, before LiveVerdict, if LiveVerdict shows what it says.
func (p *pack) addPolarities(t *types.Named, before *types.Func) *analysis.SuggestedFix {
	decl := p.decls[before]
	if decl == nil || declares(t, names.StopPolarities) {
		return nil
	}
	said, ok := p.said(decl)
	if !ok {
		return nil
	}
	q, edits, ok := imports.Add(p.pass, p.files[decl], names.Evaltest)
	if !ok {
		return nil
	}
	eval := q[0]
	answer := map[int]string{0: "0", names.Pass: eval + "Pass", names.Fail: eval + "Fail", names.Pass | names.Fail: eval + "Pass | " + eval + "Fail"}[said]
	text := fmt.Sprintf("// StopPolarities says which verdicts LiveVerdict can reach.\nfunc (%s) StopPolarities() %sPolarity { return %s }\n\n", p.receiver(decl), eval, answer)
	pos := decl.Pos()
	if decl.Doc != nil {
		pos = decl.Doc.Pos()
	}
	edits = append(edits, analysis.TextEdit{Pos: pos, End: pos, NewText: []byte(text)})
	return &analysis.SuggestedFix{Message: "add StopPolarities", TextEdits: edits}
}

func declares(t *types.Named, method string) bool {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, t.Obj().Pkg(), method)
	return obj != nil
}

// said is the polarities of all verdicts that a LiveVerdict returns; ok: all are constants.
func (p *pack) said(decl *ast.FuncDecl) (said int, ok bool) {
	if decl.Body == nil {
		return 0, false
	}
	ok = true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) != 1 {
				ok = false
				return false
			}
			switch tv := p.pass.TypesInfo.Types[n.Results[0]]; {
			case tv.Value == nil:
				ok = false
			case tv.Value.String() == strconv.Itoa(names.Passed):
				said |= names.Pass
			case tv.Value.String() == strconv.Itoa(names.Failed):
				said |= names.Fail
			case tv.Value.String() != strconv.Itoa(names.Undecided):
				ok = false
			}
		}
		return true
	})
	return said, ok
}

// receiver is that of a method, as it is written.
func (p *pack) receiver(decl *ast.FuncDecl) string {
	field := decl.Recv.List[0]
	typ := types.ExprString(field.Type)
	if len(field.Names) > 0 {
		return field.Names[0].Name + " " + typ
	}
	return typ
}
