package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exdev is a rename between file systems.
func exdev(from, to string) error {
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.New("invalid cross-device link")}
}

// readOnly makes a tree like that of Go's module cache below dir.
func readOnly(tb testing.TB, dir string) {
	tb.Helper()
	require.NoError(tb, os.Chmod(write(tb, dir, "mod/a/file", "f"), 0o444))
	for _, d := range []string{"mod/a", "mod"} {
		require.NoError(tb, os.Chmod(filepath.Join(dir, d), 0o555))
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	for name, rename := range map[string]func(from, to string) error{"by rename": os.Rename, "by copy": exdev} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fresh(t)
			readOnly(t, w.Dir())
			symlink(t, "loop", filepath.Join(w.Dir(), "loop"))
			symlink(t, "/nowhere", filepath.Join(w.Dir(), "link"))
			require.NoError(t, os.Chmod(w.Dir(), 0o500))
			dest := filepath.Join(t.TempDir(), "trials", "a", "workspace")
			require.NoError(t, w.keep(dest, rename))
			assert.Equal(t, "f", content(t, dest, "mod/a/file"))
			target, err := os.Readlink(filepath.Join(dest, "link"))
			require.NoError(t, err)
			assert.Equal(t, "/nowhere", target)
			assert.NoDirExists(t, w.Dir())
			assert.NoDirExists(t, dest+".partial")
			assert.Empty(t, w.Notes())
			if runtime.GOOS != "windows" {
				assert.Equal(t, fs.FileMode(0o444), mode(t, filepath.Join(dest, "mod/a/file")))
				assert.Equal(t, fs.FileMode(0o755), mode(t, filepath.Join(dest, "mod/a")).Perm())
				assert.Equal(t, fs.FileMode(0o700), mode(t, dest).Perm())
			}
			require.NoError(t, os.RemoveAll(dest), "its owner can remove it")
			require.NoError(t, w.Remove())
			assert.NoDirExists(t, w.root)
		})
	}
}

func TestKeepNeverReplaces(t *testing.T) {
	t.Parallel()
	w, dest := fresh(t), t.TempDir()
	write(t, w.Dir(), "a", "a")
	err := w.Keep(dest)
	assert.ErrorIs(t, err, fs.ErrExist)
	assert.Equal(t, "a", content(t, w.Dir(), "a"))
	assert.FileExists(t, filepath.Join(w.root, keptFile), "so that it is not swept")
}

func TestKeepThatFailsLeavesTheWork(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	write(t, w.Dir(), "a", "a")
	above := write(t, t.TempDir(), "file", "")
	assert.ErrorContains(t, w.Keep(filepath.Join(above, "kept")), "workspace: keep ")
	dest := filepath.Join(t.TempDir(), "kept")
	write(t, dest+".partial", "a/in-its-way", "")
	require.Error(t, w.keep(dest, exdev))
	assert.Equal(t, "a", content(t, w.Dir(), "a"))
	assert.NoDirExists(t, dest)
}

func TestRemoveOfAReadOnlyTree(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	readOnly(t, w.Dir())
	readOnly(t, w.Home())
	outside := write(t, t.TempDir(), "d/precious", "mine")
	require.NoError(t, os.Chmod(filepath.Dir(outside), 0o500))
	t.Cleanup(func() { os.Chmod(filepath.Dir(outside), 0o700) })
	symlink(t, filepath.Dir(outside), filepath.Join(w.Dir(), "link"))
	require.NoError(t, os.Chmod(w.Dir(), 0))
	require.NoError(t, w.Remove())
	assert.NoDirExists(t, w.root)
	assert.Equal(t, "mine", content(t, filepath.Dir(outside), "precious"))
	if runtime.GOOS != "windows" {
		assert.Equal(t, fs.FileMode(0o500), mode(t, filepath.Dir(outside)).Perm(), "no link is followed")
	}
}
