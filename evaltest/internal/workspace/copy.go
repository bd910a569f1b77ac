package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CopyFS copies fsys into the work folder. Folders get the mode 0755 and files 0644, or 0755 where fsys says that they are
// executable: what an embed.FS calls read-only can be written. A file that is there already is replaced. Symbolic links are kept
// where fsys can read them ([fs.ReadLinkFS]: os.DirFS can); what is neither file, folder nor link is left out and noted.
func (w *Workspace) CopyFS(fsys fs.FS) error {
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		local, err := filepath.Localize(name)
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		dst := filepath.Join(w.work, local)
		switch {
		case d.IsDir():
			return makeDir(dst)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := fs.ReadLink(fsys, name)
			if err != nil {
				return fmt.Errorf("%w; this kind of file system cannot say where its links lead", err)
			}
			return makeLink(filepath.FromSlash(target), dst)
		case d.Type().IsRegular():
			return copyFromFS(fsys, name, dst)
		}
		w.note("%s: left out of the workspace: it is neither a file, a folder nor a link", name)
		return nil
	})
	if err != nil {
		return fmt.Errorf("workspace: copy file system: %w", err)
	}
	return nil
}

func copyFromFS(fsys fs.FS, name, dst string) error {
	src, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer src.Close()
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if fi.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if err := writeFile(src, dst, mode); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// CopyDir copies the folder at path into the work folder, with modes, modification times and symbolic links. A link stays
// what it says, also when it leads out of the folder, but an absolute one into the folder is made to lead into the copy: an
// agent must not work on the original. Sockets, pipes and devices are left out and noted. A file that is there already is
// replaced.
func (w *Workspace) CopyDir(path string) error {
	fail := func(err error) error { return fmt.Errorf("workspace: copy folder %s: %w", path, err) }
	abs, err := filepath.Abs(path)
	if err != nil {
		return fail(err)
	}
	src, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(fmt.Errorf("there is no %s; a relative path is meant from the folder of the test's package", abs))
	}
	if err != nil {
		return fail(err)
	}
	fi, err := os.Stat(src)
	if err != nil {
		return fail(err)
	}
	if !fi.IsDir() {
		return fail(errors.New("it is no folder"))
	}
	if _, inside := within(src, w.root); inside {
		return fail(fmt.Errorf("the workspace %s lies in it", w.root))
	}
	t := tree{
		src: src, dst: w.work, note: w.note,
		link: func(target, name string) string { return inward(target, name, src, abs) },
	}
	if err := t.copyDir("."); err != nil {
		return fail(err)
	}
	return nil
}

// inward is where the link at name (relative to the tree) leads in a copy: an absolute target within one of the tree's own
// paths becomes relative.
func inward(target, name string, roots ...string) string {
	if !filepath.IsAbs(target) {
		return target
	}
	for _, root := range roots {
		if in, ok := within(root, target); ok {
			if rel, err := filepath.Rel(filepath.Dir(name), in); err == nil {
				return rel
			}
		}
	}
	return target
}

// within is path relative to root, if it is root or lies in it. Both are absolute.
func within(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// tree is a copy of a folder being made.
type tree struct {
	src, dst string
	note     func(format string, args ...any)
	link     func(target, name string) string // where a link leads in the copy
	// salvage: what cannot be read is noted and left out, and folders of the copy can be removed by their owner.
	salvage bool
}

// copyDir copies the folder name, relative to the roots. Its mode and time are set last: it may be read-only.
func (t *tree) copyDir(name string) error {
	src, dst := filepath.Join(t.src, name), filepath.Join(t.dst, name)
	fi, err := os.Lstat(src)
	if err != nil {
		return t.unreadable(name, err)
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		if err := t.unreadable(name, err); err != nil {
			return err
		}
	}
	if err := makeDir(dst); err != nil {
		return err
	}
	for _, e := range entries {
		if err := t.copyEntry(filepath.Join(name, e.Name()), e); err != nil {
			return err
		}
	}
	mode := fi.Mode().Perm()
	if t.salvage || name == "." { // the work folder itself is the agent's to write
		mode |= 0o700
	}
	if err := os.Chmod(dst, mode); err != nil {
		return err
	}
	return os.Chtimes(dst, fi.ModTime(), fi.ModTime())
}

func (t *tree) copyEntry(name string, e fs.DirEntry) error {
	src, dst := filepath.Join(t.src, name), filepath.Join(t.dst, name)
	switch {
	case e.IsDir():
		return t.copyDir(name)
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(src)
		if err != nil {
			return t.unreadable(name, err)
		}
		return makeLink(t.link(target, name), dst)
	case e.Type().IsRegular():
		f, fi, err := openRegular(src)
		if err != nil {
			return t.unreadable(name, err)
		}
		defer f.Close()
		if t.salvage && !keepsHoles && fi.Size() > maxTotal {
			t.note("%s: left out: it has %d bytes, or says so", name, fi.Size())
			return nil
		}
		if err := writeFile(f, dst, fi.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(dst, fi.ModTime(), fi.ModTime())
	}
	t.note("%s: left out: it is neither a file, a folder nor a link", name)
	return nil
}

// unreadable is what to do about something that cannot be read.
func (t *tree) unreadable(name string, err error) error {
	if !t.salvage {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) { // else it went away meanwhile
		t.note("%s: left out: %v", name, err)
	}
	return nil
}

// makeDir makes a folder. A folder that is there is fine; a link in its place is not: what is copied would land elsewhere.
func makeDir(dst string) error {
	err := os.Mkdir(dst, 0o755)
	if errors.Is(err, fs.ErrExist) {
		if fi, lerr := os.Lstat(dst); lerr == nil && fi.IsDir() {
			return nil
		}
	}
	return err
}

// makeLink makes a symbolic link, in place of a file that is there.
func makeLink(target, dst string) error {
	if err := clear(dst); err != nil {
		return err
	}
	return os.Symlink(target, dst)
}

// writeFile makes a new file, in place of one that is there.
func writeFile(src io.Reader, dst string, mode fs.FileMode) error {
	if err := clear(dst); err != nil {
		return err
	}
	f, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return fillFile(f, src, mode)
}

// fillFile copies src to f, which is new, and closes it.
func fillFile(f *os.File, src io.Reader, mode fs.FileMode) error {
	var err error
	if from, ok := src.(*os.File); ok {
		err = copyHoles(f, from)
	} else {
		_, err = io.Copy(f, src)
	}
	if err == nil {
		err = f.Chmod(mode) // as asked, whatever the umask
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// copyHoles copies a file. Where the system says what in it is a hole, it is one in the copy: an agent can make a file of
// terabytes that takes no room.
func copyHoles(to, from *os.File) error {
	fi, err := from.Stat()
	if err != nil {
		return err
	}
	for at := int64(0); at < fi.Size(); {
		start, end, err := nextData(from, at, fi.Size())
		if err != nil { // nothing has been copied: this is no system or file to ask
			_, err = io.Copy(to, from)
			return err
		}
		if start < end {
			if _, err := from.Seek(start, io.SeekStart); err != nil {
				return err
			}
			if _, err := to.Seek(start, io.SeekStart); err != nil {
				return err
			}
			if _, err := io.CopyN(to, from, end-start); err != nil && !errors.Is(err, io.EOF) { // it may have become shorter
				return err
			}
		}
		at = max(end, at+1)
	}
	return to.Truncate(fi.Size())
}

// clear removes what is at path, if it is no folder, so that nothing is written through a link.
func clear(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return &fs.PathError{Op: "replace", Path: path, Err: errors.New("a folder is in the place of a file")}
	}
	return os.Remove(path)
}
