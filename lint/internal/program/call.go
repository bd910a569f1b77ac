package program

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Expr is a call as it is written; nil where nobody wrote it.
func (p *Program) Expr(call ssa.CallInstruction) *ast.CallExpr {
	p.onceCalls.Do(func() {
		p.calls = map[token.Pos]*ast.CallExpr{}
		for _, file := range p.pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				if n, ok := n.(*ast.CallExpr); ok {
					p.calls[n.Lparen] = n
				}
				return true
			})
		}
	})
	return p.calls[call.Common().Pos()]
}

// Text is an expression as a message quotes it: as it is written if it is short, else the other words.
func Text(x ast.Expr, otherwise string) string {
	if x != nil {
		if text := types.ExprString(x); len(text) < 60 {
			return text
		}
	}
	return otherwise
}
