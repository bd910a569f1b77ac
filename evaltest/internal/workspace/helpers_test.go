package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// fresh is a workspace in a folder of the test's own.
func fresh(tb testing.TB) *Workspace {
	tb.Helper()
	base := tb.TempDir()
	w, err := newIn(base)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		openUp(base) // for TempDir's own removal
		w.Remove()
	})
	return w
}

// write writes a file below dir, with its folders.
func write(tb testing.TB, dir, name, content string) string {
	tb.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(tb, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func content(tb testing.TB, dir, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(tb, err)
	return string(data)
}

func symlink(tb testing.TB, target, path string) {
	tb.Helper()
	if err := os.Symlink(target, path); err != nil {
		if runtime.GOOS == "windows" {
			tb.Skip("symbolic links need a privilege here")
		}
		require.NoError(tb, err)
	}
}

func snapshot(tb testing.TB, w *Workspace) Snapshot {
	tb.Helper()
	s, err := w.Snapshot(context.Background())
	require.NoError(tb, err)
	return s
}

func mode(tb testing.TB, path string) fs.FileMode {
	tb.Helper()
	fi, err := os.Lstat(path)
	require.NoError(tb, err)
	return fi.Mode()
}

func change(path string, kind journal.ChangeKind) journal.Change {
	return journal.Change{Path: path, Kind: kind}
}
