//go:build unix

package criteria_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

func pipe(name string) func(*testing.T, *evaltest.Trial) {
	return func(t *testing.T, trial *evaltest.Trial) {
		require.NoError(t, unix.Mkfifo(filepath.Join(trial.Dir, name), 0o644))
	}
}

func socket(name string) func(*testing.T, *evaltest.Trial) {
	return func(t *testing.T, trial *evaltest.Trial) {
		// A short path: that of a socket is limited.
		dir, err := os.MkdirTemp("", "s")
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		l, err := net.Listen("unix", filepath.Join(dir, "s"))
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		if err := os.Rename(filepath.Join(dir, "s"), filepath.Join(trial.Dir, name)); err != nil {
			t.Skip(err)
		}
	}
}

// To open a named pipe waits for its writer: none of these may hang.
func TestWhatIsNoFileIsNotOpened(t *testing.T) {
	t.Parallel()
	runEndRows(t, []endRow{
		{name: "a pipe exists", c: criteria.FileExists("p"), prepare: pipe("p"), score: "1", reason: "p is a named pipe"},
		{name: "a pipe contains nothing", c: criteria.FileContains("p", "x"), prepare: pipe("p"), score: "0", reason: "p is a named pipe, not a file"},
		{name: "a pattern meets a pipe", c: criteria.FileMatches("*", "x"), prepare: pipe("p"), score: "0", reason: "p is a named pipe"},
		{name: "a link to a pipe", c: criteria.FileContains("l", "x"), prepare: func(t *testing.T, trial *evaltest.Trial) {
			pipe("p")(t, trial)
			symlink("p", "l")(t, trial)
		}, score: "0", reason: "l is a named pipe"},
		{name: "a pipe is no golden file", c: criteria.FilesEqualTxtarText("-- p --\nx\n"), prepare: pipe("p"), score: "0", reason: "p (is a named pipe"},
		{name: "a pipe is no JSON", c: criteria.JSON("p"), prepare: pipe("p"), score: "0", reason: "p is a named pipe"},
		{name: "a pipe is not copied", c: criteria.CommandSucceeds("test ! -e p").Files(os.DirFS("testdata/hidden")), prepare: pipe("p"), score: "1"},
		{name: "a socket contains nothing", c: criteria.FileContains("s", "x"), prepare: socket("s"), score: "0", reason: "s is a socket"},
	})
}
