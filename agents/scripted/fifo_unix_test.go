//go:build unix

package scripted_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestReadingWhatIsNoFileFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for _, path := range []string{"pipe", "folder", "missing", ""} {
		c, out := one(t, agents.Setup{Dir: dir}, script.Read(path))
		assert.Equal(t, agents.Failed, c.Status, "%q: %s", path, out)
	}
}
