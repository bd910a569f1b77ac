package criteria

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// maxCopy bounds how much a copy of a workspace holds.
const maxCopy = 8 << 30

// copyWorkspace copies the workspace, whose path is dir, and puts the files into the copy. It returns the copy's path.
func (d *desk) copyWorkspace(ctx context.Context, w *workspace, dir string, files map[string][]byte, modes map[string]fs.FileMode) (string, error) {
	to := filepath.Join(d.root, "workspace")
	if err := os.Mkdir(to, 0o700); err != nil {
		return "", copyFault(err)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return "", copyFault(err)
	}
	defer root.Close()
	c := copier{ctx: ctx, from: w, to: root, left: maxCopy, dirs: []string{dir}, copyDir: to}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		c.dirs = append(c.dirs, real)
	}
	if err := c.folder("."); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := c.put(name, files[name], modes[name]|0o600); err != nil {
			return "", copyFault(err)
		}
	}
	// Last, and from the inside out, since nothing can be changed in a folder that is read-only.
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(c.folders))) {
		if info, err := root.Lstat(name); err != nil || !info.IsDir() {
			continue // put replaced it
		}
		if err := root.Chmod(name, c.folders[name]); err != nil {
			return "", copyFault(err)
		}
	}
	return to, nil
}

func copyFault(err error) error {
	return agents.Errorf(agents.Harness, agents.FromHarness, "criteria: copy the workspace: %w", err)
}

type copier struct {
	ctx     context.Context
	from    *workspace
	to      *os.Root
	left    int64    // bytes that may still be copied
	dirs    []string // the paths of the workspace: as it is called, and without links
	copyDir string
	folders map[string]fs.FileMode
}

// folder copies what the folder holds: folders, files with their modes and times, and links as links. Pipes, sockets and devices are left
// out.
func (c *copier) folder(dir string) error {
	entries, err := fs.ReadDir(c.from.root.FS(), dir)
	if err != nil {
		if c.from.words(dir, err) != "" {
			return nil // as little is seen of it in the workspace
		}
		return fault(dir, err)
	}
	for _, e := range entries {
		if err := ctxEnded(c.ctx, "copy the workspace"); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		info, err := c.from.root.Lstat(name)
		if err != nil {
			return fault(name, err)
		}
		switch {
		case info.IsDir():
			if err := c.to.Mkdir(name, 0o700); err != nil {
				return copyFault(err)
			}
			if c.folders == nil {
				c.folders = map[string]fs.FileMode{}
			}
			c.folders[name] = info.Mode().Perm()
			err = c.folder(name)
		case info.Mode()&fs.ModeSymlink != 0:
			err = c.link(name)
		case info.Mode().IsRegular():
			err = c.file(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link copies a link; one that names its target in the workspace by an absolute path leads into the copy.
func (c *copier) link(name string) error {
	target, err := c.from.root.Readlink(name)
	if err != nil {
		return fault(name, err)
	}
	for _, dir := range c.dirs {
		if below, ok := strings.CutPrefix(target, dir); ok && (below == "" || os.IsPathSeparator(below[0])) {
			target = c.copyDir + below
			break
		}
	}
	if err := c.to.Symlink(target, name); err != nil {
		return copyFault(err)
	}
	return nil
}

func (c *copier) file(name string, info fs.FileInfo) error {
	if c.left -= info.Size(); c.left < 0 {
		return tooMuch("copy the workspace: it holds more than %s", byteSize(maxCopy))
	}
	in, err := c.from.root.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		in = nil // the copy may not be read either
	} else if err != nil {
		return fault(name, err)
	} else {
		defer in.Close()
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return copyFault(err)
	}
	if in != nil {
		_, err = io.Copy(out, io.LimitReader(in, info.Size()))
	}
	err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close(), c.to.Chtimes(name, info.ModTime(), info.ModTime()))
	if err != nil {
		return copyFault(err)
	}
	return nil
}

// put writes a file of the author's. What the agent left in its way is removed: a link, so that nothing is written through it;
// a file where a folder has to be, so that it cannot be kept from being put there.
func (c *copier) put(name string, data []byte, mode fs.FileMode) error {
	dirs := strings.Split(name, "/")
	for i := range dirs[:len(dirs)-1] {
		dir := path.Join(dirs[:i+1]...)
		if info, err := c.to.Lstat(dir); err == nil && info.IsDir() {
			continue
		} else if err == nil {
			if err := c.to.Remove(dir); err != nil {
				return err
			}
		}
		if err := c.to.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := c.to.RemoveAll(name); err != nil {
		return err
	}
	f, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Close())
}
