package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileOfTheRunIsWholeAtAnyTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "manifest.json")
	const writers, rounds = 4, 25
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		j := openAt(t, dir)
		wg.Go(func() {
			for range rounds {
				assert.NoError(t, j.WriteFile("manifest.json", bytes.Repeat([]byte{byte('a' + w)}, 10_000+w)))
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) && !over {
			continue
		}
		require.NoError(t, err)
		require.Len(t, data, 10_000+int(data[0]-'a'))
		require.Equal(t, len(data), bytes.Count(data, data[:1]))
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files are left")
}

func TestAFileOfTheRunIsBesideTheJournals(t *testing.T) {
	t.Parallel()
	j := openAt(t, t.TempDir())
	for _, name := range []string{"", ".", "..", "../x", "a/b", "trials", "previous", j.file, string(filepath.Separator) + "x", strings.Repeat("x", 300)} {
		assert.ErrorContains(t, j.WriteFile(name, nil), "journal: write "+name+": ", name)
	}
	_, err := Read(j.Dir())
	require.NoError(t, err)
}
