package runstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// State is a folder that the processes of a run share. It is safe for concurrent use. It holds nothing open, and need not be
// closed.
type State struct {
	dir   string
	turn  chan struct{} // of one: who of this process may ask for a lock. A thousand goroutines are one competitor
	mu    sync.Mutex
	queue map[*waiter]struct{}     // who of this process waits for a place
	held  map[string]chan struct{} // by key: closed when a trial of this process is done

	patience time.Duration
}

// Open opens the shared state in dir, made when missing, its parents too. It tries whether files can be made and locked there.
func Open(dir string) (*State, error) {
	s := &State{dir: dir, turn: make(chan struct{}, 1), queue: map[*waiter]struct{}{}, held: map[string]chan struct{}{}, patience: patience}
	err := os.MkdirAll(filepath.Join(dir, placesDir), 0o777)
	if err == nil {
		err = s.exclusively(context.Background(), placesDir, func() error { return nil })
	}
	if err != nil {
		return nil, wrap("open", err)
	}
	return s, nil
}

// wrap says what can be done where the folder cannot be used. The ends of contexts are the caller's own.
func wrap(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errStuck) {
		return err
	}
	return fmt.Errorf("runstate: %s: %w; set EVALTEST_DIR to a directory that can be written, on a local disk", what, err)
}

// patience is how long one waits for a section that others hold for microseconds: only a process that was stopped (not
// killed) in the middle of one keeps it that long.
const patience = 30 * time.Second

var errStuck = errors.New("runstate: lock: another process of the run holds what is held for microseconds; if one is stopped (SIGSTOP, a debugger), let it go on, or end it")

// exclusively calls f while nobody else, of whatever process, is in a section of the same name. Its error is f's, ctx's, or
// one of the lock.
func (s *State) exclusively(ctx context.Context, name string, f func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience, errStuck)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ended(ctx)
	}
	l := flock.New(filepath.Join(s.dir, name+".lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	// Not the call that blocks: it would not end with ctx.
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, time.Millisecond) {
		ok, err := l.TryLock()
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if ok {
			break
		}
		if err := sleep(ctx, pause, nil); err != nil {
			return err
		}
	}
	defer func() { _ = l.Close() }()
	return f()
}

// sleep sleeps until d is over, or something comes from woken. It returns an error when ctx ends first.
func sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
	return ended(ctx)
}

// ended is ctx's error, or that of a lock that cannot be had.
func ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errStuck) {
		return errStuck
	}
	return ctx.Err()
}

// read reads a file of the state, in the section that guards it. One that is missing, that may not be read or makes no sense
// is an empty one: it counts for nothing, and is replaced by the next write.
func read[T any](path string) (v T, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // killed between the two steps of write
		data, err = os.ReadFile(path + nextSuffix)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return v, nil
	case err != nil: // too many open files, an input error: what is there still counts
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		var empty T
		return empty, nil //nolint:nilerr // garbage is no error
	}
	return v, nil
}

const nextSuffix = ".next"

// write replaces a file of the state, in the section that guards it: there is one that is whole, whenever the process is
// killed. The old one goes first, since ext4 starts writing to the disk when a file is renamed over another (auto_da_alloc),
// which takes ten times as long as everything else here.
func write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	next := path + nextSuffix
	if err := os.WriteFile(next, data, 0o666); err != nil {
		os.Remove(next) // a full disk gets back what was taken in vain
		return err
	}
	os.Remove(path)
	return os.Rename(next, path)
}
