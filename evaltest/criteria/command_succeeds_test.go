package criteria_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// executable makes a program of the file.
func executable(name string) func(*testing.T, *evaltest.Trial) {
	return func(t *testing.T, trial *evaltest.Trial) {
		require.NoError(t, os.Chmod(filepath.Join(trial.Dir, name), 0o755))
	}
}

func TestCommandSucceeds(t *testing.T) {
	t.Setenv("EVALTEST_CRITERIA_LEAK", "secret")
	run := criteria.CommandSucceeds
	hidden := os.DirFS("testdata/hidden")
	t.Run("rows", func(t *testing.T) {
		runEndRows(t, []endRow{
			{name: "status 0", c: run("true"), score: "1", reason: "exit status 0"},
			{name: "in the workspace", c: run("test -f a"), files: files{"a": ""}, score: "1"},
			{name: "another status", c: run("echo one; echo two >&2; exit 3"), score: "0", reason: "exit status 3: two\none\ntwo"},
			{name: "a long output", c: run("yes | head -c 3000000; exit 1"), score: "0", reason: "exit status 1: y\n"},
			{name: "output that disturbs terminals", c: run(`printf 'a\033[31m\r\n\377'; exit 1`), score: "0", reason: "exit status 1"},
			{name: "ended by a signal", c: run("kill -TERM $$"), score: "0", reason: "terminated"},
			{name: "arguments as they are", c: run("test", "a b*", "=", "a b*"), score: "1"},
			{name: "a variable", c: run(`test "$A" = "x y"`).Env("A=x y"), score: "1"},
			{name: "nothing of our environment", c: run(`test -z "$EVALTEST_CRITERIA_LEAK"`), score: "1"},
			{name: "a home of its own", c: run(`cd && test "$(ls -A | wc -l)" -eq 0 && test -w "$TMPDIR" && test "$HOME" != "$TMPDIR"`), score: "1"},
			{name: "nothing on standard input", c: run(`test -z "$(cat)"`), score: "1"},
			{name: "folders that are read-only are removed", c: run(`mkdir -p "$HOME/a/b" && touch "$HOME/a/b/c" && chmod 500 "$HOME/a/b" "$HOME/a"`), score: "1"},
			{name: "output with the text", c: run("echo all good").Stdout("good"), score: "1"},
			{name: "output without the text", c: run("echo all good").Stdout("bad"), score: "0", reason: "its output has no \"bad\"\nall good"},
			{name: "what is said on standard error is no output", c: run("echo bad >&2").Stdout("bad"), score: "0", reason: "its output has no \"bad\""},
			{name: "output that matches", c: run("echo n=3").StdoutMatches(`^n=\d`), score: "1"},
			{name: "text that may be in output that was not kept", c: run("yes | head -c 3000000").Stdout("bad"), kind: agents.Judge, reason: "too long"},

			{name: "a program of the agent's", c: run("./tool", "x"), files: files{"tool": "#!/bin/sh\ntest $1 = x"}, prepare: executable("tool"), score: "1"},
			{name: "a program that the agent did not make", c: run("./tool", "x"), score: "0", reason: "./tool cannot be run: no such file or directory"},
			{name: "a program that is not executable", c: run("./tool", "x"), files: files{"tool": ""}, score: "0", reason: "./tool cannot be run: permission denied"},
			{name: "a program of an unknown format", c: run("./tool", "x"), files: files{"tool": "\x00\x01"}, prepare: executable("tool"), score: "0", reason: "./tool cannot be run: exec format error"},
			{name: "a program that is not installed", c: run("no-such-program-here", "x"), kind: agents.Judge, reason: "not installed"},
			{name: "a program in no place of the machine", c: run("/no/such/program", "x"), kind: agents.Judge, reason: "not installed"},
			{name: "the shell misses a program", c: run("test -d . && no-such-program-here x"), kind: agents.Judge, reason: "no-such-program-here is not installed"},
			{name: "the shell misses a program of the agent's", c: run("./tool x"), score: "0", reason: "exit status 127"},
			{name: "the agent's program ends with 127", c: run("sh ./tool; exit $?"), files: files{"tool": "exit 127"}, score: "0", reason: "exit status 127"},
			{name: "a function of the line itself", c: run("f() { return 127; }; f"), score: "0", reason: "exit status 127"},

			{name: "a decimal score", c: run("echo log; echo 0.75").Score(), score: "0.75", reason: "it printed 0.75"},
			{name: "a ratio", c: run("echo 2/3").Score(), score: "0.67", reason: "it printed 2/3"},
			{name: "a score before blank lines", c: run("printf '1\n\n \n'").Score(), score: "1"},
			{name: "a score of nothing", c: run("echo 0").Score(), score: "0"},
			{name: "a grader that says nothing", c: run("true").Score(), kind: agents.Judge, reason: "printed nothing"},
			{name: "a grader that says something else", c: run("echo 75%").Score(), kind: agents.Judge, reason: `"75%", not a score`},
			{name: "a grader that says NaN", c: run("echo NaN").Score(), kind: agents.Judge, reason: "not a score"},
			{name: "a grader that divides by zero", c: run("echo 0/0").Score(), kind: agents.Judge, reason: "not between 0 and 1"},
			{name: "a grader that says too much", c: run("echo 1.01").Score(), kind: agents.Judge, reason: "not between 0 and 1"},
			{name: "a grader that says too little", c: run("echo -0.5").Score(), kind: agents.Judge, reason: "not a score"},
			{name: "a grader that fails", c: run("echo 0.5; exit 1").Score(), kind: agents.Judge, reason: "exit status 1"},
			{name: "a grader that is not there", c: run("./grade", "x").Score(), kind: agents.Judge, reason: "cannot be run"},

			{name: "hidden tests pass", c: run("sh tests/check.sh").Files(hidden), files: files{"out.txt": "42\n"}, score: "1"},
			{name: "hidden tests fail", c: run("sh tests/check.sh").Files(hidden), files: files{"out.txt": "41\n"}, score: "0"},
			{name: "hidden tests replace the agent's", c: run("sh tests/check.sh").Files(hidden), files: files{"out.txt": "41\n", "tests/check.sh": "exit 0"}, score: "0"},
			{name: "a file cannot keep hidden tests out", c: run("sh tests/check.sh").Files(hidden), files: files{"out.txt": "42\n", "tests": "x"}, score: "1"},
			{name: "a folder cannot keep hidden tests out", c: run("sh tests/check.sh").Files(hidden), files: files{"out.txt": "42\n", "tests/check.sh/x": "x"}, score: "1"},
			{name: "the copy keeps modes and links", c: run(`test -x tool && test -L l && test "$(cat l)" = x && test "$(cat abs)" = x && ls -ld ro | grep -q ^dr-xr-xr-x`).Files(hidden), files: files{"tool": "", "f": "x", "ro/": ""}, prepare: func(t *testing.T, trial *evaltest.Trial) {
				executable("tool")(t, trial)
				symlink("f", "l")(t, trial)
				symlink(filepath.Join(trial.Dir, "f"), "abs")(t, trial)
				require.NoError(t, os.Chmod(filepath.Join(trial.Dir, "ro"), 0o555))
			}, score: "1"},
			{name: "a link to the workspace leads into the copy", c: run(`echo changed > abs && test "$(cat f)" = changed`).Files(hidden), files: files{"f": "x"}, prepare: func(t *testing.T, trial *evaltest.Trial) {
				symlink(filepath.Join(trial.Dir, "f"), "abs")(t, trial)
			}, score: "1"},
			{name: "a program among the hidden files", c: run("./run").Files(fstest.MapFS{"run": {Data: []byte("#!/bin/sh\n"), Mode: 0o755}}), score: "1"},
		})
	})
}

// Hidden files are put into a copy: the workspace has them at no time, and the command's writes are gone with the copy. A
// link of the agent's does not lead them elsewhere.
func TestHiddenFilesStayHidden(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	trial := endRow{files: files{"out.txt": "42\n"}, prepare: symlink(outside, "tests")}.trial(t)
	c := criteria.CommandSucceeds("sh tests/check.sh && pwd > where && ls > " + filepath.Join(trial.Dir, "seen")).Files(os.DirFS("testdata/hidden"))
	score, err := c.Grade(t.Context(), trial)
	require.NoError(t, err)
	assert.Equal(t, "1", score.String(), score.Reason)
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, left, "written through the agent's link")
	assert.NoFileExists(t, filepath.Join(trial.Dir, "where"))
	assert.FileExists(t, filepath.Join(trial.Dir, "seen"))
}

// A command that is not done in time has no score, says what it last printed, and is gone with all that it started.
func TestCommandTimeout(t *testing.T) {
	t.Parallel()
	trial := endRow{}.trial(t)
	alive := filepath.Join(trial.Dir, "alive")
	c := criteria.CommandSucceeds("(while :; do date > alive; sleep 0.05; done) & echo started; sleep 60").Timeout(time.Second)
	begin := time.Now()
	score, err := c.Grade(t.Context(), trial)
	var typed *agents.Error
	require.ErrorAs(t, err, &typed, "score %v", score)
	assert.Equal(t, agents.Timeout, typed.Kind)
	assert.Equal(t, agents.FromGrader, typed.Source)
	assert.Contains(t, err.Error(), "started")
	assert.Less(t, time.Since(begin), 20*time.Second)
	assertStill(t, alive)
}

// What a command leaves in the background ends with it.
func TestCommandLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	trial := endRow{}.trial(t)
	c := criteria.CommandSucceeds("(while :; do date > alive; sleep 0.05; done) & sleep 0.3")
	score, err := c.Grade(t.Context(), trial)
	require.NoError(t, err)
	assert.Equal(t, "1", score.String(), score.Reason)
	assertStill(t, filepath.Join(trial.Dir, "alive"))
}

// assertStill: nobody writes the file any more.
func assertStill(t *testing.T, path string) {
	t.Helper()
	require.FileExists(t, path)
	require.NoError(t, os.Remove(path))
	time.Sleep(300 * time.Millisecond)
	assert.NoFileExists(t, path)
}

// The folders of a command are outside the workspace, and removed with it.
func TestCommandFoldersAreRemoved(t *testing.T) {
	t.Parallel()
	trial := endRow{}.trial(t)
	c := criteria.CommandSucceeds(`echo "$HOME" > home; echo "$TMPDIR" > tmp`)
	_, err := c.Grade(t.Context(), trial)
	require.NoError(t, err)
	for _, name := range []string{"home", "tmp"} {
		data, err := os.ReadFile(filepath.Join(trial.Dir, name))
		require.NoError(t, err)
		dir := strings.TrimSpace(string(data))
		require.NotEmpty(t, dir)
		assert.NoDirExists(t, dir)
		assert.False(t, strings.HasPrefix(dir, trial.Dir), dir)
	}
}

// A run that is called off is no timeout.
func TestCommandInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err := criteria.CommandSucceeds("sleep 60").Grade(ctx, endRow{}.trial(t))
	var typed *agents.Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, agents.Interrupted, typed.Kind)
}
