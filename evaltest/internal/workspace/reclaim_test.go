package workspace

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever an agent makes of its workspace, what is looked at afterwards is a real folder, and its own.
func TestReclaim(t *testing.T) {
	t.Parallel()
	host := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(host, "out.csv"), []byte("of the host"), 0o666))
	for _, tc := range []struct {
		name  string
		act   func(t *testing.T, work string)
		files []string
		noted bool
	}{
		{"leaves it", func(*testing.T, string) {}, []string{"a.txt"}, false},
		{"replaces it by a link", func(t *testing.T, work string) {
			require.NoError(t, os.Rename(work, work+".bak"))
			require.NoError(t, os.Symlink(host, work))
		}, nil, true},
		{"replaces it by a file", func(t *testing.T, work string) {
			require.NoError(t, os.RemoveAll(work))
			require.NoError(t, os.WriteFile(work, nil, 0o666))
		}, nil, true},
		{"removes it", func(t *testing.T, work string) { require.NoError(t, os.RemoveAll(work)) }, nil, true},
		{"makes it anew", func(t *testing.T, work string) {
			require.NoError(t, os.Rename(work, work+".bak"))
			require.NoError(t, os.Mkdir(work, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(work, "b.txt"), nil, 0o666))
		}, []string{"b.txt"}, false},
		{"locks it", func(t *testing.T, work string) { require.NoError(t, os.Chmod(work, 0)) }, []string{"a.txt"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w, err := New()
			require.NoError(t, err)
			defer func() { assert.NoError(t, w.Remove()) }()
			require.NoError(t, os.WriteFile(filepath.Join(w.Dir(), "a.txt"), nil, 0o666))
			tc.act(t, w.Dir())
			require.NoError(t, w.Reclaim())
			s, err := w.Snapshot(context.Background())
			require.NoError(t, err)
			var files []string
			for _, c := range (Snapshot{}).Diff(s) {
				files = append(files, c.Path)
			}
			assert.Equal(t, tc.files, files)
			assert.Equal(t, tc.noted, len(w.Notes()) > 0, w.Notes())
			dest := filepath.Join(t.TempDir(), "kept")
			require.NoError(t, w.Keep(dest))
			fi, err := os.Lstat(dest)
			require.NoError(t, err)
			assert.True(t, fi.IsDir())
			assert.FileExists(t, filepath.Join(host, "out.csv"))
		})
	}
}

// dying is a context that ends after its error was asked for a few times.
type dying struct {
	context.Context
	left atomic.Int32
}

func (d *dying) Err() error {
	if d.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A snapshot whose time is over reads nothing more: size and time have to do. But what there is must be known.
func TestSnapshotHeedsItsContext(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	write(t, w.Dir(), "a.txt", "x")
	ctx := &dying{Context: context.Background()}
	ctx.left.Store(2) // for the two looks at the one folder
	s, err := w.Snapshot(ctx)
	require.NoError(t, err)
	assert.True(t, s.entries["a.txt"].unread)
	assert.NotEmpty(t, w.Notes())

	ctx.left.Store(1)
	_, err = w.Snapshot(ctx)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "no time left to list")
}

// What an agent makes of the folder around its workspace is taken back as well, and nothing that a link leads to is the agent's.
func TestReclaimOfTheFolderAround(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders that are in use cannot be moved here")
	}
	for _, tc := range []struct {
		name  string
		act   func(t *testing.T, root, host string)
		files []string
		noted bool
	}{
		{"leaves it", func(*testing.T, string, string) {}, []string{"a.txt"}, false},
		{"locks it", func(t *testing.T, root, _ string) { require.NoError(t, os.Chmod(root, 0)) }, []string{"a.txt"}, false},
		{"replaces it by a link", func(t *testing.T, root, host string) {
			require.NoError(t, os.Rename(root, root+".bak"))
			require.NoError(t, os.Symlink(host, root))
		}, nil, true},
		{"replaces it by a link to itself, elsewhere", func(t *testing.T, root, _ string) {
			require.NoError(t, os.Rename(root, root+".bak"))
			require.NoError(t, os.Symlink(root+".bak", root))
		}, nil, true},
		{"replaces it by another folder", func(t *testing.T, root, host string) {
			require.NoError(t, os.Rename(root, root+".bak"))
			require.NoError(t, os.Rename(host, root))
		}, nil, true},
		{"replaces it by a file", func(t *testing.T, root, _ string) {
			require.NoError(t, os.Rename(root, root+".bak"))
			require.NoError(t, os.WriteFile(root, nil, 0o666))
		}, nil, true},
		{"removes it", func(t *testing.T, root, _ string) { require.NoError(t, os.RemoveAll(root)) }, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w, host := fresh(t), filepath.Join(t.TempDir(), "host")
			write(t, host, "work/out.csv", "of the host")
			write(t, w.Dir(), "a.txt", "")
			tc.act(t, w.root, host)
			if tc.noted { // nothing is done by the way of what is there
				_, err := w.Snapshot(context.Background())
				require.Error(t, err)
				require.Error(t, w.SaveChanges(context.Background(), filepath.Join(t.TempDir(), "c"), nil, 1))
				require.Error(t, w.Keep(filepath.Join(t.TempDir(), "kept")))
			}
			require.NoError(t, w.Reclaim())
			var files []string
			for _, c := range (Snapshot{}).Diff(snapshot(t, w)) {
				files = append(files, c.Path)
			}
			assert.Equal(t, tc.files, files)
			assert.Equal(t, tc.noted, len(w.Notes()) > 0, w.Notes())
			dest := filepath.Join(t.TempDir(), "kept")
			require.NoError(t, w.Keep(dest))
			assert.NoFileExists(t, filepath.Join(dest, "out.csv"))
			require.NoError(t, w.Remove())
			assert.NoDirExists(t, w.root)
			if tc.name == "replaces it by another folder" {
				aside, err := filepath.Glob(filepath.Join(filepath.Dir(w.root), "evaltest-aside-*", "*"))
				require.NoError(t, err)
				require.Len(t, aside, 1)
				host = aside[0]
			}
			assert.Equal(t, "of the host", content(t, host, "work/out.csv"), "what is not ours stays")
		})
	}
}

// Without Reclaim, what is in the workspace's place is not removed.
func TestRemoveOfWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	require.NoError(t, os.Rename(w.root, w.root+".bak"))
	write(t, w.root, "work/precious", "mine")
	require.ErrorContains(t, w.Remove(), "stays")
	assert.Equal(t, "mine", content(t, w.root, "work/precious"))
}

// The folder that holds the workspace is not ours to make anew.
func TestReclaimBelowALink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders that are in use cannot be moved here")
	}
	base := filepath.Join(t.TempDir(), "base")
	require.NoError(t, os.Mkdir(base, 0o755))
	w, err := newIn(base)
	require.NoError(t, err)
	require.NoError(t, os.Rename(base, base+".bak"))
	symlink(t, base+".bak", base)
	require.ErrorContains(t, w.Reclaim(), "is not the folder any more that it was")
	_, err = w.Snapshot(context.Background())
	require.Error(t, err)
	require.Error(t, w.Remove())
	require.NoError(t, os.Remove(base))
	require.NoError(t, os.Rename(base+".bak", base))
	require.NoError(t, w.Reclaim())
	require.NoError(t, w.Remove())
}
