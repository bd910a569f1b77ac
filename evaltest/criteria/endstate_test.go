package criteria_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// files are what a workspace holds: content by path; a path that ends in a slash is a folder.
type files map[string]string

// endRow is one row of the tables: a workspace, a criterion, and what it says of it.
type endRow struct {
	name    string
	c       evaltest.Criterion
	files   files
	prepare func(t *testing.T, trial *evaltest.Trial) // what files cannot say
	score   string                                    // as Score.String shows it
	reason  string                                    // a part of the reason
	kind    agents.ErrorKind                          // of the error; "" for a score
}

func (r endRow) trial(t *testing.T) *evaltest.Trial {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	trial := &evaltest.Trial{Dir: dir}
	for name, content := range r.files {
		path := filepath.Join(trial.Dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	if r.prepare != nil {
		r.prepare(t, trial)
	}
	return trial
}

func runEndRows(t *testing.T, rows []endRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			requireWellMade(t, r.c)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			score, err := r.c.Grade(ctx, r.trial(t))
			if r.kind != "" {
				var typed *agents.Error
				require.ErrorAs(t, err, &typed, "score %v: %s", score, score.Reason)
				assert.Equal(t, r.kind, typed.Kind, "%v", err)
				assert.Contains(t, err.Error(), r.reason)
				return
			}
			require.NoError(t, err)
			require.NoError(t, score.Err())
			assert.Equal(t, r.score, score.String(), score.Reason)
			assert.Contains(t, score.Reason, r.reason)
			requireReadable(t, score.Reason)
		})
	}
}

// requireWellMade: every criterion of an end state names itself, was built well, and cannot be armed.
func requireWellMade(t *testing.T, c evaltest.Criterion) {
	t.Helper()
	require.NotEmpty(t, c.String())
	require.NotContains(t, c.String(), "\n")
	misuse, ok := c.(evaltest.Misuse)
	require.True(t, ok, "%T reports no misuse", c)
	require.NoError(t, misuse.Misuse())
	_, live := c.(evaltest.LiveCriterion)
	require.False(t, live, "%T can be armed", c)
}

// requireReadable: a reason is a short line, and perhaps a detail that is not long.
func requireReadable(t *testing.T, reason string) {
	t.Helper()
	line, detail, _ := strings.Cut(reason, "\n")
	assert.LessOrEqual(t, len(line), 200)
	assert.LessOrEqual(t, len(detail), 4<<10+16)
	assert.True(t, utf8.ValidString(reason))
	assert.NotContains(t, strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return -1
		}
		if r < ' ' || r == 0x7f {
			return '\x01'
		}
		return r
	}, reason), "\x01")
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name string
		c    evaltest.Misuse
		says string
	}{
		{"exists: empty path", criteria.FileExists(""), "it is empty"},
		{"exists: absolute path", criteria.FileExists("/etc/passwd"), "absolute"},
		{"exists: Windows drive", criteria.FileExists(`C:/x`), "absolute"},
		{"exists: path leads upwards", criteria.FileExists("../x"), "upwards"},
		{"exists: path leads upwards in its middle", criteria.FileExists("a/**/../../x"), "upwards"},
		{"exists: class is not closed", criteria.FileExists("a[b"), "not a pattern"},
		{"exists: brace is not closed", criteria.FileExists("a{b"), "not a pattern"},
		{"exists: the workspace itself", criteria.FileExists("."), "the workspace itself"},
		{"contains: empty text", criteria.FileContains("a", ""), "no text"},
		{"matches: bad expression", criteria.FileMatches("a", "("), "missing closing )"},
		{"matches: empty expression", criteria.FileMatches("a", ""), "empty"},
		{"equal: nil files", criteria.FilesEqual(nil), "nil"},
		{"equal: no such folder", criteria.FilesEqual(os.DirFS("testdata/none")), "no such file"},
		{"equal: empty folder", criteria.FilesEqual(os.DirFS(t.TempDir())), "there are none"},
		{"equal: no such archive", criteria.FilesEqualTxtar("none.txtar"), "none.txtar"},
		{"equal: archive without files", criteria.FilesEqualTxtarText("just words"), "holds no file"},
		{"equal: archive with an absolute path", criteria.FilesEqualTxtarText("-- /etc/x --\n"), "not a path"},
		{"equal: archive that leads upwards", criteria.FilesEqualTxtarText("-- ../x --\n"), "not a path"},
		{"equal: archive with a file twice", criteria.FilesEqualTxtarText("-- a --\n-- ./a --\n"), "twice"},
		{"equal: everything ignored", criteria.FilesEqualTxtarText("-- a --\n").Ignore("**"), "none to compare"},
		{"equal: bad pattern to ignore", criteria.FilesEqualTxtarText("-- a --\n").Ignore("["), "not a pattern"},
		{"equal: folder is a pattern", criteria.FilesEqualTxtarText("-- a --\n").In("*"), "not a pattern"},
		{"json: empty path", criteria.JSON(""), "empty"},
		{"json: bad JSON path", criteria.JSON("a").Has("a["), "column 2"},
		{"json: value that is no JSON", criteria.JSON("a").At("a", func() {}), "unsupported type"},
		{"json: bad expression", criteria.JSON("a").AtMatches("a", "("), "missing closing )"},
		{"json: negative length", criteria.JSON("a").Len("a", -1), "not negative"},
		{"json: nil schema", criteria.JSON("a").Schema(nil), "nil"},
		{"json: malformed schema", criteria.JSON("a").SchemaText("{\n x"), "line 2, column 2"},
		{"json: schema with a bad type", criteria.JSON("a").SchemaText(`{"type": 3}`), "malformed schema"},
		{"json: schema with a bad pattern", criteria.JSON("a").SchemaText(`{"pattern": "("}`), "malformed schema"},
		{"json: schema of an unknown draft", criteria.JSON("a").SchemaText(`{"$schema": "http://json-schema.org/draft-04/schema#"}`), "draft-04"},
		{"json: no such schema", criteria.JSON("a").SchemaFile("none.json"), "none.json"},
		{"json: a share of nothing", criteria.JSON("a").Partial(), "no assertions"},
		{"command: empty", criteria.CommandSucceeds(" "), "empty"},
		{"command: no shell", criteria.CommandSucceeds("echo 'a"), "no line for the shell"},
		{"command: variable without a value", criteria.CommandSucceeds("true").Env("A"), "KEY=value"},
		{"command: no time", criteria.CommandSucceeds("true").Timeout(0), "not a time"},
		{"command: no files", criteria.CommandSucceeds("true").Files(os.DirFS(t.TempDir())), "there are none"},
		{"command: empty output to look for", criteria.CommandSucceeds("true").Stdout(""), "no text"},
		{"command: bad expression", criteria.CommandSucceeds("true").StdoutMatches("("), "missing closing )"},
		{"unchanged: absolute pattern", criteria.Unchanged("a", "/b"), "absolute"},
		{"changed: empty pattern", criteria.FileChanged(""), "it is empty"},
		{"reply: empty text", criteria.ReplyContains(""), "no text"},
		{"reply: bad expression", criteria.ReplyMatches("("), "missing closing )"},
		{"choice: one only", criteria.ReplyChoice("a", "a"), "fewer than two"},
		{"choice: wanted is none of them", criteria.ReplyChoice("c", "a", "b"), `"c" is none`},
		{"choice: twice the same", criteria.ReplyChoice("a", "a", "A"), "twice"},
		{"choice: empty", criteria.ReplyChoice("a", "a", "."), "no letter"},
		{"check: no name", criteria.Check("", func(require.TestingT, *evaltest.Trial) {}), "name is empty"},
		{"check: no function", criteria.Check("x", nil), "nil"},
		{"score: no function", criteria.CheckScore("x", nil), "nil"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, r.c.Misuse())
			assert.Contains(t, r.c.Misuse().Error(), r.says)
			assert.NotEmpty(t, r.c.String())
			score, err := r.c.Grade(t.Context(), &evaltest.Trial{Dir: t.TempDir()})
			require.ErrorContains(t, err, r.c.Misuse().Error(), "graded as %v", score)
			assertAuthors(t, err)
		})
	}
}

// assertAuthors: the error is the author's, and claims no kind of its own.
func assertAuthors(t *testing.T, err error) {
	t.Helper()
	var typed *agents.Error
	assert.NotErrorAs(t, err, &typed)
	assert.Equal(t, reflect.TypeOf(evaltest.AuthorError("x")), reflect.TypeOf(err), "%v", err)
}

func TestNames(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]evaltest.Criterion{
		`file exists (out/*.csv)`:                 criteria.FileExists("out/*.csv"),
		`file contains "total" (out.csv)`:         criteria.FileContains("out.csv", "total"),
		`file contains "a b" (out.csv)`:           criteria.FileContains("out.csv", "a\nb\n"),
		`file matches /^x/ (out.csv)`:             criteria.FileMatches("out.csv", "^x"),
		`files equal (a, b/c and 1 more)`:         criteria.FilesEqualTxtarText("-- a --\n-- b/c --\n-- d --\n"),
		`well-formed JSON (out.json)`:             criteria.JSON("out.json"),
		`JSON items[0].total is 3 (out.json)`:     criteria.JSON("out.json").At("items[0].total", 3),
		`JSON $ has length 2, and 1 more (reply)`: criteria.ReplyJSON().Len("", 2).Has("a"),
		`command succeeds (go test ./...)`:        criteria.CommandSucceeds("go test ./..."),
		`command succeeds (python3 'a b.py')`:     criteria.CommandSucceeds("python3", "a b.py"),
		`command succeeds and prints "ok" (x)`:    criteria.CommandSucceeds("x").Stdout("ok"),
		`score of command (./grade)`:              criteria.CommandSucceeds("./grade").Score(),
		`unchanged (src, *.go)`:                   criteria.Unchanged("src", "*.go"),
		`unchanged (**)`:                          criteria.Unchanged(),
		`file created or deleted (a)`:             criteria.FileChanged("a").Created().Deleted(),
		`reply equals "42"`:                       criteria.ReplyEquals(" 42\n"),
		`reply contains "42"`:                     criteria.ReplyContains("42"),
		`reply matches /\d+/`:                     criteria.ReplyMatches(`\d+`),
		`reply chooses "spam" of spam, ham`:       criteria.ReplyChoice("spam", "spam", "ham"),
		`rows add up`:                             criteria.Check("rows add up", func(require.TestingT, *evaltest.Trial) {}),
	} {
		assert.Equal(t, want, c.String())
	}
}

// A workspace that is gone, or was never there, says nothing of the agent.
func TestNoWorkspaceIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []evaltest.Criterion{
		criteria.FileExists("a"),
		criteria.FileContains("a", "b"),
		criteria.FilesEqualTxtarText("-- a --\n"),
		criteria.JSON("a"),
		criteria.CommandSucceeds("true"),
	} {
		for _, dir := range []string{"", filepath.Join(t.TempDir(), "none")} {
			_, err := c.Grade(t.Context(), &evaltest.Trial{Dir: dir})
			var typed *agents.Error
			require.ErrorAs(t, err, &typed, "%s", c)
			assert.Equal(t, agents.Harness, typed.Kind)
		}
	}
}

// When time is over there is no score, whatever was seen until then.
func TestNoTimeLeft(t *testing.T) {
	t.Parallel()
	trial := endRow{files: files{"a.json": "{}", "b/c": "x"}}.trial(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range []evaltest.Criterion{
		criteria.FileExists("**/none"),
		criteria.FileContains("a.json", "x"),
		criteria.FileMatches("a.json", "x"),
		criteria.FilesEqualTxtarText("-- a --\n"),
		criteria.JSON("a.json"),
		criteria.CommandSucceeds("true"),
		criteria.CommandSucceeds("true").Files(os.DirFS(trial.Dir)),
	} {
		score, err := c.Grade(ctx, trial)
		var typed *agents.Error
		require.ErrorAs(t, err, &typed, "%s: %v", c, score)
		assert.Equal(t, agents.Timeout, typed.Kind, "%s", c)
		assert.Equal(t, agents.FromGrader, typed.Source, "%s", c)
	}
}
