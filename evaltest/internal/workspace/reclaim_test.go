package workspace

import (
	"context"
	"os"
	"path/filepath"
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

// A snapshot whose time is over reads nothing more: size and time have to do.
func TestSnapshotHeedsItsContext(t *testing.T) {
	t.Parallel()
	w, err := New()
	require.NoError(t, err)
	defer func() { assert.NoError(t, w.Remove()) }()
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir(), "a.txt"), []byte("x"), 0o666))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := w.Snapshot(ctx)
	require.NoError(t, err)
	assert.True(t, s.entries["a.txt"].unread)
	assert.NotEmpty(t, w.Notes())
}
