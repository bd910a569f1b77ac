package workspace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is saved of an agent's changes makes of a workspace that is filled anew what it was.
func TestSavedChangesRestoreTheWorkspace(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		saveAndRestore(t, seed)
	}
}

func saveAndRestore(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	fixture := t.TempDir()
	for range 1 + rng.IntN(12) {
		mutate(t, rng, fixture)
	}
	w, err := New()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Remove()) }()
	require.NoError(t, w.CopyDir(fixture))
	before := snap(t, w)
	for range 1 + rng.IntN(12) {
		mutate(t, rng, w.Dir())
	}
	after := snap(t, w)
	changes := before.Diff(after)
	saved := filepath.Join(t.TempDir(), "changed")
	require.NoError(t, w.SaveChanges(context.Background(), saved, changes, 1<<20))

	again, err := New()
	require.NoError(t, err)
	defer func() { require.NoError(t, again.Remove()) }()
	require.NoError(t, again.CopyDir(fixture))
	require.Equal(t, before.Digest(), snap(t, again).Digest())
	require.NoError(t, again.ApplyChanges(saved, changes), "seed %d: %v", seed, changes)
	restored := snap(t, again)
	require.Empty(t, after.Diff(restored), "seed %d: %v", seed, changes)
	require.Equal(t, after.Digest(), restored.Digest(), "seed %d: %v", seed, changes)
	if len(changes) > 0 {
		require.NotEqual(t, before.Digest(), after.Digest())
	}
}

func snap(t *testing.T, w *Workspace) Snapshot {
	s, err := w.Snapshot(context.Background())
	require.NoError(t, err)
	return s
}

// mutate makes a change somewhere below dir.
func mutate(t *testing.T, rng *rand.Rand, dir string) {
	names := []string{"a", "b", "c", "d e", "-f"}
	path := dir
	for range 1 + rng.IntN(3) {
		path = filepath.Join(path, names[rng.IntN(len(names))])
	}
	switch rng.IntN(5) {
	case 0:
		_ = os.RemoveAll(path) // below a file there is nothing
		return
	case 1:
		_ = os.RemoveAll(path)
	}
	for p := filepath.Dir(path); p != dir; p = filepath.Dir(p) { // whatever stands in the way goes
		if fi, err := os.Lstat(p); err == nil && !fi.IsDir() {
			require.NoError(t, os.Remove(p))
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return
	}
	switch fi, err := os.Lstat(path); rng.IntN(4) {
	case 0:
		if err == nil && !fi.IsDir() {
			require.NoError(t, os.Remove(path))
		}
		require.NoError(t, os.MkdirAll(path, 0o755))
	case 1:
		_ = os.RemoveAll(path)
		require.NoError(t, os.Symlink("/etc", path))
	default:
		_ = os.RemoveAll(path)
		require.NoError(t, os.WriteFile(path, fmt.Append(nil, rng.IntN(3)), []os.FileMode{0o644, 0o755}[rng.IntN(2)]))
	}
}

func TestTooMuchIsNotSaved(t *testing.T) {
	t.Parallel()
	w, err := New()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Remove()) }()
	before := snap(t, w)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir(), "big"), make([]byte, 2000), 0o644))
	saved := filepath.Join(t.TempDir(), "changed")
	err = w.SaveChanges(context.Background(), saved, before.Diff(snap(t, w)), 1999)
	require.ErrorContains(t, err, "2000 bytes")
	assert.NoDirExists(t, saved)
}
