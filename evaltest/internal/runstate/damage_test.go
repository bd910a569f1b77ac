package runstate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
)

// A count that makes no sense is an empty one, and is replaced.
func TestGarbage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":          "",
		"torn":           `{"row":4,"lost":0,"last":{"err`,
		"no JSON":        "\x00\x01\xffgarbage",
		"another shape":  `[1,2,3]`,
		"another type":   `{"row":4,"lost":1,"last":5}`,
		"no such counts": `{"row":-4,"lost":-1}`,
		"null":           `null`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			for range 4 {
				enter(t, s, "k").Done(result("crash"))
			}
			file := countOf(t, s)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
			require.NoError(t, os.WriteFile(file+".next", []byte(text), 0o666)) // of one killed in the middle
			assert.Zero(t, looked(t, s, "k"))
			for range 4 {
				enter(t, s, "k").Done(result("crash"))
			}
			assert.Zero(t, looked(t, s, "k"), "the count began anew")
			enter(t, s, "k").Done(result("crash"))
			assert.Equal(t, 5, looked(t, s, "k"))
		})
	}
}

// A count is written in steps; it is whole after each.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for range 3 {
		enter(t, s, "k").Done(result("crash"))
	}
	file := countOf(t, s)
	require.NoError(t, os.WriteFile(file+".next", []byte(`{"row":4,"lo`), 0o666)) // the new one is not whole
	enter(t, s, "k").Done(result("crash"))
	require.NoError(t, os.Rename(file, file+".next")) // the old one has gone
	assert.Zero(t, looked(t, s, "k"))
	enter(t, s, "k").Done(result("crash"))
	assert.Equal(t, 5, looked(t, s, "k"))
}

func countOf(t *testing.T, s *runstate.State) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir(), "breaker-*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

// Files that are none of ours are left alone, and nobody waits for them.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	enter(t, s, "k").Done(result("auth"))
	trials := strings.TrimSuffix(countOf(t, s), ".json")
	var strangers []string
	for _, dir := range []string{trials, filepath.Join(s.Dir(), "places")} {
		for _, name := range []string{".DS_Store", "folder/file", "1-x", "-"} {
			strangers = append(strangers, filepath.Join(dir, name))
			require.NoError(t, os.MkdirAll(filepath.Dir(strangers[len(strangers)-1]), 0o777))
			require.NoError(t, os.WriteFile(strangers[len(strangers)-1], nil, 0o666))
		}
	}
	// Tickets that nobody holds: their owners are dead.
	dead := []string{filepath.Join(trials, "trial-DEAD"), filepath.Join(s.Dir(), "places", "0000000000000007-DEAD")}
	for _, path := range dead {
		require.NoError(t, os.WriteFile(path, nil, 0o666))
	}
	enter(t, s, "k").Done(result("auth"))
	assert.Equal(t, 2, looked(t, s, "k"))
	acquire(t, s, 1)()
	for _, path := range dead {
		assert.NoFileExists(t, path)
	}
	for _, path := range strangers {
		assert.FileExists(t, path)
	}
}

// A folder that cannot be is an error that says what to do.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := runstate.Open(filepath.Join(file, "state"))
	clear(t, err)
}

// One that is removed under a run's feet is an error, and no wait without end.
func TestTheFolderIsGone(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "deep", "state"))
	trial := enter(t, s, "k")
	release := acquire(t, s, 1)
	require.NoError(t, os.RemoveAll(s.Dir()))
	trial.Done(result("auth"))
	release()
	_, err := s.Acquire(context.Background(), 1, nil)
	clear(t, err)
	_, _, err = s.Enter(context.Background(), "k", nil)
	clear(t, err)
	_, err = s.Opened("k")
	clear(t, err)
}

// A process that was stopped in the middle holds a lock and lives: nobody waits for it without end.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	trial := enter(t, s, "k")
	locks, err := filepath.Glob(filepath.Join(s.Dir(), "*.lock"))
	require.NoError(t, err)
	require.Len(t, locks, 2)
	for _, path := range locks {
		l := flock.New(path)
		require.NoError(t, l.Lock())
		t.Cleanup(func() { assert.NoError(t, l.Close()) })
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = s.Acquire(ctx, 1, nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	s.SetPatience(50 * time.Millisecond)
	_, err = s.Acquire(context.Background(), 1, nil)
	assert.ErrorContains(t, err, "let it go on")
	_, _, err = s.Enter(context.Background(), "k", nil)
	assert.ErrorContains(t, err, "let it go on")
	_, err = s.Opened("k")
	assert.ErrorContains(t, err, "let it go on")
	trial.Done(result("auth"))
}

func clear(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	assert.Regexp(t, `^runstate: .*; set EVALTEST_DIR to a directory that can be written`, err.Error())
}
