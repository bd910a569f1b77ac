package runstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// State is a folder that the processes of a run share. It is safe for concurrent use.
type State struct{ dir string }

// Open opens the shared state in dir, made when missing, its parents too.
func Open(dir string) (*State, error) {
	if err := os.MkdirAll(filepath.Join(dir, placesDir), 0o777); err != nil {
		return nil, wrap("open", err)
	}
	return &State{dir}, nil
}

// wrap says what can be done where the folder cannot be written.
func wrap(what string, err error) error {
	return fmt.Errorf("runstate: %s: %w; set EVALTEST_DIR to a directory that can be written, on a local disk", what, err)
}

// exclusively calls f while nobody else, of whatever process, is in a section of the same name. It is held for microseconds.
func (s *State) exclusively(name string, f func() error) error {
	l := flock.New(filepath.Join(s.dir, name+".lock"))
	if err := l.Lock(); err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	return f()
}

// read reads a file of the state into v. One that is missing, or makes no sense, leaves v as it is: what a process could not
// write to its end counts for nothing.
func read(path string, v any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_ = json.Unmarshal(data, v)
	return nil
}

// write replaces a file of the state.
func write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	// Whoever writes has the section to itself: one name serves all.
	next := path + ".next"
	if err := os.WriteFile(next, data, 0o666); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// ticket is a file that is locked for as long as its owner lives and wants it.
type ticket struct {
	path string
	lock *flock.Flock
	once sync.Once
}

// take makes a ticket, within the section that guards its folder.
func take(path string) (*ticket, error) {
	l := flock.New(path)
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf("%s is taken", path)
	}
	if err != nil {
		return nil, err
	}
	return &ticket{path: path, lock: l}, nil
}

// drop gives the ticket back.
func (t *ticket) drop() {
	t.once.Do(func() {
		os.Remove(t.path) // before it is unlocked: nobody is to find it free and there
		_ = t.lock.Close()
		os.Remove(t.path) // where an open file cannot be removed
	})
}

// alive reports whether the owner of a ticket lives; a dead one's ticket is removed. Within the section that guards it.
func alive(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDWR)) // not made anew when it is gone
	ok, err := l.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		return true // who cannot be asked is not counted as dead
	case !ok:
		_ = l.Close()
		return true
	}
	os.Remove(path)
	_ = l.Close()
	os.Remove(path)
	return false
}

// living lists the tickets in a folder whose owners live, in the order of their names.
func living(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if alive(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
