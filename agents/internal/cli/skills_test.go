package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/internal/cli"
)

func TestStageSkills(t *testing.T) {
	t.Parallel()
	src, dir := t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"SKILL.md": 0o444, "scripts/run.sh": 0o755, "scripts/run_test.go": 0o644, "tests/a.md": 0o644, "evals/b.md": 0o644,
		"lib/tests/kept.md": 0o644,
	} {
		p := filepath.Join(src, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte("---\nname: s\n---\n"), mode))
	}
	require.NoError(t, cli.StageSkills(dir, []fs.FS{os.DirFS(src)}))
	var got []string
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, _ := d.Info()
			got = append(got, p+" "+info.Mode().String())
		}
		return err
	}))
	require.Equal(t, []string{"s/SKILL.md -rw-r--r--", "s/lib/tests/kept.md -rw-r--r--", "s/scripts/run.sh -rwxr-xr-x"}, got)
}
