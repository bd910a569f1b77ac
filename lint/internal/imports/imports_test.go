package imports_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/internal/imports"
)

func parse(t *testing.T, text string) (*analysis.Pass, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "a.go", text, parser.ParseComments)
	require.NoError(t, err)
	return &analysis.Pass{Fset: fset, Files: []*ast.File{file}, Pkg: types.NewPackage("a", "a"), TypesInfo: &types.Info{}}, file
}

// apply is the text with the edits, which has to be formatted.
func apply(t *testing.T, pass *analysis.Pass, text string, edits []analysis.TextEdit) string {
	t.Helper()
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b analysis.TextEdit) int { return int(a.Pos - b.Pos) })
	var out strings.Builder
	done, f := 0, pass.Fset.File(pass.Files[0].Pos())
	for _, e := range edits {
		require.GreaterOrEqual(t, f.Offset(e.Pos), done, "edits overlap")
		out.WriteString(text[done:f.Offset(e.Pos)] + string(e.NewText))
		done = f.Offset(e.End)
	}
	out.WriteString(text[done:])
	formatted, err := format.Source([]byte(out.String()))
	require.NoError(t, err, out.String())
	require.Equal(t, string(formatted), out.String(), "it is formatted")
	return out.String()
}

func TestAdd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, imports, pkgs, want, qualifiers string }{
		{name: "no imports", pkgs: "errors io/fs", want: "import \"errors\"\nimport \"io/fs\"\n", qualifiers: "errors. fs."},
		{name: "no imports, both kinds", pkgs: "errors x.org/a/b", want: "import \"errors\"\n\nimport \"x.org/a/b\"\n", qualifiers: "errors. b."},
		{name: "there already", imports: "import (\n\te \"errors\"\n\t. \"io/fs\"\n)\n", pkgs: "errors io/fs",
			want: "import (\n\te \"errors\"\n\t. \"io/fs\"\n)\n", qualifiers: "e. "},
		{name: "blank", imports: "import _ \"errors\"\n", pkgs: "errors", want: "import \"errors\"\nimport _ \"errors\"\n", qualifiers: "errors."},
		{name: "alone", imports: "import \"os\"\n", pkgs: "errors", want: "import \"errors\"\nimport \"os\"\n", qualifiers: "errors."},
		{name: "alone, another kind", imports: "import \"os\" // why\n", pkgs: "x.org/b", want: "import \"os\" // why\nimport \"x.org/b\"\n", qualifiers: "b."},
		{name: "alone, with a comment above", imports: "// What for.\nimport \"os\"\n", pkgs: "errors", want: "import \"errors\"\n\n// What for.\nimport \"os\"\n", qualifiers: "errors."},
		{name: "in order", imports: "import (\n\t\"context\"\n\t\"testing\"\n)\n", pkgs: "errors io/fs",
			want: "import (\n\t\"context\"\n\t\"errors\"\n\t\"io/fs\"\n\t\"testing\"\n)\n", qualifiers: "errors. fs."},
		{name: "around", imports: "import (\n\t\"context\"\n)\n", pkgs: "bytes errors", want: "import (\n\t\"bytes\"\n\t\"context\"\n\t\"errors\"\n)\n", qualifiers: "bytes. errors."},
		{name: "after a comment", imports: "import (\n\t\"context\" // why\n)\n", pkgs: "errors", want: "import (\n\t\"context\" // why\n\t\"errors\"\n)\n", qualifiers: "errors."},
		{name: "before a comment", imports: "import (\n\t// Why.\n\t\"testing\"\n)\n", pkgs: "errors", want: "import (\n\t\"errors\"\n\t// Why.\n\t\"testing\"\n)\n", qualifiers: "errors."},
		{name: "the first of another kind", imports: "import (\n\t\"os\"\n)\n", pkgs: "x.org/b x.org/c", want: "import (\n\t\"os\"\n\n\t\"x.org/b\"\n\t\"x.org/c\"\n)\n", qualifiers: "b. c."},
		{name: "the first of the standard library", imports: "import (\n\t\"x.org/b\"\n)\n", pkgs: "errors io/fs",
			want: "import (\n\t\"errors\"\n\t\"io/fs\"\n\n\t\"x.org/b\"\n)\n", qualifiers: "errors. fs."},
		{name: "both kinds", imports: "import (\n\t\"os\"\n\n\t\"x.org/b\"\n)\n", pkgs: "x.org/a errors",
			want: "import (\n\t\"errors\"\n\t\"os\"\n\n\t\"x.org/a\"\n\t\"x.org/b\"\n)\n", qualifiers: "a. errors."},
		{name: "beside cgo", imports: "// #include <errno.h>\nimport \"C\"\n\nimport \"os\"\n", pkgs: "errors",
			want: "// #include <errno.h>\nimport \"C\"\n\nimport \"errors\"\nimport \"os\"\n", qualifiers: "errors."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := "package a\n\n" + test.imports
			if test.imports == "" {
				text = "package a\n"
			}
			pass, file := parse(t, text)
			q, edits, ok := imports.Add(pass, file, strings.Fields(test.pkgs)...)
			require.True(t, ok)
			require.Equal(t, test.qualifiers, strings.Join(q, " "))
			require.Equal(t, "package a\n\n"+test.want, apply(t, pass, text, edits))
		})
	}
}

// A name that means something else is not taken.
func TestAddWhatIsTaken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"import \"x.org/errors\"", "import errors \"os\"", "import . \"os\""} {
		pass, file := parse(t, "package a\n\n"+text+"\n")
		_, _, ok := imports.Add(pass, file, "errors")
		require.False(t, ok, text)
	}
	pass, file := parse(t, "package a\n")
	pass.Pkg.Scope().Insert(types.NewVar(0, pass.Pkg, "errors", types.Typ[types.Int]))
	_, _, ok := imports.Add(pass, file, "errors")
	require.False(t, ok)
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ imports, want string }{
		{"import (\n\t\"os\"\n\t\"testing\"\n)\n", "import (\n\t\"testing\"\n)\n"},
		{"import \"os\"\nimport \"testing\"\n", "import \"testing\"\n"},
		{"import (\n\t\"os\" // for Exit\n\t\"testing\"\n)\n", ""},
		{"import (\n\t// For Exit.\n\t\"os\"\n\t\"testing\"\n)\n", ""},
		{"import \"testing\"\n", ""},
	} {
		pass, file := parse(t, "package a\n\n"+test.imports)
		edit, ok := imports.Remove(pass.Fset, file, "os")
		require.Equal(t, test.want != "", ok, test.imports)
		if ok {
			require.Equal(t, "package a\n\n"+test.want, apply(t, pass, "package a\n\n"+test.imports, []analysis.TextEdit{edit}))
		}
	}
}
