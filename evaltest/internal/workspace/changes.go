package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// SaveChanges copies into the folder dst, which is made, what [Snapshot.Diff] calls created or modified, as it is now: with
// modes, times and links, below the same paths. A link by an absolute path into the work folder is one into the work folder of who applies
// the changes. Of more than limit bytes nothing is copied, and the error says how many there are; nor is anything if there is a socket, a
// pipe or a device among it, or a file that cannot be read. After an error there is no dst, unless it was there before.
func (w *Workspace) SaveChanges(ctx context.Context, dst string, changes []journal.Change, limit int64) error {
	if err := w.saveChanges(ctx, dst, changes, limit); err != nil {
		return fmt.Errorf("workspace: save changes: %w", err)
	}
	return nil
}

func (w *Workspace) saveChanges(ctx context.Context, dst string, changes []journal.Change, limit int64) error {
	from, err := w.open()
	if err != nil {
		return err
	}
	defer from.Close()
	var total int64
	for _, c := range changes {
		if err := valid(c); err != nil {
			return err
		}
		if fi, err := lstat(from, c.Path); err == nil && fi.Mode().IsRegular() && c.Kind != journal.Deleted {
			total += fi.Size()
		}
	}
	if total > limit {
		return fmt.Errorf("they are %d bytes, of which at most %d are kept", total, limit)
	}
	if err := os.Mkdir(dst, 0o777); err != nil {
		return err
	}
	to, err := os.OpenRoot(dst)
	if err == nil {
		err = (&mover{ctx: ctx, from: from, to: to, link: w.portable, left: limit}).save(changes)
		to.Close()
	}
	if err != nil {
		return errors.Join(err, removeTree(dst))
	}
	return nil
}

// valid is an error for a change that Diff does not make: records may have been written by others.
func valid(c journal.Change) error {
	if c.Path == "." || path.Clean(c.Path) != c.Path || !filepath.IsLocal(filepath.FromSlash(c.Path)) {
		return fmt.Errorf("%q is no path of a workspace", c.Path)
	}
	switch c.Kind {
	case journal.Created, journal.Modified, journal.Deleted:
		return nil
	}
	return fmt.Errorf("%q: there is no change of kind %q", c.Path, c.Kind)
}

// ApplyChanges makes of a workspace that is filled as it was before the agent's work what it was after it: src is what
// [Workspace.SaveChanges] saved of the same changes. Where the workspace does not hold what was deleted or modified, or holds what was
// created, or src is not what was saved, that is an error.
func (w *Workspace) ApplyChanges(src string, changes []journal.Change) error {
	if len(changes) == 0 {
		return nil
	}
	if err := w.applyChanges(src, changes); err != nil {
		return fmt.Errorf("workspace: apply changes: %w", err)
	}
	return nil
}

func (w *Workspace) applyChanges(src string, changes []journal.Change) error {
	to, err := w.open()
	if err != nil {
		return err
	}
	defer to.Close()
	from, err := os.OpenRoot(src)
	if err != nil {
		return err
	}
	defer from.Close()
	for _, c := range changes {
		if err := fits(to, from, c); err != nil {
			return err
		}
	}
	openUp(w.work) // as Reclaim has done with the one that was saved
	m := mover{ctx: context.Background(), from: from, to: to, link: w.local, left: 1 << 62}
	return m.apply(changes)
}

// fits is an error unless the workspace is as it was before the change, and what was saved has the outcome.
func fits(work, saved *os.Root, c journal.Change) error {
	if err := valid(c); err != nil {
		return err
	}
	_, err := lstat(work, c.Path)
	if c.Kind == journal.Created && err == nil {
		return fmt.Errorf("%q was created, and is there already: the workspace is not filled as it was", c.Path)
	}
	if c.Kind != journal.Created && err != nil {
		return fmt.Errorf("%q was %s, and the workspace is not filled as it was: %w", c.Path, c.Kind, err)
	}
	if c.Kind != journal.Deleted {
		if _, err := lstat(saved, c.Path); err != nil {
			return fmt.Errorf("%q was %s, and is not among what was saved: %w", c.Path, c.Kind, err)
		}
	}
	return nil
}

// A mover copies between two folders. Nothing that it does leads out of them.
type mover struct {
	ctx      context.Context
	from, to *os.Root
	link     func(target string) string // where a link leads in the copy
	left     int64                      // bytes that may still be copied
}

func (m *mover) save(changes []journal.Change) error {
	for _, c := range changes {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		dir := path.Dir(c.Path)
		if c.Kind == journal.Deleted { // its folder may have stayed
			for dir != "." && !isDir(m.from, dir) {
				dir = path.Dir(dir)
			}
		}
		if err := m.folder(dir); err != nil {
			return err
		}
		if c.Kind != journal.Deleted {
			if err := m.put(c.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mover) apply(changes []journal.Change) error {
	for _, c := range changes {
		if c.Kind == journal.Deleted {
			if err := m.remove(c.Path); err != nil {
				return err
			}
		}
	}
	for _, c := range changes { // folders come before what is in them
		if c.Kind == journal.Deleted {
			continue
		}
		if err := m.folder(path.Dir(c.Path)); err != nil {
			return err
		}
		if err := m.put(c.Path); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what was deleted, and the folders above it that went with it: that are not among what was saved.
func (m *mover) remove(name string) error {
	if err := m.to.RemoveAll(name); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "." && !isDir(m.from, dir); dir = path.Dir(dir) {
		if err := m.to.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break // there is something in it
		}
	}
	return nil
}

func isDir(root *os.Root, name string) bool {
	fi, err := lstat(root, name)
	return err == nil && fi.IsDir()
}

// lstat is what is at name itself, not at the end of links on the way there, which os.Root follows as long as they stay inside.
func lstat(root *os.Root, name string) (fs.FileInfo, error) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		if fi, err := root.Lstat(name[:i]); err != nil || !fi.IsDir() {
			return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
		}
	}
	return root.Lstat(name)
}

// folder makes a folder and those above it, whatever is in their place.
func (m *mover) folder(name string) error {
	if name == "." || isDir(m.to, name) {
		return nil
	}
	if err := m.folder(path.Dir(name)); err != nil {
		return err
	}
	if err := m.to.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return m.to.Mkdir(name, 0o755)
}

// put makes of name what it is where it comes from: a file, a link or a folder, whose entries stay as they are.
func (m *mover) put(name string) error {
	fi, err := lstat(m.from, name)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		if err := m.folder(name); err != nil {
			return err
		}
		return m.to.Chmod(name, fi.Mode().Perm()|0o700)
	}
	if err := m.to.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		target, err := m.from.Readlink(name)
		if err != nil {
			return err
		}
		return m.to.Symlink(m.link(target), name)
	case fi.Mode().IsRegular():
		return m.file(name, fi)
	}
	return fmt.Errorf("%q is neither a file, a folder nor a link", name)
}

func (m *mover) file(name string, listed fs.FileInfo) error {
	in, err := m.from.OpenFile(name, openFlags, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(fi, listed) || !fi.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if m.left -= fi.Size(); m.left < 0 {
		return errors.New("there are more bytes now than a moment ago")
	}
	out, err := m.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fillFile(out, in, fi.Mode().Perm()); err != nil {
		return err
	}
	return m.to.Chtimes(name, fi.ModTime(), fi.ModTime())
}
