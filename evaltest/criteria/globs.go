package criteria

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob names files of a workspace: see [QuoteGlob].
type glob struct {
	text    string // as it was given
	pattern string // cleaned
	literal string // the path, where pattern has no wildcards
	folder  bool   // of folders only
	files   bool   // ends in **: folders do not count
}

// QuoteGlob returns the pattern that matches path alone: for names that hold characters of patterns.
//
//	criteria.FileExists(criteria.QuoteGlob("app/[id]/page.tsx"))
//
// Criteria about files take a path relative to the workspace, with slashes (out/report.csv), or a pattern:
//
//	?       any one character but the slash
//	*       any run of such characters
//	**      as a whole element: any number of elements, none included; as the last one: every file below
//	[a-z]   one of a class; [^a-z] one that is not
//	{a,b}   one of the alternatives
//	\*      the character itself, and so for each of * ? [ ] { } \
//
// A path or pattern that ends in a slash names folders only. Names that begin with a dot are like others. Wildcards do not
// go through links to folders; a link that is named itself is followed, within the workspace.
func QuoteGlob(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func parseGlob(text string) (glob, error) {
	g := glob{text: text, folder: strings.HasSuffix(text, "/") && !strings.HasSuffix(text, `\/`)}
	bad := func(why string) (glob, error) {
		return g, fmt.Errorf("glob %q: %s", text, why)
	}
	switch {
	case text == "":
		return g, errors.New("glob: it is empty; name a file of the workspace, or a pattern such as **/*.go")
	case strings.HasPrefix(text, "/"), isDrive(text):
		return bad("an absolute path; paths are relative to the workspace")
	case strings.ContainsRune(text, 0):
		return bad("it holds a NUL byte")
	case slices.Contains(strings.Split(text, "/"), ".."):
		return bad("it leads upwards; write the path from the workspace, without ..")
	case !doublestar.ValidatePattern(text):
		return bad(`not a pattern; check its brackets and braces, and write a backslash before a character that is meant as itself`)
	}
	g.pattern = path.Clean(text)
	if g.pattern == "." {
		return bad("the workspace itself; for all that is in it write **")
	}
	g.files = !g.folder && (g.pattern == "**" || strings.HasSuffix(g.pattern, "/**"))
	if !hasWildcards(g.pattern) {
		g.literal = unquoteGlob(g.pattern)
	}
	return g, nil
}

// isDrive reports whether s begins as an absolute path of Windows does.
func isDrive(s string) bool {
	return len(s) > 2 && s[1] == ':' && (s[2] == '/' || s[2] == '\\') && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

func hasWildcards(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

func unquoteGlob(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// match reports whether the glob names the path, which is a folder or is not.
func (g glob) match(name string, isFolder bool) bool {
	if isFolder && g.files || !isFolder && g.folder {
		return false
	}
	if g.literal != "" {
		return name == g.literal
	}
	return doublestar.MatchUnvalidated(g.pattern, name)
}

// covers reports whether the glob names the file, or a folder that it is in: globs of changes speak of all below a
// folder.
func (g glob) covers(name string) bool {
	if g.match(name, false) {
		return true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if g.match(dir, true) {
			return true
		}
	}
	return false
}

// base is the folder below which everything is that the glob can name; "." for the workspace.
func (g glob) base() string {
	base, _ := doublestar.SplitPattern(g.pattern)
	return base
}

// parseGlobs parses all of them.
func parseGlobs(texts []string) ([]glob, error) {
	globs := make([]glob, 0, len(texts))
	var errs []error
	for _, t := range texts {
		g, err := parseGlob(t)
		if err != nil {
			errs = append(errs, err)
		}
		globs = append(globs, g)
	}
	return globs, errors.Join(errs...)
}

func anyCovers(globs []glob, name string) bool {
	for _, g := range globs {
		if g.covers(name) {
			return true
		}
	}
	return false
}
