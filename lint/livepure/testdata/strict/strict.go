// Package strict is looked at with options.
package strict

import (
	"go/ast"
	"io"

	. "github.com/evaltest-go/evaltest/agents"
	e "github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/livepure/testdata/helpers"
)

type verdict = e.Verdict

type dynamic struct {
	match func(string) bool
	in    io.Reader
}

func (c *dynamic) LiveVerdict(tr *Trajectory) verdict {
	if c.match(tr.Reply()) { // want `calls a function that is not known; list it in pure`
		return e.Failed
	}
	if _, err := c.in.Read(nil); err != nil { // want `calls io.Reader.Read, a method of an interface`
		return e.Failed
	}
	ast.SortImports(nil, nil)                                         // want `calls ast.SortImports, of which nothing is known`
	if helpers.Allowed(tr.Reply()) || helpers.Words(tr.Reply()) > 3 { // want `calls helpers.Words, which is listed as impure`
		return e.Failed
	}
	return e.Undecided
}
