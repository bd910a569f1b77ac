package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where all files are too much to read, the large ones are not, and a note says what that means.
func TestSnapshotBeyondItsBudget(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	w.budget = 1000
	big := write(t, w.Dir(), "a-big", strings.Repeat("b", 900))
	small := write(t, w.Dir(), "small", strings.Repeat("s", 200))
	before := snapshot(t, w)
	require.Len(t, w.Notes(), 1)
	assert.Contains(t, w.Notes()[0], "1100 bytes, of which 1000 are read: the largest 1 are compared by size and time alone")
	for _, path := range []string{big, small} {
		fi, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", int(fi.Size()))), 0o644))
		require.NoError(t, os.Chtimes(path, fi.ModTime(), fi.ModTime()))
	}
	changes := before.Diff(snapshot(t, w))
	require.Len(t, changes, 1)
	assert.Equal(t, "small", changes[0].Path)
	w.budget = 1100
	snapshot(t, w)
	assert.Len(t, w.Notes(), 2, "nothing is noted of what is within the budget")
}

func TestNotesOfASnapshotAreBounded(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	for i := range 3 * maxTold {
		f, err := os.Create(filepath.Join(w.Dir(), fmt.Sprintf("%03d", i)))
		require.NoError(t, err)
		require.NoError(t, f.Truncate(maxHashed+1)) // a hole
		require.NoError(t, f.Close())
	}
	snapshot(t, w)
	require.Len(t, w.Notes(), maxTold+1)
	assert.Contains(t, w.Notes()[0], "000: its content is unknown")
	assert.Contains(t, w.Notes()[maxTold], "of 40 more")
}

// A digest is the same wherever it is made; if this one changes, no trial that was recorded is found again.
func TestDigestIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no bit for executability here")
	}
	w := fresh(t)
	write(t, w.Dir(), "d/a b", "text")
	require.NoError(t, os.Chmod(write(t, w.Dir(), "run.sh", "#!/bin/sh\n"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(w.Dir(), "empty"), 0o750))
	symlink(t, "d/a b", filepath.Join(w.Dir(), "link"))
	symlink(t, filepath.Join(w.Dir(), "d"), filepath.Join(w.Dir(), "absolute"))
	assert.Equal(t, "b2711bf53782dd994968f3aa", snapshot(t, w).Digest())
	assert.NotEqual(t, snapshot(t, fresh(t)).Digest(), snapshot(t, w).Digest())
}
