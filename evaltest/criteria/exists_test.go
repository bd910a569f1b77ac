package criteria_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// symlink makes link lead to target.
func symlink(target, link string) func(*testing.T, *evaltest.Trial) {
	return func(t *testing.T, trial *evaltest.Trial) {
		if err := os.Symlink(target, filepath.Join(trial.Dir, link)); err != nil {
			t.Skip(err)
		}
	}
}

func TestFileExists(t *testing.T) {
	t.Parallel()
	tree := files{"out.csv": "12345", "src/a.go": "", "src/sub/b.go": "", "build/": "", "app/[id]/page.tsx": "", ".github/x.yml": ""}
	runEndRows(t, []endRow{
		{name: "a file", c: criteria.FileExists("out.csv"), files: tree, score: "1", reason: "out.csv, 5 bytes"},
		{name: "a path that is not clean", c: criteria.FileExists("./src//a.go"), files: tree, score: "1", reason: "src/a.go"},
		{name: "a folder", c: criteria.FileExists("build"), files: tree, score: "1", reason: "build is a folder"},
		{name: "a folder asked for as one", c: criteria.FileExists("build/"), files: tree, score: "1", reason: "build is a folder"},
		{name: "a file where a folder is asked for", c: criteria.FileExists("out.csv/"), files: tree, score: "0", reason: "out.csv is a file, not a folder"},
		{name: "a folder without a file in it", c: criteria.FileExists("build/**"), files: tree, score: "0", reason: "nothing matches build/**"},
		{name: "files at any depth", c: criteria.FileExists("src/**/*.go"), files: tree, score: "1", reason: "2: src/a.go, src/sub/b.go"},
		{name: "any file at all", c: criteria.FileExists("**"), files: tree, score: "1", reason: "5: .github/x.yml"},
		{name: "folders by a pattern", c: criteria.FileExists("**/sub"), files: tree, score: "1", reason: "src/sub is a folder"},
		{name: "alternatives", c: criteria.FileExists("out.{tsv,csv}"), files: tree, score: "1", reason: "out.csv"},
		{name: "a star stays in its folder", c: criteria.FileExists("*.go"), files: tree, score: "0", reason: "there is src/a.go, src/sub/b.go, in another folder"},
		{name: "brackets are a class", c: criteria.FileExists("app/[id]/page.tsx"), files: tree, score: "0"},
		{name: "brackets that are quoted", c: criteria.FileExists(criteria.QuoteGlob("app/[id]/page.tsx")), files: tree, score: "1", reason: "app/[id]/page.tsx"},
		{name: "quoted brackets and a wildcard", c: criteria.FileExists(`app/\[id\]/*.tsx`), files: tree, score: "1", reason: "app/[id]/page.tsx"},
		{name: "a file taken for a folder", c: criteria.FileExists("out.csv/x"), files: tree, score: "0", reason: "no out.csv/x"},
		{name: "near miss: other case", c: criteria.FileExists("Out.csv"), files: tree, score: "0", reason: "no Out.csv; there is out.csv, in other case"},
		{name: "near miss: other folder", c: criteria.FileExists("b.go"), files: tree, score: "0", reason: "there is src/sub/b.go, in another folder"},
		{name: "near miss: other ending", c: criteria.FileExists("out.tsv"), files: tree, score: "0", reason: "there is out.csv, of a similar name"},
		{name: "near miss: none", c: criteria.FileExists("quite-different"), files: tree, score: "0", reason: "the workspace holds .github/, app/, build/, out.csv, src/"},
		{name: "an empty workspace", c: criteria.FileExists("a"), score: "0", reason: "the workspace is empty"},
		{name: "a link to a file", c: criteria.FileExists("l"), files: tree, prepare: symlink("out.csv", "l"), score: "1"},
		{name: "a path through a link in the workspace", c: criteria.FileExists("l/a.go"), files: tree, prepare: symlink("src", "l"), score: "1"},
		{name: "a pattern behind a link in the workspace", c: criteria.FileExists("l/*.go"), files: tree, prepare: symlink("src", "l"), score: "1", reason: "l/a.go"},
		{name: "a pattern does not go through links", c: criteria.FileExists("[l]/*.go"), files: tree, prepare: symlink("src", "l"), score: "0"},
		{name: "a link to nothing", c: criteria.FileExists("l"), prepare: symlink("none", "l"), score: "0", reason: "l is a link to none, which is not there"},
		{name: "a link out of the workspace", c: criteria.FileExists("l"), prepare: symlink("../..", "l"), score: "0", reason: "l is a link that leads out of the workspace"},
		{name: "a path through a link out of the workspace", c: criteria.FileExists("l/passwd"), prepare: symlink("/etc", "l"), score: "0", reason: "out of the workspace"},
		{name: "a pattern meets a link out of the workspace", c: criteria.FileExists("*"), prepare: symlink("/etc", "l"), score: "0", reason: "l is a link that leads out"},
		{name: "a link that leads to itself", c: criteria.FileExists("l"), prepare: symlink("l", "l"), score: "0", reason: "leads back to itself"},
		{name: "a pattern meets a link to its own folder", c: criteria.FileExists("**/x"), prepare: symlink(".", "l"), score: "0"},
		{name: "a pattern meets a folder that may not be read", c: criteria.FileExists("**/*.go"), files: files{"d/a.go": ""}, prepare: unreadable("d"), score: "0", reason: "d may not be read"},
		{name: "a name that disturbs terminals", c: criteria.FileExists("*"), files: files{"a\x1b[31m\nb": ""}, score: "1", reason: "a?[31m b"},
		{name: "a name that is not UTF-8", c: criteria.FileExists("*"), files: files{"a\xff": ""}, score: "1"},
	})
}

func TestQuoteGlobMatchesTheNameAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a*b", "a?b", "[ab]", "{a,b}", `a\b`, "a]b}c", "plain", "ä*"} {
		trial := endRow{files: files{"ab": "", "a": "", "b": "", "axb": ""}}.trial(t)
		c := criteria.FileExists(criteria.QuoteGlob(name))
		require.NoError(t, c.Misuse(), name)
		score, err := c.Grade(t.Context(), trial)
		require.NoError(t, err)
		assert.Equal(t, "0", score.String(), "%s: %s", name, score.Reason)
		require.NoError(t, os.WriteFile(filepath.Join(trial.Dir, name), nil, 0o644))
		score, err = c.Grade(t.Context(), trial)
		require.NoError(t, err)
		assert.Equal(t, "1", score.String(), "%s: %s", name, score.Reason)
	}
}
