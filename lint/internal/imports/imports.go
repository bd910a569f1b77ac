// Package imports is what suggested fixes do to the imports of a file.
package imports

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Qualifier is what stands before the names of a package that a file imports, as "fs." or "" after an import of all its names;
// ok: it imports the package, under a name.
func Qualifier(file *ast.File, pkg string) (qualifier string, ok bool) {
	for _, imp := range file.Imports {
		if pathOf(imp) != pkg {
			continue
		}
		switch {
		case imp.Name == nil:
			return path.Base(pkg) + ".", true
		case imp.Name.Name == ".":
			return "", true
		case imp.Name.Name != "_":
			return imp.Name.Name + ".", true
		}
	}
	return "", false
}

// Add is the qualifiers of packages in a file, with the edits that import those which it does not import yet. A package's name has
// to be the last element of its path; ok is false where that name means something else already.
func Add(pass *analysis.Pass, file *ast.File, pkgs ...string) (qualifiers []string, edits []analysis.TextEdit, ok bool) {
	var std, others []string
	for _, pkg := range pkgs {
		q, have := Qualifier(file, pkg)
		switch {
		case have:
		case taken(pass, file, path.Base(pkg)):
			return nil, nil, false
		case isStd(pkg):
			std = append(std, pkg)
		default:
			others = append(others, pkg)
		}
		if !have {
			q = path.Base(pkg) + "."
		}
		qualifiers = append(qualifiers, q)
	}
	for _, missing := range [][]string{std, others} {
		if len(missing) == 0 {
			continue
		}
		slices.Sort(missing)
		edits = append(edits, insert(pass.Fset, file, missing)...)
	}
	return qualifiers, edits, true
}

// taken reports whether a name means something in the package, or in the file.
func taken(pass *analysis.Pass, file *ast.File, name string) bool {
	if pass.Pkg.Scope().Lookup(name) != nil {
		return true
	}
	if scope := pass.TypesInfo.Scopes[file]; scope != nil {
		return scope.Lookup(name) != nil
	}
	for _, imp := range file.Imports { // it was only parsed
		if imp.Name == nil && path.Base(pathOf(imp)) == name || imp.Name != nil && (imp.Name.Name == name || imp.Name.Name == ".") {
			return true
		}
	}
	return false
}

// insert imports packages of one kind, which are sorted: in their places among those of the same kind if there are any, the
// standard library first and all others last if not.
func insert(fset *token.FileSet, file *ast.File, pkgs []string) []analysis.TextEdit {
	var first, last *ast.GenDecl
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT && len(gen.Specs) > 0 && pathOf(gen.Specs[0].(*ast.ImportSpec)) != "C" {
			first, last = cmp.Or(first, gen), gen
		}
	}
	at := func(pos token.Pos, before, between, after string) []analysis.TextEdit {
		quoted := make([]string, len(pkgs))
		for i, pkg := range pkgs {
			quoted[i] = strconv.Quote(pkg)
		}
		return []analysis.TextEdit{{Pos: pos, End: pos, NewText: []byte(before + strings.Join(quoted, between) + after)}}
	}
	std := isStd(pkgs[0])
	switch {
	case first == nil:
		return at(file.Name.End(), "\n\nimport ", "\nimport ", "")
	case std && !first.Lparen.IsValid():
		if first.Doc != nil {
			return at(first.Doc.Pos(), "import ", "\nimport ", "\n\n")
		}
		return at(first.Pos(), "import ", "\nimport ", "\n")
	case !std && !last.Lparen.IsValid():
		return at(lineEnd(fset, file, last), "\nimport ", "\nimport ", "")
	case std:
		last = first
	}
	var kin []*ast.ImportSpec
	for _, spec := range last.Specs {
		if spec := spec.(*ast.ImportSpec); isStd(pathOf(spec)) == std {
			kin = append(kin, spec)
		}
	}
	switch {
	case len(kin) == 0 && std:
		return at(start(last.Specs[0].(*ast.ImportSpec)), "", "\n\t", "\n\n\t")
	case len(kin) == 0:
		return at(lineEnd(fset, file, last.Specs[len(last.Specs)-1]), "\n\n\t", "\n\t", "")
	}
	var edits []analysis.TextEdit
	for _, pkg := range pkgs {
		quoted := strconv.Quote(pkg)
		i := slices.IndexFunc(kin, func(spec *ast.ImportSpec) bool { return pathOf(spec) > pkg })
		if i >= 0 {
			pos := start(kin[i])
			edits = append(edits, analysis.TextEdit{Pos: pos, End: pos, NewText: []byte(quoted + "\n\t")})
		} else {
			pos := lineEnd(fset, file, kin[len(kin)-1])
			edits = append(edits, analysis.TextEdit{Pos: pos, End: pos, NewText: []byte("\n\t" + quoted)})
		}
	}
	return edits
}

// Remove takes an import out of a file; ok: it can be done, and no comment is lost.
func Remove(fset *token.FileSet, file *ast.File, pkg string) (edit analysis.TextEdit, ok bool) {
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT {
			continue
		}
		for _, spec := range gen.Specs {
			imp := spec.(*ast.ImportSpec)
			if pathOf(imp) != pkg || imp.Doc != nil || imp.Comment != nil {
				continue
			}
			var node ast.Node = imp
			if len(gen.Specs) == 1 {
				if gen.Doc != nil {
					return analysis.TextEdit{}, false
				}
				node = gen
			}
			lines := fset.File(node.Pos())
			from := lines.LineStart(lines.PositionFor(node.Pos(), false).Line)
			end := lines.PositionFor(node.End(), false).Line
			if end >= lines.LineCount() {
				return analysis.TextEdit{}, false
			}
			return analysis.TextEdit{Pos: from, End: lines.LineStart(end + 1)}, true
		}
	}
	return analysis.TextEdit{}, false
}

// pathOf is what an import imports.
func pathOf(imp *ast.ImportSpec) string {
	p, err := strconv.Unquote(imp.Path.Value)
	if err != nil {
		return ""
	}
	return p
}

// isStd reports whether a path looks like one of the standard library.
func isStd(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// start is where an import begins, with its comment.
func start(imp *ast.ImportSpec) token.Pos {
	if imp.Doc != nil {
		return imp.Doc.Pos()
	}
	return imp.Pos()
}

// lineEnd is where a node ends, with the comment that follows it on its line.
func lineEnd(fset *token.FileSet, file *ast.File, n ast.Node) token.Pos {
	for _, c := range file.Comments {
		if c.Pos() >= n.End() && fset.Position(c.Pos()).Line == fset.Position(n.End()).Line {
			return c.End()
		}
	}
	return n.End()
}
