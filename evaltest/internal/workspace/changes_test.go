package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// What is saved of an agent's changes makes of a workspace that is filled anew what it was.
func TestSavedChangesRestoreTheWorkspace(t *testing.T) {
	t.Parallel()
	seeds := uint64(300)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		saveAndRestore(t, seed)
	}
}

func saveAndRestore(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	fixture := t.TempDir()
	for range 1 + rng.IntN(12) {
		mutate(t, rng, fixture)
	}
	w := fresh(t)
	require.NoError(t, w.CopyDir(fixture))
	before := snapshot(t, w)
	for range 1 + rng.IntN(12) {
		mutate(t, rng, w.Dir())
	}
	after := snapshot(t, w)
	changes := before.Diff(after)
	saved := filepath.Join(t.TempDir(), "changed")
	require.NoError(t, w.SaveChanges(context.Background(), saved, changes, 1<<20))

	again := fresh(t)
	require.NoError(t, again.CopyDir(fixture))
	require.Equal(t, before.Digest(), snapshot(t, again).Digest())
	require.NoError(t, again.ApplyChanges(saved, changes), "seed %d: %v", seed, changes)
	restored := snapshot(t, again)
	require.Empty(t, after.Diff(restored), "seed %d: %v", seed, changes)
	require.Equal(t, after.Digest(), restored.Digest(), "seed %d: %v", seed, changes)
	for _, c := range changes {
		if c.Kind != journal.Deleted {
			is, was := mode(t, filepath.Join(again.Dir(), c.Path)), mode(t, filepath.Join(w.Dir(), c.Path))
			require.Equal(t, was, is, "seed %d: %s", seed, c.Path)
		}
	}
	if len(changes) > 0 {
		require.NotEqual(t, before.Digest(), after.Digest())
	}
}

// mutate makes a change somewhere below dir.
func mutate(t *testing.T, rng *rand.Rand, dir string) {
	names := []string{"a", "b", "c", "d e", "-f"}
	if runtime.GOOS == "linux" {
		names[4] = "\xff\n"
	}
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
		target := []string{"/etc", "a", "../b", "c/a", dir, filepath.Join(dir, "a"), "nowhere"}[rng.IntN(7)]
		require.NoError(t, os.Symlink(target, path))
	default:
		_ = os.RemoveAll(path)
		require.NoError(t, os.WriteFile(path, fmt.Append(nil, rng.IntN(3)), []os.FileMode{0o644, 0o755, 0o600, 0o444}[rng.IntN(4)]))
	}
}

func TestTooMuchIsNotSaved(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	before := snapshot(t, w)
	write(t, w.Dir(), "big", strings.Repeat("x", 2000))
	changes, saved := before.Diff(snapshot(t, w)), filepath.Join(t.TempDir(), "changed")
	require.ErrorContains(t, w.SaveChanges(context.Background(), saved, changes, 1999), "2000 bytes")
	assert.NoDirExists(t, saved)
	require.NoError(t, w.SaveChanges(context.Background(), saved, changes, 2000))
	require.ErrorIs(t, w.SaveChanges(context.Background(), saved, changes, 2000), fs.ErrExist)
	assert.FileExists(t, filepath.Join(saved, "big"), "what was saved before stays")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	late := filepath.Join(t.TempDir(), "changed")
	require.ErrorIs(t, w.SaveChanges(ctx, late, changes, 2000), context.Canceled)
	assert.NoDirExists(t, late)
}

func TestManyFilesAreSavedAndRestored(t *testing.T) {
	t.Parallel()
	w, again := fresh(t), fresh(t)
	n := 10_000
	if testing.Short() {
		n = 1_000
	}
	for i := range n {
		write(t, w.Dir(), fmt.Sprintf("d%d/%d", i%100, i), fmt.Sprint(i))
	}
	after, saved := snapshot(t, w), filepath.Join(t.TempDir(), "changed")
	changes := (Snapshot{}).Diff(after)
	require.Len(t, changes, n)
	require.NoError(t, w.SaveChanges(context.Background(), saved, changes, 1<<20))
	require.NoError(t, again.ApplyChanges(saved, changes))
	assert.Equal(t, after.Digest(), snapshot(t, again).Digest())
}

// An absolute link into the workspace leads into the one that it is restored in, and is no difference between two.
func TestLinksIntoTheWorkspace(t *testing.T) {
	t.Parallel()
	w, again := fresh(t), fresh(t)
	write(t, w.Dir(), "a", "a")
	symlink(t, filepath.Join(w.Dir(), "a"), filepath.Join(w.Dir(), "in"))
	symlink(t, w.Dir()+"-other", filepath.Join(w.Dir(), "beside"))
	after, saved := snapshot(t, w), filepath.Join(t.TempDir(), "changed")
	changes := (Snapshot{}).Diff(after)
	require.NoError(t, w.SaveChanges(context.Background(), saved, changes, 1<<20))
	require.NoError(t, again.ApplyChanges(saved, changes))
	assert.Equal(t, after.Digest(), snapshot(t, again).Digest())
	for name, want := range map[string]string{"in": filepath.Join(again.Dir(), "a"), "beside": w.Dir() + "-other"} {
		target, err := os.Readlink(filepath.Join(again.Dir(), name))
		require.NoError(t, err)
		assert.Equal(t, want, target)
	}
}

// Neither what is in a workspace, nor what a record says was changed, makes anything be read or written outside.
func TestChangesStayInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret := write(t, outside, "secret", "of the host")
	ctx := context.Background()
	for name, change := range map[string]journal.Change{
		"above":          change("../../../"+filepath.Base(outside)+"/secret", journal.Created),
		"above, deleted": change("../x", journal.Deleted),
		"absolute":       change(secret, journal.Modified),
		"the folder":     change(".", journal.Deleted),
		"no path":        change("", journal.Created),
		"not clean":      change("a/../b", journal.Created),
		"a dot":          change("./a", journal.Created),
		"through a link": change("out/secret", journal.Modified),
		"no kind":        change("a", "renamed"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, changes := fresh(t), []journal.Change{change}
			write(t, w.Dir(), "a", "a")
			symlink(t, outside, filepath.Join(w.Dir(), "out"))
			saved := filepath.Join(t.TempDir(), "changed")
			require.Error(t, w.SaveChanges(ctx, saved, changes, 1<<20))
			assert.NoDirExists(t, saved)

			src := t.TempDir()
			write(t, src, "a", "from the record")
			symlink(t, outside, filepath.Join(src, "out"))
			require.Error(t, w.ApplyChanges(src, changes))
			assert.Equal(t, "a", content(t, w.Dir(), "a"))
		})
	}
	t.Cleanup(func() {
		assert.Equal(t, "of the host", content(t, outside, "secret"))
		entries, err := os.ReadDir(outside)
		assert.NoError(t, err)
		assert.Len(t, entries, 1)
	})
}

// A workspace that is not as it was, or a record that is not whole, is told before anything is touched.
func TestChangesThatDoNotFit(t *testing.T) {
	t.Parallel()
	saved := t.TempDir()
	write(t, saved, "new", "n")
	write(t, saved, "there", "n")
	for _, tc := range []struct {
		change journal.Change
		want   string
	}{
		{change("there", journal.Created), "is there already"},
		{change("gone", journal.Deleted), "not filled as it was"},
		{change("gone", journal.Modified), "not filled as it was"},
		{change("lost", journal.Created), "not among what was saved"},
	} {
		w := fresh(t)
		write(t, w.Dir(), "there", "t")
		err := w.ApplyChanges(saved, []journal.Change{change("new", journal.Created), tc.change})
		require.ErrorContains(t, err, tc.want)
		assert.NoFileExists(t, filepath.Join(w.Dir(), "new"))
		assert.Equal(t, "t", content(t, w.Dir(), "there"))
	}
}

// What took the place of something else is restored as what it is.
func TestFoldersAndLinksChangePlaces(t *testing.T) {
	t.Parallel()
	fill := func(w *Workspace) {
		write(t, w.Dir(), "d/e/x", "x")
		write(t, w.Dir(), "e/e/x", "other")
		write(t, w.Dir(), "f", "f")
		symlink(t, "e", filepath.Join(w.Dir(), "l"))
	}
	w, again := fresh(t), fresh(t)
	fill(w)
	fill(again)
	before := snapshot(t, w)
	require.NoError(t, os.RemoveAll(filepath.Join(w.Dir(), "d")))
	symlink(t, "e", filepath.Join(w.Dir(), "d")) // where there is an e, too
	require.NoError(t, os.Remove(filepath.Join(w.Dir(), "f")))
	write(t, w.Dir(), "f/g/h", "h")
	require.NoError(t, os.Remove(filepath.Join(w.Dir(), "l")))
	write(t, w.Dir(), "l/e/x", "new")
	after, saved := snapshot(t, w), filepath.Join(t.TempDir(), "changed")
	changes := before.Diff(after)
	require.NoError(t, w.SaveChanges(context.Background(), saved, changes, 1<<20))
	require.NoError(t, again.ApplyChanges(saved, changes))
	assert.Equal(t, after.Digest(), snapshot(t, again).Digest())
	assert.Equal(t, "other", content(t, again.Dir(), "e/e/x"))
}
