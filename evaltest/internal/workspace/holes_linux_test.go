package workspace

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A copy of a file that is mostly a hole takes as little room.
func TestKeepOfHoles(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	const size, at = 1 << 40, 1 << 39
	path := filepath.Join(w.Dir(), "sparse")
	f, err := os.Create(path)
	require.NoError(t, err)
	if err := f.Truncate(size); err != nil {
		t.Skip("the file system takes no file of this size")
	}
	for text, off := range map[string]int64{"begin": 0, "middle": at, "end": size - 3} {
		_, err = f.WriteAt([]byte(text), off)
		require.NoError(t, err)
	}
	fi, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	if _, _, err := nextData(open(t, path), 0, size); err != nil {
		t.Skip("the file system does not say where its holes are")
	}
	for _, name := range []string{"hole", "empty"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.Dir(), name), nil, 0o644))
	}
	require.NoError(t, os.Truncate(filepath.Join(w.Dir(), "hole"), 1<<30))
	dest := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, w.keep(dest, exdev))
	got := open(t, filepath.Join(dest, "sparse"))
	is, err := got.Stat()
	require.NoError(t, err)
	assert.Equal(t, fi.Size(), is.Size())
	assert.LessOrEqual(t, is.Sys().(*syscall.Stat_t).Blocks, int64(2048), "in blocks of 512 bytes")
	for text, off := range map[string]int64{"begin\x00": 0, "\x00middle\x00": at - 1, "\x00end": size - 4} {
		data := make([]byte, len(text))
		_, err := got.ReadAt(data, off)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
	hole, err := os.Stat(filepath.Join(dest, "hole"))
	require.NoError(t, err)
	assert.EqualValues(t, 1<<30, hole.Size())
	assert.Empty(t, content(t, dest, "empty"))
	assert.Empty(t, w.Notes())
}

func open(t *testing.T, path string) *os.File {
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}
