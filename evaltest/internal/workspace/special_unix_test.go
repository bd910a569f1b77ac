//go:build unix

package workspace

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// special puts a pipe, on which opening blocks, and a socket into dir.
func special(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	t.Chdir(dir) // a socket's path is short
	l, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
}

func TestPipesAndSocketsBlockNothing(t *testing.T) {
	w := fresh(t)
	empty := snapshot(t, w)
	special(t, w.Dir())
	write(t, w.Dir(), "a", "a")
	// The pipe would block this goroutine: another ends it.
	defer time.AfterFunc(time.Minute, func() { panic("opening or reading a pipe blocks") }).Stop()
	changes := empty.Diff(snapshot(t, w))
	assert.Equal(t, []journal.Change{
		change("a", journal.Created), change("pipe", journal.Created), change("socket", journal.Created),
	}, changes)
	to := fresh(t)
	assert.NoError(t, to.CopyDir(w.Dir()))
	assert.Len(t, to.Notes(), 2)
	assert.NoError(t, to.CopyFS(os.DirFS(w.Dir())))
	assert.Equal(t, "a", content(t, to.Dir(), "a"))
	dest := filepath.Join(filepath.Dir(w.root), "kept")
	assert.NoError(t, w.keep(dest, exdev))
	assert.Equal(t, "a", content(t, dest, "a"))
	assert.Len(t, w.Notes(), 2)
	// What was a file when it was listed can be a pipe when it is opened.
	require.NoError(t, syscall.Mkfifo(filepath.Join(dest, "pipe"), 0o644))
	_, _, err := openRegular(filepath.Join(dest, "pipe"))
	assert.ErrorIs(t, err, errNotRegular)
}
