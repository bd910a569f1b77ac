package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// output is what a statement writes, where it is one that repeats what the source says: echo, printf, cat of a here-document,
// and groups, loops and pipes of them. It is not ok if that is not known to the last byte: what comes behind words that are
// not known may be their arguments.
func (f *finder) output(s *syntax.Stmt) (text string, ok bool) {
	known, seen := f.outputs[s]
	if !seen {
		f.redirects(s)
		if kept(s) {
			known.text, known.ok = f.written(s.Cmd)
		}
		f.outputs[s] = known
	}
	return known.text, known.ok
}

type written struct {
	text string
	ok   bool
}

// kept reports that what the statement writes neither goes elsewhere nor is mixed with what others write.
func kept(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess {
		return false
	}
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			continue
		}
		if r.N == nil || r.N.Value == "1" {
			return false
		}
	}
	return true
}

// outputOf is what statements write one after another.
func (f *finder) outputOf(stmts []*syntax.Stmt) (string, bool) {
	var b strings.Builder
	for _, s := range stmts {
		text, ok := f.output(s)
		if !ok || b.Len()+len(text) > maxSource {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

func (f *finder) written(cmd syntax.Command) (string, bool) {
	switch cmd := cmd.(type) {
	case nil, *syntax.FuncDecl, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		return "", true
	case *syntax.Subshell:
		return f.outputOf(cmd.Stmts)
	case *syntax.Block:
		return f.outputOf(cmd.Stmts)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return f.output(cmd.Stmt)
		}
	case *syntax.ForClause:
		return lines(f.outputOf(cmd.Do))
	case *syntax.WhileClause:
		if text, ok := f.outputOf(cmd.Cond); ok && text == "" {
			return lines(f.outputOf(cmd.Do))
		}
	case *syntax.BinaryCmd:
		return f.both(cmd)
	case *syntax.CallExpr:
		words := f.words(cmd.Args)
		for i, w := range words {
			words[i] = f.scripted(w)
		}
		return echoed(words, f.stdins[cmd])
	}
	return "", false
}

// lines is what a loop writes whose body writes text: the lines of it once, if it is lines.
func lines(text string, ok bool) (string, bool) {
	return text, ok && (text == "" || strings.HasSuffix(text, "\n"))
}

// both is what the two sides of an operator write.
func (f *finder) both(cmd *syntax.BinaryCmd) (string, bool) {
	left, ok := f.output(cmd.X)
	switch {
	case cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll:
		if !ok {
			left = ""
		}
		f.feed(cmd.Y, left)
		return f.output(cmd.Y)
	case cmd.Op == syntax.OrStmt && ok && left != "":
		return left, true // what echoes does not fail
	case cmd.Op == syntax.AndStmt && ok:
		right, ok := f.output(cmd.Y)
		if !ok || len(left)+len(right) > maxSource {
			return "", false
		}
		return left + right, true
	}
	return "", false
}

// redirects notes what a statement's redirections give to its commands to read.
func (f *finder) redirects(s *syntax.Stmt) {
	if s.Cmd == nil {
		return
	}
	for _, r := range s.Redirs {
		if text, ok := f.redirected(r); ok {
			f.feed(s.Cmd, text)
		}
	}
}

// redirected is what r gives to read, "" if that is not known; ok is false if it leaves standard input as it is.
func (f *finder) redirected(r *syntax.Redirect) (text string, ok bool) {
	if r.N != nil && r.N.Value != "0" {
		return "", false
	}
	switch r.Op {
	case syntax.WordHdoc:
		return f.scripted(f.text(r.Word)) + "\n", true
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return "", true
		}
		return f.document(r), true
	case syntax.RdrIn:
		file := f.text(r.Word)
		return f.marks.file(file), !isStdin(file)
	case syntax.RdrInOut, syntax.DplIn:
		return "", true
	}
	return "", false
}

// document is the text of a here-document. A quote in the word that ends it takes the meaning from all that is in it.
func (f *finder) document(r *syntax.Redirect) string {
	var b strings.Builder
	if strings.ContainsAny(f.slice(r.Word), "\"'\\") {
		for _, p := range r.Hdoc.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				b.WriteString(lit.Value)
			}
		}
		return b.String()
	}
	f.parts(&b, r.Hdoc.Parts, true)
	return f.scripted(b.String())
}

// feed notes that the first command in node that reads its input reads text, and returns what is left for those after it: nothing, once
// one may have read it. Commands behind a pipe, or with a redirection of their own, read something else.
func (f *finder) feed(node syntax.Node, text string) string {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				if _, own := f.redirected(r); own {
					return false
				}
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				if f.spend(64) {
					text = f.feed(n.X, text)
				}
				return false
			}
		case *syntax.CallExpr:
			f.stdins[n] = text
			if len(n.Args) > 0 && !deaf[Program(f.slice(n.Args[0]))] {
				text = ""
			}
			return false
		case *syntax.FuncDecl, *syntax.Word, *syntax.Redirect: // what is within words is no script
			return false
		}
		return f.spend(1)
	})
	return text
}

// silent are programs that write nothing to their output, with the arguments that scripts give them.
var silent = set(":", "true", "false", "test", "[", "cd", "set", "shopt", "unset", "read", "sleep", "wait", "shift")

// deaf are programs that do not read their input.
var deaf = set(":", "true", "false", "test", "[", "cd", "set", "shopt", "unset", "sleep", "wait", "shift", "echo", "printf", "export",
	"pwd", "date", "ls", "mkdir", "rm", "cp", "mv", "touch", "chmod", "which", "trap", "umask", "ulimit")

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}
