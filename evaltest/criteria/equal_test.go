package criteria_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

func TestFilesEqual(t *testing.T) {
	t.Parallel()
	want := criteria.FilesEqual(os.DirFS("testdata/want"))
	same := files{"a.txt": "a\nb\n", "sub/c.txt": "c\n"}
	binary := criteria.FilesEqual(fstest.MapFS{"x.bin": {Data: []byte("\x00\x01\x02")}})
	numbered := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(strings.Repeat("x", i%7) + "\n")
		}
		return b.String()
	}
	runEndRows(t, []endRow{
		{name: "the same", c: want, files: same, score: "1", reason: "2 files equal"},
		{name: "the same as the archive", c: criteria.FilesEqualTxtar("testdata/want.txtar"), files: same, score: "1"},
		{name: "other files do not matter", c: want, files: files{"a.txt": "a\nb\n", "sub/c.txt": "c\n", "d": "x"}, score: "1"},
		{name: "one differs", c: want, files: files{"a.txt": "a\nB\n", "sub/c.txt": "c\n"}, score: "0", reason: "1 of 2 files differ: a.txt (line 2)\na.txt (-want +got):"},
		{name: "one is missing", c: want, files: files{"a.txt": "a\nb\n"}, score: "0", reason: "sub/c.txt (missing)"},
		{name: "a folder stands in its place", c: want, files: files{"a.txt/x": "", "sub/c.txt": "c\n"}, score: "0", reason: "a.txt (is a folder)"},
		{name: "a share", c: want.Partial(), files: files{"a.txt": "a\nb\n"}, score: "0.5", reason: "1 of 2"},
		{name: "exactly, and nothing more", c: want.Exact(), files: same, score: "1"},
		{name: "exactly, and something more", c: want.Exact(), files: files{"a.txt": "a\nb\n", "sub/c.txt": "c\n", "e/d": "x"}, score: "0", reason: "1 of 3 files differ: e/d (not wanted)"},
		{name: "exactly, but for what is ignored", c: want.Exact().Ignore(".git/**", "*.log"), files: files{"a.txt": "a\nb\n", "sub/c.txt": "c\n", ".git/o/x": "", "x.log": ""}, score: "1"},
		{name: "exactly, but for a folder by its name", c: want.Exact().Ignore("node_modules"), files: files{"a.txt": "a\nb\n", "sub/c.txt": "c\n", "node_modules/o/x": ""}, score: "1"},
		{name: "exactly, a share", c: want.Exact().Partial(), files: files{"a.txt": "a\nb\n", "sub/c.txt": "x", "d": "", "e": ""}, score: "0.25", reason: "3 of 4"},
		{name: "ignored among those wanted", c: want.Ignore("sub"), files: files{"a.txt": "a\nb\n"}, score: "1", reason: "1 file equal"},
		{name: "in a folder", c: want.In("out").Exact(), files: files{"out/a.txt": "a\nb\n", "out/sub/c.txt": "c\n", "x": ""}, score: "1"},
		{name: "in a folder, and something more", c: want.In("out").Exact(), files: files{"out/a.txt": "a\nb\n", "out/sub/c.txt": "c\n", "out/x": ""}, score: "0", reason: "x (not wanted)"},
		{name: "in a folder that is not there", c: want.In("out").Exact(), files: same, score: "0", reason: "a.txt (missing), sub/c.txt (missing)"},
		{name: "line endings matter", c: want, files: files{"a.txt": "a\r\nb\r\n", "sub/c.txt": "c\n"}, score: "0", reason: "a.txt (line 1)"},
		{name: "line endings do not matter", c: want.IgnoreLineEndings(), files: files{"a.txt": "a\r\nb\r\n", "sub/c.txt": "c\n"}, score: "1"},
		{name: "the last newline matters", c: want, files: files{"a.txt": "a\nb", "sub/c.txt": "c\n"}, score: "0", reason: "a.txt (line 2)"},
		{name: "an archive cannot say that the last newline is missing", c: criteria.FilesEqualTxtarText("-- a --\nx\n"), files: files{"a": "x"}, score: "1"},
		{name: "bytes are equal", c: binary, files: files{"x.bin": "\x00\x01\x02"}, score: "1"},
		{name: "bytes differ", c: binary, files: files{"x.bin": "\x00\x01\x03"}, score: "0", reason: "x.bin (3 bytes sha256 b744d600fbe3…, want 3 bytes sha256 "},
		{name: "bytes where text is wanted", c: want, files: files{"a.txt": "a\x00", "sub/c.txt": "c\n"}, score: "0", reason: "a.txt (2 bytes sha256"},
		{name: "a much larger file", c: want, files: files{"sub/c.txt": "c\n"}, prepare: sparse("a.txt", 100<<20, "x"), score: "0", reason: "a.txt (100.0 MiB, want 4 bytes"},
		{name: "empty files are equal", c: criteria.FilesEqualTxtarText("-- a --\n"), files: files{"a": ""}, score: "1"},
		{name: "an empty file is wanted", c: criteria.FilesEqualTxtarText("-- a --\n"), files: files{"a": "x"}, score: "0", reason: "a (line 1)"},
		{name: "long texts", c: criteria.FilesEqual(fstest.MapFS{"n": {Data: []byte(numbered(0, 9000))}}), files: files{"n": numbered(0, 5000) + "new\n" + numbered(5000, 9000)}, score: "0", reason: "n (line 5001)\nn (-want +got):\n  … from line 4998:"},
		{name: "all lines differ", c: criteria.FilesEqual(fstest.MapFS{"n": {Data: []byte(numbered(0, 9000))}}), files: files{"n": strings.Repeat("y\n", 9000)}, score: "0", reason: "n (line 1)"},
		{name: "one endless line", c: criteria.FilesEqual(fstest.MapFS{"n": {Data: []byte(strings.Repeat("x", 10000) + "a")}}), files: files{"n": strings.Repeat("x", 10000) + "b"}, score: "0", reason: "line 1 differs beyond its first 400 bytes"},
		{name: "through a link out of the workspace", c: criteria.FilesEqualTxtarText("-- l --\nx\n"), prepare: symlink("/etc/passwd", "l"), score: "0", reason: "l (is a link that leads out of the workspace)"},
	})
}

// A criterion is a value that never changes: what a method adds is in its result alone.
func TestMethodsReturnCopies(t *testing.T) {
	t.Parallel()
	trial := endRow{files: files{"a.txt": "a\nb\n", "j.json": `{"a": 1}`}}.trial(t)
	grade := func(c evaltest.Criterion) string {
		score, err := c.Grade(t.Context(), trial)
		require.NoError(t, err)
		return score.String()
	}
	want := criteria.FilesEqual(os.DirFS("testdata/want"))
	assert.Equal(t, "0.5", grade(want.Partial()))
	assert.Equal(t, "1", grade(want.Ignore("sub/**")))
	assert.Equal(t, "0", grade(want))

	doc := criteria.JSON("j.json").Has("a")
	one, two := doc.At("a", 1), doc.At("a", 2)
	assert.Equal(t, []string{"1", "1", "0"}, []string{grade(doc), grade(one), grade(two)})

	command := criteria.CommandSucceeds(`echo "$V"`).Env("V=x")
	ok, bad := command.Stdout("x"), command.Stdout("y")
	assert.Equal(t, []string{"1", "1", "0"}, []string{grade(command), grade(ok), grade(bad)})
}

// A golden folder is read when the criterion is made: what the agent, or a test beside, does to it later does not matter.
func TestGoldenFilesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	golden := fstest.MapFS{"a": {Data: []byte("x")}}
	c := criteria.FilesEqual(golden)
	golden["a"] = &fstest.MapFile{Data: []byte("y")}
	score, err := c.Grade(t.Context(), endRow{files: files{"a": "x"}}.trial(t))
	require.NoError(t, err)
	assert.Equal(t, "1", score.String())
}
