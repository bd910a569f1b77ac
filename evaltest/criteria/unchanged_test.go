package criteria_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// changes are what the agent did to the files of a trial.
func changes(cs ...evaltest.Change) func(*testing.T, *evaltest.Trial) {
	return func(_ *testing.T, trial *evaltest.Trial) { trial.Changes = cs }
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	tree := files{"src/a.go": "", "a_test.go": "", "new.txt": ""}
	three := changes(
		evaltest.Change{Path: "new.txt", Kind: journal.Created},
		evaltest.Change{Path: "old/sub/x", Kind: journal.Deleted},
		evaltest.Change{Path: "src/a.go", Kind: journal.Modified},
	)
	runEndRows(t, []endRow{
		{name: "nothing changed", c: criteria.Unchanged(), files: tree, score: "1"},
		{name: "something changed", c: criteria.Unchanged(), files: tree, prepare: three, score: "0", reason: "created new.txt, deleted old/sub/x, modified src/a.go"},
		{name: "something else changed", c: criteria.Unchanged("*_test.go"), files: tree, prepare: three, score: "1"},
		{name: "a file was modified", c: criteria.Unchanged("**/*.go"), files: tree, prepare: three, score: "0", reason: "modified src/a.go"},
		{name: "a file was created", c: criteria.Unchanged("*.txt"), files: tree, prepare: three, score: "0", reason: "created new.txt"},
		{name: "a folder by its name", c: criteria.Unchanged("old"), files: tree, prepare: three, score: "0", reason: "deleted old/sub/x"},
		{name: "a folder with a slash", c: criteria.Unchanged("old/"), files: tree, prepare: three, score: "0"},
		{name: "a folder by a pattern", c: criteria.Unchanged("**/sub"), files: tree, prepare: three, score: "0"},
		{name: "a folder asked for where a file changed", c: criteria.Unchanged("new.txt/"), files: tree, prepare: three, score: "1"},
		{name: "a name that begins alike", c: criteria.Unchanged("sr", "src/a"), files: tree, prepare: three, score: "1", reason: "nothing in the workspace matches sr, src/a"},
		{name: "a pattern that matches nothing is told", c: criteria.Unchanged("test/**"), files: tree, prepare: three, score: "1", reason: "nothing in the workspace matches test/**"},
		{name: "of several patterns one is enough", c: criteria.Unchanged("none", "new.*"), files: tree, prepare: three, score: "0"},
		{name: "only deletions are forbidden", c: criteria.Unchanged("**").Deleted(), files: tree, prepare: three, score: "0", reason: "deleted old/sub/x"},

		{name: "changed", c: criteria.FileChanged("src/*"), files: tree, prepare: three, score: "1", reason: "modified src/a.go"},
		{name: "changed in a folder", c: criteria.FileChanged("src"), files: tree, prepare: three, score: "1"},
		{name: "modified", c: criteria.FileChanged("src/a.go").Modified(), files: tree, prepare: three, score: "1"},
		{name: "modified, not created", c: criteria.FileChanged("src/a.go").Created(), files: tree, prepare: three, score: "0", reason: "not created; but created new.txt, deleted old/sub/x, modified src/a.go"},
		{name: "created or deleted", c: criteria.FileChanged("**/x").Created().Deleted(), files: tree, prepare: three, score: "1"},
		{name: "another file changed", c: criteria.FileChanged("a_test.go"), files: tree, prepare: three, score: "0", reason: "not changed; but created new.txt"},
		{name: "nothing changed at all", c: criteria.FileChanged("**"), files: tree, score: "0", reason: "nothing at all"},
	})
}
