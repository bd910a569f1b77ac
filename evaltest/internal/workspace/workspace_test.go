package workspace

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test binary is also a process that makes a workspace and dies.
func TestMain(m *testing.M) {
	if base := os.Getenv("WORKSPACE_TEST_CHILD"); base != "" {
		w, err := newIn(base)
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(w.root)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestNew(t *testing.T) {
	t.Parallel()
	w, err := New()
	require.NoError(t, err)
	defer w.Remove()
	other, err := New()
	require.NoError(t, err)
	defer other.Remove()
	assert.NotEqual(t, w.Dir(), other.Dir())
	for _, dir := range []string{w.Dir(), w.Home(), w.Temp()} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, entries)
		real, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		assert.Equal(t, real, dir)
	}
	require.NoError(t, w.Remove())
	require.NoError(t, w.Remove())
	assert.NoDirExists(t, w.root)
}

func TestPathsAreFreeOfLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	symlink(t, "real", filepath.Join(dir, "link"))
	w, err := newIn(filepath.Join(dir, "link"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "real"), filepath.Dir(w.root))
}

func TestWorkspaceLiesInNoModule(t *testing.T) {
	t.Parallel()
	clean, module := t.TempDir(), t.TempDir()
	if strayAbove(clean) != nil {
		t.Skip("the folder for temporary files lies in a module or repository")
	}
	write(t, module, "go.mod", "module m\n")
	inside := filepath.Join(module, "tmp")
	got, err := base(inside, "", filepath.Join(clean, "cache"))
	require.NoError(t, err)
	want, err := filepath.EvalSymlinks(filepath.Join(clean, "cache"))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	_, err = base(inside, "")
	assert.ErrorContains(t, err, "go.mod would be seen by an agent")
	assert.ErrorContains(t, err, "set TMPDIR")
}

// orphan is a workspace of a process that is dead, made at the given time.
func orphan(tb testing.TB, base string, age time.Duration) string {
	tb.Helper()
	exe, err := os.Executable()
	require.NoError(tb, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "WORKSPACE_TEST_CHILD="+base)
	out, err := cmd.Output()
	require.NoError(tb, err)
	root := string(out)
	setOwner(tb, root, func(o *owned) { o.Created = o.Created.Add(-age) })
	return root
}

func setOwner(tb testing.TB, root string, set func(*owned)) {
	tb.Helper()
	var o owned
	path := filepath.Join(root, ownerFile)
	data, err := os.ReadFile(path)
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(data, &o))
	set(&o)
	data, err = json.Marshal(o)
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(path, data, 0o644))
}

func TestSweepRemovesOnlyWhatTheDeadHaveLeft(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	const day = 24 * time.Hour
	gone := map[string]string{
		"empty, of two days":     orphan(t, base, 2*day),
		"with work, of a month":  orphan(t, base, 30*day),
		"read-only, of a month":  orphan(t, base, 30*day),
		"half removed, two days": orphan(t, base, 2*day),
	}
	write(t, gone["with work, of a month"], "work/a", "a")
	write(t, gone["read-only, of a month"], "work/d/a", "a")
	require.NoError(t, os.Chmod(filepath.Join(gone["read-only, of a month"], "work/d"), 0o500))
	require.NoError(t, os.Remove(filepath.Join(gone["half removed, two days"], "work")))
	stay := map[string]string{
		"of an hour":             orphan(t, base, time.Hour),
		"with work, of two days": orphan(t, base, 2*day),
		"of another machine":     orphan(t, base, 30*day),
		"not to be lost":         orphan(t, base, 30*day),
		"without an owner":       orphan(t, base, 30*day),
		"of an owner who lies":   orphan(t, base, 30*day),
	}
	write(t, stay["with work, of two days"], "work/a", "a")
	setOwner(t, stay["of another machine"], func(o *owned) { o.Host += "x" })
	write(t, stay["not to be lost"], keptFile, "")
	require.NoError(t, os.Remove(filepath.Join(stay["without an owner"], ownerFile)))
	setOwner(t, stay["of an owner who lies"], func(o *owned) { o.PID++ })
	alive, err := newIn(base)
	require.NoError(t, err)
	setOwner(t, alive.root, func(o *owned) { o.Created = o.Created.Add(-30 * day) })
	stay["of the living"] = alive.root
	stay["of somebody else"] = filepath.Join(base, "evaltester")
	require.NoError(t, os.Mkdir(stay["of somebody else"], 0o755))

	assert.Equal(t, len(gone), sweep(base, time.Now(), time.Minute))
	for name, root := range gone {
		assert.NoDirExists(t, root, name)
	}
	for name, root := range stay {
		assert.DirExists(t, root, name)
	}
}
