package criteriatest

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/evaltest-go/evaltest/evaltest"
)

// source collects the literals in the source of the methods of a criterion and of those that it is made of, in what they call in their
// own packages, and in the functions that the criterion holds. Where the source is not at hand, as in a binary that was moved, there
// are none.
func (w *words) source(c evaltest.LiveCriterion) {
	for _, t := range append([]reflect.Type{reflect.TypeOf(c)}, w.parts...) {
		for _, name := range []string{"LiveVerdict", "LiveBounds", "Grade"} {
			if pc := methodPC(t, name, 4); pc != 0 {
				w.literalsAt(pc)
			}
		}
	}
	for _, pc := range w.funcs {
		w.literalsAt(pc)
	}
}

// methodPC is the entry of the code of a method as its author wrote it; 0: not found.
func methodPC(t reflect.Type, name string, depth int) uintptr {
	m, ok := t.MethodByName(name)
	if !ok || depth == 0 || t.Kind() == reflect.Interface { // what it holds is a part of the criterion
		return 0
	}
	pc := m.Func.Pointer()
	if file, _ := lineOf(pc); strings.HasSuffix(file, ".go") {
		return pc
	}
	if t.Kind() == reflect.Pointer { // a wrapper of the value's method
		t = t.Elem()
		if pc := methodPC(t, name, depth-1); pc != 0 {
			return pc
		}
	}
	if t.Kind() != reflect.Struct {
		return 0
	}
	for i := range t.NumField() { // or of that of an embedded field
		f := t.Field(i)
		if !f.Anonymous {
			continue
		}
		for _, t := range []reflect.Type{f.Type, reflect.PointerTo(f.Type)} {
			if pc := methodPC(t, name, depth-1); pc != 0 {
				return pc
			}
		}
	}
	return 0
}

func lineOf(pc uintptr) (file string, line int) {
	f := runtime.FuncForPC(pc)
	if f == nil {
		return "", 0
	}
	return f.FileLine(f.Entry())
}

// folder is the source of a package, as far as it is at hand: its functions, constants and variables by their names.
type folder struct {
	fset  *token.FileSet
	files map[string]*ast.File
	decls map[string][]ast.Node
}

var folders sync.Map // *folder by path; source does not change while a test runs

const maxFolder = 200 // files

func folderOf(path string) *folder {
	if f, ok := folders.Load(path); ok {
		return f.(*folder)
	}
	f := &folder{fset: token.NewFileSet(), files: map[string]*ast.File{}, decls: map[string][]ast.Node{}}
	names, _ := filepath.Glob(filepath.Join(path, "*.go"))
	for _, name := range names[:min(len(names), maxFolder)] {
		if ok, err := build.Default.MatchFile(path, filepath.Base(name)); err != nil || !ok {
			continue
		}
		file, err := parser.ParseFile(f.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		f.files[name] = file
		for _, d := range file.Decls {
			f.declare(d)
		}
	}
	folders.Store(path, f)
	return f
}

func (f *folder) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		f.decls[d.Name.Name] = append(f.decls[d.Name.Name], d)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					f.decls[n.Name] = append(f.decls[n.Name], s)
				}
			case *ast.TypeSpec:
				f.decls[s.Name.Name] = append(f.decls[s.Name.Name], s)
			}
		}
	}
}

// at is the function that begins on this line.
func (f *folder) at(file string, line int) ast.Node {
	parsed := f.files[file]
	if parsed == nil {
		return nil
	}
	var found ast.Node
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if f.fset.Position(n.Pos()).Line == line {
				found = n
			}
		}
		return true
	})
	return found
}

func (w *words) literalsAt(pc uintptr) {
	file, line := lineOf(pc)
	if !filepath.IsAbs(file) {
		return
	}
	if strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "/evaltest/criteria") && strings.HasPrefix(runtime.FuncForPC(pc).Name(), builtIn) {
		return // what those look at is in their fields
	}
	f := folderOf(filepath.Dir(file))
	if n := f.at(file, line); n != nil {
		w.literals(f, n, 4, map[ast.Node]bool{})
	}
}

const builtIn = "github.com/evaltest-go/evaltest/evaltest/criteria."

// literals collects the literals below n, and below what it refers to in its package.
func (w *words) literals(f *folder, n ast.Node, depth int, seen map[ast.Node]bool) {
	if depth == 0 || seen[n] {
		return
	}
	seen[n] = true
	var more []string
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			w.literal(n)
		case *ast.Ident:
			more = append(more, n.Name)
		case *ast.SelectorExpr:
			if n.Sel.Name == "Minute" || n.Sel.Name == "Second" || n.Sel.Name == "Hour" {
				w.number(map[string]float64{"Second": 1e9, "Minute": 60e9, "Hour": 3600e9}[n.Sel.Name])
			}
		}
		return true
	})
	for _, name := range more {
		if len(f.decls[name]) > 12 { // String, Grade: of everyone
			continue
		}
		for _, d := range f.decls[name] {
			w.literals(f, d, depth-1, seen)
		}
	}
}

func (w *words) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.STRING:
		s, err := strconv.Unquote(n.Value)
		if err != nil || len(s) > 80 || strings.Contains(s, "%") {
			return
		}
		if tag, ok := reflect.StructTag(s).Lookup("json"); ok {
			s, _, _ = strings.Cut(tag, ",")
		}
		w.text(s)
	case token.INT, token.FLOAT:
		if x, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64); err == nil {
			w.number(x)
		}
	}
}
