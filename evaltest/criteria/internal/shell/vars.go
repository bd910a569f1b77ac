package shell

import (
	"math"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A variable is what the source says of one of its variables.
type variable struct {
	times int    // that it is assigned to
	value string // of one of these
	open  bool   // it may have a value that the source does not spell out
	late  bool   // ${x:=…} may give it one
	// from is where in the source the value holds for certain, if this is the only one.
	from uint
	// sudo says that whatever is assigned to it is nothing, or runs the words behind it.
	sudo bool
}

// vars are the variables that a source assigns to. One that it does not assign to has what the environment says.
type vars struct {
	of  map[string]*variable
	any bool // all may change: there is eval or the like
}

// variablesOf finds the variables of a source. A value is certain where its assignment stands before it, under no condition.
func (f *finder) variablesOf(file *syntax.File) vars {
	v := vars{of: map[string]*variable{}}
	certain := map[*syntax.CallExpr]bool{}
	straight(file.Stmts, certain)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				if len(n.Args) == 0 {
					f.assign(&v, a, certain[n])
				}
			}
			if len(n.Args) > 0 {
				f.changes(&v, n.Args)
			}
		case *syntax.DeclClause:
			for _, a := range n.Args {
				f.assign(&v, a, false)
			}
		case *syntax.WordIter:
			v.get(n.Name.Value).open = true
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				v.get(n.Param.Value).late = true
			}
		case *syntax.BinaryArithm:
			v.counted(n.X)
		case *syntax.UnaryArithm:
			v.counted(n.X)
		}
		return true
	})
	return v
}

func (v *vars) get(name string) *variable {
	x := v.of[name]
	if x == nil {
		x = &variable{from: math.MaxUint, sudo: true}
		v.of[name] = x
	}
	return x
}

// counted notes a variable that arithmetic may change.
func (v *vars) counted(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && w.Lit() != "" {
		v.get(w.Lit()).open = true
	}
}

// changes notes the variables that a command assigns to.
func (f *finder) changes(v *vars, words []*syntax.Word) {
	switch program := words[0].Lit(); program {
	case "eval", "source", ".":
		v.any = true
	case "read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "command", "builtin":
		for _, w := range words[1:] {
			if name := w.Lit(); name != "" && len(name) < 256 {
				v.get(name).open = true
			}
		}
	}
}

func (f *finder) assign(v *vars, a *syntax.Assign, certain bool) {
	if a.Name == nil || a.Naked && a.Value == nil {
		return
	}
	x := v.get(a.Name.Value)
	x.times++
	value, ok := literal(a.Value)
	if !ok || a.Append || a.Index != nil || a.Array != nil {
		x.open = true
		return
	}
	x.value = value
	if first, _, _ := strings.Cut(value, " "); value != "" && !wrappers[Program(first)].root {
		x.sudo = false
	}
	if certain {
		x.from = a.End().Offset()
	}
}

// literal is the value of a word in which nothing is expanded.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	f := finder{}
	for _, p := range w.Parts {
		if q, ok := p.(*syntax.DblQuoted); ok {
			for _, p := range q.Parts {
				if _, ok := p.(*syntax.Lit); !ok {
					return "", false
				}
			}
			continue
		}
		switch p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		default:
			return "", false
		}
	}
	return f.text(w), true
}

// straight notes the assignments that are carried out whenever the statements are.
func straight(stmts []*syntax.Stmt, certain map[*syntax.CallExpr]bool) {
	for _, s := range stmts {
		carriedOut(s, certain)
	}
}

// carriedOut reports whether s is nothing but assignments, after which what an && joins to it is carried out as well.
func carriedOut(s *syntax.Stmt, certain map[*syntax.CallExpr]bool) bool {
	if s.Background || s.Coprocess || s.Negated {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		certain[cmd] = len(cmd.Args) == 0
		return len(cmd.Args) == 0
	case *syntax.Block:
		straight(cmd.Stmts, certain)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			return carriedOut(cmd.X, certain) && cmd.Op == syntax.AndStmt && carriedOut(cmd.Y, certain)
		}
	}
	return false
}

// value is what the variable holds at an offset of the source, where the source says it.
func (f *finder) value(name string, at uint) (string, bool) {
	x := f.vars.of[name]
	if x == nil || f.vars.any || x.open || x.late || x.times != 1 || at < x.from || f.outer[name] {
		return "", false
	}
	return x.value, true
}

// assigned reports whether the source, or one that holds it, may give the variable a value.
func (f *finder) assigned(name string) bool {
	x := f.vars.of[name]
	return f.vars.any || x != nil && (x.times > 0 || x.open) || f.outer[name]
}

var sudoNames = set("SUDO", "sudo", "_SUDO", "_sudo", "SUDO_CMD", "MAYBE_SUDO", "maybe_sudo", "DOAS", "doas")

// isSudo reports whether a variable, whose value is not known, is by its name nothing or a sudo, and nothing in the source says
// otherwise.
func (f *finder) isSudo(name string) bool {
	x := f.vars.of[name]
	return sudoNames[name] && !f.vars.any && (x == nil || x.sudo && !x.open && !x.late)
}
