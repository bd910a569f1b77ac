package criteria_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// sparse makes a file of n bytes, which are zeros but for what it ends with.
func sparse(name string, n int64, end string) func(*testing.T, *evaltest.Trial) {
	return func(t *testing.T, trial *evaltest.Trial) {
		f, err := os.Create(filepath.Join(trial.Dir, name))
		require.NoError(t, err)
		defer f.Close()
		_, err = f.WriteAt([]byte(end), n-int64(len(end)))
		require.NoError(t, err)
	}
}

// unreadable takes away the permission to read.
func unreadable(name string) func(*testing.T, *evaltest.Trial) {
	return func(t *testing.T, trial *evaltest.Trial) {
		path := filepath.Join(trial.Dir, name)
		require.NoError(t, os.Chmod(path, 0))
		t.Cleanup(func() { os.Chmod(path, 0o755) })
		if f, err := os.Open(path); err == nil {
			f.Close()
			t.Skip("this user may read everything")
		}
	}
}

func TestFileContains(t *testing.T) {
	t.Parallel()
	tree := files{"out.csv": "name,n\na,1\ntotal,3\n", "b.csv": "x\n", "d/c.csv": "total", "empty": "", "crlf": "a\r\nb\r\n", "bad": "a\xff\x00total"}
	// The text lies across the end of the first piece that is read.
	across := strings.Repeat("0123456\n", 32<<10)[3:] + "needle\n"
	runEndRows(t, []endRow{
		{name: "there", c: criteria.FileContains("out.csv", "total,3"), files: tree, score: "1", reason: "out.csv:3"},
		{name: "over two lines", c: criteria.FileContains("out.csv", "1\ntotal"), files: tree, score: "1", reason: "out.csv:2"},
		{name: "not there", c: criteria.FileContains("out.csv", "sum"), files: tree, score: "0", reason: "not in out.csv (19 bytes, 3 lines)\n  | name,n"},
		{name: "in other case", c: criteria.FileContains("out.csv", "TOTAL"), files: tree, score: "0", reason: "line 3 has it in other case"},
		{name: "with other white space", c: criteria.FileContains("crlf", "a\nb"), files: tree, score: "0", reason: "with other white space"},
		{name: "no such file", c: criteria.FileContains("Out.csv", "total"), files: tree, score: "0", reason: "no Out.csv; there is out.csv, in other case"},
		{name: "empty file", c: criteria.FileContains("empty", "total"), files: tree, score: "0", reason: "empty is empty"},
		{name: "one of several is enough", c: criteria.FileContains("**/*.csv", "total"), files: tree, score: "1", reason: "d/c.csv:1, out.csv:3"},
		{name: "none of several", c: criteria.FileContains("**/*.csv", "sum"), files: tree, score: "0", reason: "in none of 3 files: b.csv, d/c.csv, out.csv"},
		{name: "a pattern passes over folders", c: criteria.FileContains("*", "total"), files: tree, score: "1", reason: "bad:1, out.csv:3"},
		{name: "nothing matches", c: criteria.FileContains("*.tsv", "total"), files: tree, score: "0", reason: "nothing matches *.tsv"},
		{name: "a folder", c: criteria.FileContains("d", "total"), files: tree, score: "0", reason: "d is a folder"},
		{name: "not UTF-8", c: criteria.FileContains("bad", "\xff\x00t"), files: tree, score: "1", reason: "bad:1"},
		{name: "across two pieces", c: criteria.FileContains("long", "needle"), files: files{"long": across}, score: "1", reason: "long:32769"},
		{name: "a text longer than a piece", c: criteria.FileContains("long", across[10:]), files: files{"long": "--" + across}, score: "1", reason: "long:2"},
		{name: "through a link out of the workspace", c: criteria.FileContains("l", "root"), prepare: symlink("/etc/passwd", "l"), score: "0", reason: "out of the workspace"},
		{name: "may not be read", c: criteria.FileContains("out.csv", "total"), files: tree, prepare: unreadable("out.csv"), score: "0", reason: "permission denied"},
		{name: "a large file is searched to its end", c: criteria.FileContains("big", "needle"), prepare: sparse("big", 20<<20, "needle"), score: "1"},
		{name: "a file too large to be searched", c: criteria.FileContains("big", "needle"), prepare: sparse("big", 300<<20, "needle"), kind: agents.Judge, reason: "256.0 MiB"},
		{name: "found before a file grows too large", c: criteria.FileContains("{a,big}", "needle"), files: files{"a": "needle"}, prepare: sparse("big", 300<<20, "."), score: "1", reason: "a:1"},
	})
}

func TestFileMatches(t *testing.T) {
	t.Parallel()
	tree := files{"out.csv": "name,n\na,1\ntotal,3\n", "bad": "\xff1"}
	runEndRows(t, []endRow{
		{name: "there", c: criteria.FileMatches("out.csv", `total,\d+`), files: tree, score: "1", reason: "out.csv:3"},
		{name: "anchors are of the whole text", c: criteria.FileMatches("out.csv", `^total`), files: tree, score: "0", reason: "no match in out.csv (19 bytes, 3 lines)"},
		{name: "anchors of lines", c: criteria.FileMatches("out.csv", `(?m)^total`), files: tree, score: "1", reason: "out.csv:3"},
		{name: "not UTF-8", c: criteria.FileMatches("bad", `\d`), files: tree, score: "1"},
		{name: "a file too large to be matched", c: criteria.FileMatches("big", `x`), prepare: sparse("big", 65<<20, "x"), kind: agents.Judge, reason: "64.0 MiB"},
		{name: "no such file", c: criteria.FileMatches("none", "x"), files: tree, score: "0", reason: "no none"},
	})
}
