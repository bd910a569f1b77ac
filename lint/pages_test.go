package lint_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/lint"
	"github.com/evaltest-go/evaltest/lint/internal/names"
)

var updatePages = flag.Bool("pages", false, "write the pages in docs/lint")

// The page that a diagnostic links to is the manual of its analyzer: the comment of its package, and that of its options.
//
//	go test ./lint -run TestPages -pages
func TestPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "docs", "lint")
	index := "# The analyzers\n\n" + indexText + "\n| analyzer | reports |\n|---|---|\n"
	want := map[string]string{}
	for _, a := range lint.Analyzers(lint.Settings{}) {
		want[a.Name+".md"] = page(t, a.Name)
		require.Equal(t, "https://"+names.Module+"/blob/main/docs/lint/"+a.Name+".md", a.URL)
		first, _, _ := strings.Cut(a.Doc, "\n")
		index += fmt.Sprintf("| [%s](%[1]s.md) | %s |\n", a.Name, strings.TrimPrefix(first, "reports "))
	}
	want["README.md"] = index
	if *updatePages {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.MkdirAll(dir, 0o777))
		for name, text := range want {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.Contains(t, want, e.Name(), "a page about nothing")
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, text, string(got), "%s is out of date: go test ./lint -run TestPages -pages", name)
	}
}

const indexText = "What each analyzer of evaltest finds, with code that is wrong and code that is right. [Linting](../linting.md) says how they are run.\n"

// page is the manual of an analyzer in Markdown.
func page(t *testing.T, name string) string {
	t.Helper()
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(name, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
	}
	p, err := doc.NewFromFiles(fset, files, names.Module+"/lint/"+name)
	require.NoError(t, err)

	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", name)
	text := p.Doc
	require.True(t, strings.HasPrefix(text, "Package "+name+" "), "its package has a comment")
	text = strings.ToUpper(text[len("Package "+name+" "):][:1]) + text[len("Package "+name+" "):][1:]
	for _, word := range []string{"\nBad:\n", "\nGood:\n"} {
		assert.Contains(t, text, word, "the manual of %s shows code of both kinds", name)
	}
	markdown(&b, p, text)

	for _, typ := range p.Types {
		if typ.Name == "Options" {
			options(&b, p, typ)
		}
	}
	return b.String()
}

// options writes the fields of the options of an analyzer, under the names that they have in a configuration.
func options(b *bytes.Buffer, p *doc.Package, typ *doc.Type) {
	spec, ok := typ.Decl.Specs[0].(*ast.TypeSpec)
	if !ok {
		return
	}
	fields, ok := spec.Type.(*ast.StructType)
	if !ok || len(fields.Fields.List) == 0 {
		return
	}
	b.WriteString("## Settings\n\n")
	for _, f := range fields.Fields.List {
		key := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		fmt.Fprintf(b, "`%s` (%s)\n\n", key, map[string]string{"bool": "true or false", "[]string": "a list"}[typeText(f.Type)])
		markdown(b, p, f.Doc.Text())
	}
}

func typeText(e ast.Expr) string {
	if a, ok := e.(*ast.ArrayType); ok {
		return "[]" + typeText(a.Elt)
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func markdown(b *bytes.Buffer, p *doc.Package, text string) {
	printer := &comment.Printer{
		HeadingLevel: 2,
		HeadingID:    func(*comment.Heading) string { return "" },
		DocLinkURL: func(link *comment.DocLink) string {
			if link.ImportPath == "" && link.Name == "Options" {
				return "#settings"
			}
			return link.DefaultURL("https://pkg.go.dev")
		},
	}
	for _, block := range p.Parser().Parse(text).Content {
		if code, ok := block.(*comment.Code); ok {
			fmt.Fprintf(b, "```go\n%s```\n\n", code.Text)
			continue
		}
		b.Write(printer.Markdown(&comment.Doc{Content: []comment.Block{block}}))
		b.WriteString("\n")
	}
}
