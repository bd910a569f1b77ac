// Package report is how every analyzer says what it found: under its name, with the address of its page, and not where
// the author has said that it is meant so.
//
//	report.Diagnostic(pass, analysis.Diagnostic{Pos: pos, Message: "…; use …"})
//
// An author says so with a comment on the line, or with the declaration that it is in:
//
//	//nolint:evaltest // it breaks its contract on purpose
//
// in which evaltest stands for all analyzers, and the name of one for that one. As everywhere, all, and no list at all, stand for
// every linter.
package report

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// Hosted says that analyzers run in golangci-lint, which puts the name of the analyzer before a message, knows comments that name
// evaltest or every linter itself, and tells of those that are of no use. It is set before analyzers run.
var Hosted bool

// Diagnostic reports d.
func Diagnostic(pass *analysis.Pass, d analysis.Diagnostic) {
	d.Category = pass.Analyzer.Name
	d.URL = names.Page(pass.Analyzer.Name)
	if meant(pass, d.Pos) {
		return
	}
	if Hosted {
		d.Related = nil // it would make a finding of each, which no comment at the first one silences
	} else {
		d.Message = pass.Analyzer.Name + ": " + d.Message
	}
	pass.Report(d)
}

// meant reports whether the author says that what is found at pos is meant so.
func meant(pass *analysis.Pass, pos token.Pos) bool {
	i := slices.IndexFunc(pass.Files, func(f *ast.File) bool { return f.FileStart <= pos && pos < f.FileEnd })
	if i < 0 {
		return false
	}
	file := pass.Files[i]
	lines := map[int]bool{line(pass, pos): true}
	for _, decl := range file.Decls {
		if decl.Pos() <= pos && pos < decl.End() {
			lines[line(pass, decl.Pos())] = true
			if doc := docOf(decl); doc != nil {
				for _, c := range doc.List {
					lines[line(pass, c.Pos())] = true
				}
			}
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if lines[line(pass, c.Pos())] && mentions(c.Text, pass.Analyzer.Name) {
				return true
			}
		}
	}
	return false
}

func line(pass *analysis.Pass, pos token.Pos) int { return pass.Fset.PositionFor(pos, false).Line }

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return decl.Doc
	case *ast.GenDecl:
		return decl.Doc
	}
	return nil
}

// mentions reports whether a comment is a nolint that names the analyzer, or what is the driver's to know where there is
// none: all of evaltest's, or every linter.
func mentions(comment, analyzer string) bool {
	text, ok := strings.CutPrefix(strings.TrimLeft(comment, "/ "), "nolint")
	if !ok || text != "" && !strings.ContainsRune(" \t:/", rune(text[0])) {
		return false
	}
	list, listed := strings.CutPrefix(text, ":")
	if !listed {
		return !Hosted
	}
	list, _, _ = strings.Cut(list, "//")
	for name := range strings.SplitSeq(list, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
		switch strings.ToLower(name) {
		case analyzer:
			return true
		case "evaltest", "all":
			if !Hosted {
				return true
			}
		}
	}
	return false
}
