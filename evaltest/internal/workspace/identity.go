package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// identify remembers which folder the workspace's is. An agent may put another in its place, or a link to one.
func (w *Workspace) identify() error {
	fi, err := os.Lstat(w.root)
	if err != nil {
		return err
	}
	os.SameFile(fi, fi) // Windows asks for the identity when it is first needed, and then of what is there
	w.mu.Lock()
	w.self = fi
	w.mu.Unlock()
	return nil
}

// ours reports whether the workspace's folder is where it was made, with no link above it.
func (w *Workspace) ours() (bool, error) {
	fi, err := os.Lstat(w.root)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	self := w.self
	w.mu.Unlock()
	if !os.SameFile(fi, self) {
		return false, nil
	}
	real, err := filepath.EvalSymlinks(w.root)
	return err == nil && real == w.root, err
}

// check is an error unless the work folder is a real one, in the workspace that was made: what lies where a link leads is not the
// agent's work.
func (w *Workspace) check() error {
	if _, err := os.Lstat(w.root); err != nil {
		return err
	}
	ok, err := w.ours()
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s is not the folder any more that was made for the workspace", w.root)
	}
	fi, err := os.Lstat(w.work)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s is no folder any more (%v)", w.work, fi.Mode().Type())
	}
	return nil
}

// open opens the work folder, out of which nothing leads.
func (w *Workspace) open() (*os.Root, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	return os.OpenRoot(w.work)
}

// An absolute link into the work folder says something else in every workspace, and means the same. Where it is compared or saved it says
// this instead of the folder's path.
const here = ".evaltest-work-folder"

// portable is the target of a link as it reads in any workspace.
func (w *Workspace) portable(target string) string {
	if rest, ok := strings.CutPrefix(target, w.work); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return here + filepath.ToSlash(rest)
	}
	return target
}

// local is the target of a link as it reads in this workspace.
func (w *Workspace) local(target string) string {
	if rest, ok := strings.CutPrefix(target, here); ok && (rest == "" || rest[0] == '/') {
		return w.work + filepath.FromSlash(rest)
	}
	return target
}
