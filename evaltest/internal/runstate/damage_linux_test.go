package runstate_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
)

// asNobody calls f as a user who owns nothing: root may write anywhere.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the identity is the thread's, and ends with it
		if unix.Setfsuid(65534) == nil {
			f()
		}
	}()
	<-done
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "runstate") // t.TempDir is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(parent) })
	dir := filepath.Join(parent, "state")
	s := open(t, dir)
	enter(t, s, "k").Done(result("auth"))
	for _, d := range []string{parent, dir, filepath.Join(dir, "places")} {
		require.NoError(t, os.Chmod(d, 0o555))
		t.Cleanup(func() { _ = os.Chmod(d, 0o755) })
	}
	var anew, elsewhere, place, trial error
	asNobody(t, func() {
		_, anew = runstate.Open(filepath.Join(parent, "another"))
		_, elsewhere = runstate.Open(dir)
		_, place = s.Acquire(context.Background(), 1, nil)
		_, _, trial = s.Enter(context.Background(), "another", nil)
	})
	clear(t, anew)
	clear(t, place)
	clear(t, trial)
	if os.Geteuid() == 0 { // else the lock that is there already may still be opened
		clear(t, elsewhere)
	}
}

// A disk that is full when a result comes in loses that result, and no more: it is neither an endless wait nor a broken file.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "small")
	require.NoError(t, os.Mkdir(dir, 0o777))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	s := open(t, filepath.Join(dir, "state"))
	enter(t, s, "k").Done(result("crash"))
	first, second := enter(t, s, "k"), enter(t, s, "k")

	filler, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	defer filler.Close()
	for _, err = filler.Write(make([]byte, 4096)); err == nil; {
		_, err = filler.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	first.Done(result("crash"))
	assert.Zero(t, looked(t, s, "k"))
	release, err := s.Acquire(context.Background(), 1, nil)
	if err != nil {
		clear(t, err)
	} else {
		release()
	}

	require.NoError(t, os.Remove(filler.Name()))
	require.NoError(t, filler.Close())
	require.Eventually(t, func() bool { // a process that another test starts just then has the file open, until it is another program
		var fs unix.Statfs_t
		return unix.Statfs(dir, &fs) == nil && fs.Bavail > 4
	}, soon, time.Millisecond)
	second.Done(result("crash"))
	for range 2 {
		enter(t, s, "k").Done(result("crash"))
	}
	assert.Zero(t, looked(t, s, "k"), "four were counted")
	enter(t, s, "k").Done(result("crash"))
	assert.Equal(t, 5, looked(t, s, "k"))
}
