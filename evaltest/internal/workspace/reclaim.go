package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Reclaim makes the work folder a real folder that can be read, whatever the agent has made of it and of the folder around it: call it
// when the agent is gone, before anything looks at the folder. A folder without permissions gets its owner's back. Where the agent put
// something else in the folder's place, or nothing, what it left is an empty folder, and a note says so: a link there would
// have leftovers of others taken for the agent's work.
func (w *Workspace) Reclaim() error {
	err := w.reclaimRoot()
	if err == nil {
		err = w.reclaimWork()
	}
	if err != nil {
		return fmt.Errorf("workspace: reclaim: %w", err)
	}
	return nil
}

// reclaimRoot sees to the folder around the work folder. What is in its place is removed if it is no folder, and else, as it may be
// anyone's, moved aside.
func (w *Workspace) reclaimRoot() error {
	above := filepath.Dir(w.root)
	if real, err := filepath.EvalSymlinks(above); err != nil || real != above {
		return errors.Join(fmt.Errorf("%s, which held the workspace, is not the folder any more that it was", above), err)
	}
	ok, err := w.ours()
	if err != nil {
		return err
	}
	if ok {
		return os.Chmod(w.root, 0o700)
	}
	switch fi, err := os.Lstat(w.root); {
	case errors.Is(err, fs.ErrNotExist):
		w.note("the agent removed the folder around its workspace, or moved it away: its workspace counts as empty")
	case err != nil:
		return err
	case fi.IsDir():
		aside, err := os.MkdirTemp(above, "evaltest-aside-*")
		if err != nil {
			return err
		}
		w.note("the agent put another folder in the place of the one around its workspace, which counts as empty; what was there is in %s", aside)
		if err := os.Rename(w.root, filepath.Join(aside, filepath.Base(w.root))); err != nil {
			return err
		}
	default:
		w.note("the agent put something else (%v) in the place of the folder around its workspace, which counts as empty", fi.Mode().Type())
		if err := os.Remove(w.root); err != nil {
			return err
		}
	}
	if err := os.Mkdir(w.root, 0o700); err != nil {
		return err
	}
	return w.furnish()
}

func (w *Workspace) reclaimWork() error {
	fi, err := os.Lstat(w.work)
	switch {
	case err == nil && fi.IsDir():
		openUp(w.work)
		return nil
	case err == nil:
		w.note("the agent put something else (%v) in the place of its workspace: it counts as empty", fi.Mode().Type())
		err = os.Remove(w.work)
	case errors.Is(err, fs.ErrNotExist):
		w.note("the agent removed its workspace, or moved it away: it counts as empty")
		err = nil
	}
	if err == nil {
		err = os.Mkdir(w.work, 0o755)
	}
	return err
}
