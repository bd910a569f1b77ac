package workspace

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:embed doc.go
var embedded embed.FS

func TestCopyFSMakesFilesThatCanBeWritten(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	require.NoError(t, w.CopyFS(embedded))
	require.NoError(t, w.CopyFS(fstest.MapFS{
		"bin/run.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o555},
		"a/b/c.txt":  {Data: []byte("c"), Mode: 0o400},
		"empty":      {Mode: fs.ModeDir | 0o500},
	}))
	assert.Equal(t, "c", content(t, w.Dir(), "a/b/c.txt"))
	assert.DirExists(t, filepath.Join(w.Dir(), "empty"))
	if runtime.GOOS != "windows" {
		assert.Equal(t, fs.FileMode(0o644), mode(t, filepath.Join(w.Dir(), "doc.go")))
		assert.Equal(t, fs.FileMode(0o755), mode(t, filepath.Join(w.Dir(), "bin/run.sh")))
		assert.Equal(t, fs.FileMode(0o644), mode(t, filepath.Join(w.Dir(), "a/b/c.txt")))
		assert.Equal(t, fs.FileMode(0o755), mode(t, filepath.Join(w.Dir(), "empty")).Perm())
	}
}

func TestCopyFSReplacesAndNeverWritesThroughALink(t *testing.T) {
	t.Parallel()
	w, src := fresh(t), t.TempDir()
	outside := write(t, t.TempDir(), "precious", "mine")
	symlink(t, outside, filepath.Join(src, "link"))
	symlink(t, filepath.Dir(outside), filepath.Join(src, "dir"))
	require.NoError(t, w.CopyFS(os.DirFS(src)))
	target, err := os.Readlink(filepath.Join(w.Dir(), "link"))
	require.NoError(t, err)
	assert.Equal(t, outside, target)
	require.NoError(t, w.CopyFS(fstest.MapFS{"link": {Data: []byte("new")}}))
	assert.Equal(t, "new", content(t, w.Dir(), "link"))
	assert.ErrorContains(t, w.CopyFS(fstest.MapFS{"dir/precious": {Data: []byte("gone")}}), "workspace: copy file system: ")
	assert.Equal(t, "mine", content(t, filepath.Dir(outside), "precious"))
}

func TestCopyFSThatFails(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	assert.ErrorIs(t, w.CopyFS(os.DirFS(filepath.Join(t.TempDir(), "none"))), fs.ErrNotExist)
	require.NoError(t, w.CopyFS(fstest.MapFS{"a/b": {}}))
	assert.ErrorContains(t, w.CopyFS(fstest.MapFS{"a": {}}), "a folder is in the place of a file")
}

func TestCopyDirKeepsModesTimesAndLinks(t *testing.T) {
	t.Parallel()
	w, src := fresh(t), t.TempDir()
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chmod(write(t, src, "bin/run", "x"), 0o750))
	require.NoError(t, os.Chmod(write(t, src, "locked/secret", "s"), 0o400))
	for _, p := range []string{"bin/run", "bin", "locked/secret", "locked"} {
		require.NoError(t, os.Chtimes(filepath.Join(src, p), old, old))
	}
	require.NoError(t, os.Chmod(filepath.Join(src, "locked"), 0o555))
	t.Cleanup(func() { os.Chmod(filepath.Join(src, "locked"), 0o755) })
	links := map[string]struct{ target, want string }{
		"relative":        {"bin/run", "bin/run"},
		"bin/up":          {"../bin", "../bin"},
		"loop":            {"loop", "loop"},
		"self":            {".", "."},
		"dangling":        {"nowhere", "nowhere"},
		"out":             {"../../etc", "../../etc"},
		"absolute out":    {os.DevNull, os.DevNull},
		"bin/absolute in": {filepath.Join(src, "locked", "secret"), filepath.Join("..", "locked", "secret")},
		"beside":          {src + "-other", src + "-other"},
	}
	for name, l := range links {
		symlink(t, filepath.FromSlash(l.target), filepath.Join(src, filepath.FromSlash(name)))
	}
	require.NoError(t, os.Chtimes(filepath.Join(src, "bin"), old, old))
	require.NoError(t, w.CopyDir(src))
	for name, l := range links {
		got, err := os.Readlink(filepath.Join(w.Dir(), filepath.FromSlash(name)))
		require.NoError(t, err)
		assert.Equal(t, filepath.FromSlash(l.want), got, name)
	}
	assert.Equal(t, "s", content(t, w.Dir(), "bin/absolute in"))
	for _, p := range []string{"bin/run", "bin", "locked/secret", "locked"} {
		want, err := os.Stat(filepath.Join(src, p))
		require.NoError(t, err)
		got, err := os.Stat(filepath.Join(w.Dir(), p))
		require.NoError(t, err)
		assert.Equal(t, want.Mode(), got.Mode(), p)
		assert.True(t, want.ModTime().Equal(got.ModTime()), p)
	}
	require.NoError(t, w.Remove(), "a read-only folder")
}

func TestCopyDirOfAReadOnlyTreeCanBeWorkedIn(t *testing.T) {
	t.Parallel()
	w, src := fresh(t), t.TempDir()
	write(t, src, "a", "a")
	require.NoError(t, os.Chmod(src, 0o555))
	t.Cleanup(func() { os.Chmod(src, 0o755) })
	require.NoError(t, w.CopyDir(src))
	write(t, w.Dir(), "new", "n")
}

func TestCopyDirThatFails(t *testing.T) {
	t.Parallel()
	w, dir := fresh(t), t.TempDir()
	err := w.CopyDir(filepath.Join(dir, "none"))
	assert.ErrorContains(t, err, "there is no "+filepath.Join(dir, "none"))
	assert.ErrorContains(t, w.CopyDir(write(t, dir, "file", "")), "it is no folder")
	assert.ErrorContains(t, w.CopyDir(filepath.Dir(w.root)), "lies in it")
}
