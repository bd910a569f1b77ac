package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Keep moves the work folder to dest, which must not exist; the folders above it are made. Links stay as they are. Folders are
// made such that their owner can remove them. Where a copy is needed (dest is on another file system), sockets, pipes, devices and
// what cannot be read are left out and noted, and dest appears only when it is whole. After an error the work folder is
// where it was, and no later [Sweep] removes it. After Keep there is no work folder any more.
func (w *Workspace) Keep(dest string) error {
	if err := w.keep(dest, os.Rename); err != nil {
		err = fmt.Errorf("workspace: keep %s as %s: %w", w.work, dest, err)
		if e := os.WriteFile(filepath.Join(w.root, keptFile), nil, 0o644); e != nil {
			err = fmt.Errorf("%w; copy it before a week is over, when it is removed, for it cannot be marked either: %w", err, e)
		}
		return err
	}
	return nil
}

func (w *Workspace) keep(dest string, rename func(from, to string) error) error {
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	openUp(w.work)
	err := rename(w.work, dest)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Another file system is the usual cause. Whatever it is, a copy may do.
	partial := dest + ".partial"
	t := tree{src: w.work, dst: partial, note: w.note, salvage: true, link: func(target, _ string) string { return target }}
	if err := t.copyDir("."); err != nil {
		return errors.Join(err, removeTree(partial))
	}
	if err := os.Rename(partial, dest); err != nil {
		return errors.Join(err, removeTree(partial))
	}
	if err := removeTree(w.work); err != nil {
		w.note("the workspace was kept, but is also still in %s: %v", w.work, err)
	}
	return nil
}

// Remove removes all of the workspace, folders without permissions included. A second call does nothing. What the agent put in
// its place is not ours to remove, unless [Workspace.Reclaim] made it ours.
func (w *Workspace) Remove() error {
	_, err := os.Lstat(w.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if ok, err := w.ours(); !ok {
		return fmt.Errorf("workspace: remove: %s is not the folder any more that was made for the workspace, and stays: %w", w.root, cmp.Or(err, fs.ErrExist))
	}
	if err := removeTree(w.root); err != nil {
		return fmt.Errorf("workspace: remove: %w", err)
	}
	return nil
}

// removeTree removes path and all below it. What stands against it at first may be a mode, or a process that is just ending.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	for wait := 5 * time.Millisecond; err != nil && wait < 500*time.Millisecond; wait *= 4 {
		openUp(path)
		if err = os.RemoveAll(path); err == nil {
			break
		}
		if runtime.GOOS != "windows" && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(wait)
	}
	return err
}

// openUp lets the owner list and change every folder of a tree, as far as that is possible. It follows no links.
func openUp(path string) {
	fi, err := os.Lstat(path)
	if err != nil || !fi.IsDir() {
		return
	}
	if fi.Mode()&0o700 != 0o700 {
		_ = os.Chmod(path, fi.Mode().Perm()|0o700)
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			openUp(filepath.Join(path, e.Name()))
		}
	}
}
