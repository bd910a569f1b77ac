package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// Digest is equal for states that hold the same: paths, kinds, targets of links, executability, contents. Times do not count,
// unless they are all that is known of a file.
func (s Snapshot) Digest() string {
	h := sha256.New()
	names := make([]string, 0, len(s.entries))
	for name := range s.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		e := s.entries[name]
		fmt.Fprintf(h, "%q %v %v %q %x", name, e.kind, e.exec, e.link, e.hash)
		if e.unread {
			fmt.Fprintf(h, " %d %v", e.size, e.mod.UnixNano())
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// SaveChanges copies into the folder dst, which is made, what [Snapshot.Diff] calls created or modified, as it is now: with
// modes and links, below the same paths. Of more than limit bytes nothing is copied, and the error says how many there are.
// After an error there is no dst.
func (w *Workspace) SaveChanges(ctx context.Context, dst string, changes []journal.Change, limit int64) error {
	var total int64
	for _, c := range changes {
		if fi, err := os.Lstat(w.local(c.Path)); err == nil && fi.Mode().IsRegular() && c.Kind != journal.Deleted {
			total += fi.Size()
		}
	}
	if total > limit {
		return fmt.Errorf("workspace: save changes: they are %d bytes, of which at most %d are kept", total, limit)
	}
	if err := os.Mkdir(dst, 0o777); err != nil {
		return fmt.Errorf("workspace: save changes: %w", err)
	}
	if err := w.saveAll(ctx, dst, changes); err != nil {
		return errors.Join(fmt.Errorf("workspace: save changes: %w", err), removeTree(dst))
	}
	return nil
}

func (w *Workspace) local(path string) string { return filepath.Join(w.work, filepath.FromSlash(path)) }

func (w *Workspace) saveAll(ctx context.Context, dst string, changes []journal.Change) error {
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.Kind == journal.Deleted { // its folder may have stayed
			dir := existing(w.work, filepath.Dir(filepath.FromSlash(c.Path)))
			if err := os.MkdirAll(filepath.Join(dst, dir), 0o777); err != nil {
				return err
			}
			continue
		}
		to := filepath.Join(dst, filepath.FromSlash(c.Path))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := put(w.local(c.Path), to); err != nil {
			return err
		}
	}
	return nil
}

// existing is the part of the folder dir, relative to root, that is there.
func existing(root, dir string) string {
	for dir != "." {
		if fi, err := os.Lstat(filepath.Join(root, dir)); err == nil && fi.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// put makes to what from is: a file, a link or a folder, whose entries stay as they are. What else is at to goes.
func put(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		if err := makeDir(to); err != nil {
			return err
		}
		return os.Chmod(to, fi.Mode().Perm()|0o700)
	}
	if err := removeTree(to); err != nil {
		return err
	}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return makeLink(target, to)
	case fi.Mode().IsRegular():
		f, fi, err := openRegular(from)
		if err != nil {
			return err
		}
		defer f.Close()
		return writeFile(f, to, fi.Mode().Perm())
	}
	return fmt.Errorf("%s is neither a file, a folder nor a link", from)
}

// ApplyChanges makes of a workspace that is filled as it was before the agent's work what it was after it: src is what
// [Workspace.SaveChanges] saved of the same changes.
func (w *Workspace) ApplyChanges(src string, changes []journal.Change) error {
	if err := w.applyAll(src, changes); err != nil {
		return fmt.Errorf("workspace: apply changes: %w", err)
	}
	return nil
}

func (w *Workspace) applyAll(src string, changes []journal.Change) error {
	for _, c := range slices.Backward(changes) { // what is in a folder goes before the folder
		if c.Kind != journal.Deleted {
			continue
		}
		if err := w.remove(src, c.Path); err != nil {
			return err
		}
	}
	for _, c := range changes { // folders come before what is in them
		if c.Kind == journal.Deleted {
			continue
		}
		from, to := filepath.Join(src, filepath.FromSlash(c.Path)), w.local(c.Path)
		if fi, err := os.Lstat(to); err == nil && !fi.IsDir() {
			if err := os.Remove(to); err != nil {
				return err
			}
		}
		if err := makeParents(w.work, filepath.Dir(filepath.FromSlash(c.Path))); err != nil {
			return err
		}
		if err := put(from, to); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what was deleted, and the folders above it that went with it: that are not among what was saved.
func (w *Workspace) remove(src, path string) error {
	if err := removeTree(w.local(path)); err != nil {
		return err
	}
	for dir := filepath.Dir(filepath.FromSlash(path)); dir != "."; dir = filepath.Dir(dir) {
		if fi, err := os.Lstat(filepath.Join(src, dir)); err == nil && fi.IsDir() {
			break
		}
		if err := os.Remove(filepath.Join(w.work, dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break // there is something in it
		}
	}
	return nil
}

// makeParents makes the folder dir, relative to root, whatever is in its place.
func makeParents(root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeParents(root, filepath.Dir(dir)); err != nil {
		return err
	}
	path := filepath.Join(root, dir)
	if fi, err := os.Lstat(path); err == nil && !fi.IsDir() {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return makeDir(path)
}
