// Package plain helps tests, and knows nothing of evaltest.
package plain

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Read reads a file.
func Read(tb testing.TB, path string) string { // want Read:"ends 0"
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// ReadAll reads files.
func ReadAll(t require.TestingT, paths ...string) (texts []string) { // want ReadAll:"ends 0"
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	return texts
}

// Same compares.
func Same(t assert.TestingT, a, b string) bool { return assert.Equal(t, a, b) } // want Same:"fails 0"

// Dir is a folder that is gone when the test is over.
func Dir(tb testing.TB) string {
	dir, err := os.MkdirTemp("", "")
	tb.Cleanup(func() {
		if os.RemoveAll(dir) != nil || err != nil {
			tb.Error("something is left")
		}
	})
	return dir
}

// Sub runs a subtest, side by side with others.
func Sub(t *testing.T, name string, f func(t *testing.T)) { // want Sub:"has a subtest run 2"
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		f(t)
	})
}

// All runs functions side by side.
func All(first func(), others ...func()) { // want All:"has a goroutine run 0"
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		first()
	}()
	for _, f := range others {
		f()
	}
	wg.Wait()
}
