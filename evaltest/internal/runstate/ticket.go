package runstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/gofrs/flock"
)

// ticket is a file that is locked for as long as its owner lives and wants it. Its name is never used again: whoever has
// seen it may look after it at any time.
type ticket struct {
	path string
	lock *flock.Flock
	once sync.Once
}

// take makes a ticket, in the section that guards its folder: outside of it, nobody sees one that is not locked yet.
func take(path string) (*ticket, error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf("lock %s: somebody else has locked it", path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &ticket{path: path, lock: l}, nil
}

// drop gives the ticket back. It may be called twice.
func (t *ticket) drop() {
	t.once.Do(func() {
		err := os.Remove(t.path)
		_ = t.lock.Close()
		if err != nil {
			os.Remove(t.path) // where an open file cannot be removed
		}
	})
}

// alive reports whether the owner of a ticket lives and holds it; a dead one's is removed. The name is to have been listed in
// the section that guards the folder; the question may be asked outside.
func alive(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDWR)) // not made anew when it is gone
	defer func() { _ = l.Close() }()
	ok, err := l.TryRLock() // shared: two who ask do not take each other for the owner
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		return true // one who cannot be asked is not counted as dead
	case ok:
		if os.Remove(path) != nil {
			_ = l.Close()
			os.Remove(path)
		}
	}
	return !ok
}

// names lists a folder of tickets, in no order, whether their owners live or not: none where there is no folder.
func names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
