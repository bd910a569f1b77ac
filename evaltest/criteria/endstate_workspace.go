package criteria

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// What an agent left is untrusted: links that lead out of the workspace, pipes that nobody writes to, files without end.
// A workspace is the one way to read it: through os.Root, after a look at what kind of file it is, and within bounds. What
// the agent left that cannot be read is told in words, for a score; an error is that we could not read it.
type workspace struct {
	root *os.Root
	// escapes is os.Root's error for a path that leads out of it; the package does not export it.
	escapes error
}

// Bounds of what is read. Only a workspace that was made to be too large meets them.
const (
	maxRead  = 64 << 20  // bytes of a file that is held in memory
	maxScan  = 256 << 20 // bytes of a file that is searched
	maxFiles = 1 << 20   // entries that a pattern is held against
	maxDepth = 256       // folders in each other
)

// openWorkspace opens the trial's workspace. That it is gone is an error: nothing can be said of what it held.
func openWorkspace(trial *evaltest.Trial) (*workspace, error) {
	if trial.Dir == "" {
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "criteria: open workspace: the trial has none")
	}
	root, err := os.OpenRoot(trial.Dir)
	if err != nil {
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "criteria: open workspace: %w", err)
	}
	_, escapes := root.Stat("..")
	var pathError *fs.PathError
	if errors.As(escapes, &pathError) {
		escapes = pathError.Err
	}
	return &workspace{root, escapes}, nil
}

func (w *workspace) close() { w.root.Close() }

// unreadable are the words for what the agent left without permission to read it.
const unreadable = "may not be read (permission denied)"

// words says what the agent did that name cannot be read for; "" for an error that is not the agent's doing.
func (w *workspace) words(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		if target, err := w.root.Readlink(name); err == nil {
			return fmt.Sprintf("is a link to %s, which is not there", clipLine(target, 60))
		}
		return "does not exist"
	case w.escapes != nil && errors.Is(err, w.escapes):
		return "is a link that leads out of the workspace"
	case errors.Is(err, syscall.ELOOP):
		return "is a link that leads back to itself"
	case errors.Is(err, fs.ErrPermission):
		return unreadable
	}
	return ""
}

// fault is the error of reading name that is not the agent's doing.
func fault(name string, err error) error {
	return agents.Errorf(agents.Harness, agents.FromHarness, "criteria: read %s in the workspace: %w", name, err)
}

// tooMuch is the error of what is beyond a bound of ours.
func tooMuch(format string, args ...any) error {
	return agents.Errorf(agents.Judge, agents.FromGrader, "criteria: "+format, args...)
}

// An entry is what a path of the workspace leads to.
type entry struct {
	path string
	info fs.FileInfo // links followed; nil when there is nothing that can be read
	why  string      // info is nil: what is there instead, "does not exist" if nothing
}

// tooLarge reports whether it is a file of more than maxRead bytes: no need to read so much to know.
func (e entry) tooLarge() bool {
	return e.info != nil && e.info.Mode().IsRegular() && e.info.Size() > maxRead
}

func (e entry) isFolder() bool { return e.info != nil && e.info.IsDir() }

// look says what name leads to.
func (w *workspace) look(name string) (entry, error) {
	info, err := w.root.Stat(name)
	if err == nil {
		return entry{path: name, info: info}, nil
	}
	if why := w.words(name, err); why != "" {
		return entry{path: name, why: why}, nil
	}
	return entry{}, fault(name, err)
}

// notRegular says why what is there is no file to read; "" if it is one.
func (e entry) notRegular() string {
	switch {
	case e.info == nil:
		return e.why
	case e.info.Mode().IsRegular():
		return ""
	case e.info.IsDir():
		return "is a folder"
	case e.info.Mode()&fs.ModeNamedPipe != 0:
		return "is a named pipe, not a file"
	case e.info.Mode()&fs.ModeSocket != 0:
		return "is a socket, not a file"
	}
	return "is a device, not a file"
}

// open opens a regular file; why is not "" when what the agent left is none that can be read. Nothing else is opened: to
// open a named pipe waits for its writer.
func (w *workspace) open(e entry) (f *os.File, why string, err error) {
	if why := e.notRegular(); why != "" {
		return nil, why, nil
	}
	if f, err = w.root.Open(e.path); err != nil {
		if why := w.words(e.path, err); why != "" {
			return nil, why, nil
		}
		return nil, "", fault(e.path, err)
	}
	return f, "", nil
}

// read reads a regular file, of limit bytes at most; whole is whether that is all of it.
func (w *workspace) read(ctx context.Context, e entry, limit int64) (data []byte, whole bool, why string, err error) {
	f, why, err := w.open(e)
	if err != nil || why != "" {
		return nil, false, why, err
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(int(min(e.info.Size(), limit)) + bytes.MinRead)
	n, err := io.Copy(&b, io.LimitReader(&reader{ctx, f}, limit+1))
	if stop := ctxEnded(ctx, "read "+e.path); stop != nil {
		return nil, false, "", stop
	} else if err != nil {
		return nil, false, "", fault(e.path, err)
	}
	return b.Bytes()[:min(n, limit)], n <= limit, "", nil
}

// reader ends with its ctx.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// errEnough ends a walk early, without an error.
var errEnough = errors.New("enough")

// walk calls visit for everything below folder, in order of the paths' elements, folders before what they hold. Links are
// reported, as what they lead to, and not followed. A folder that may not be read is reported once more, as that.
func (w *workspace) walk(ctx context.Context, folder string, visit func(entry) error) error {
	fsys, left := w.root.FS(), maxFiles
	var list func(dir string, depth int) error
	list = func(dir string, depth int) error {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			if why := w.words(dir, err); why != "" {
				return visit(entry{path: dir, why: why})
			}
			return fault(dir, err)
		}
		for _, d := range entries {
			if err := ctxEnded(ctx, "search the workspace"); err != nil {
				return err
			}
			if left--; left < 0 {
				return tooMuch("search the workspace: it holds more than %d files", maxFiles)
			}
			e, err := w.look(path.Join(dir, d.Name()))
			if err != nil {
				return err
			}
			if err := visit(e); errors.Is(err, fs.SkipDir) {
				continue
			} else if err != nil {
				return err
			}
			if d.IsDir() {
				if depth == maxDepth {
					return tooMuch("search the workspace: more than %d folders in each other", maxDepth)
				}
				if err := list(e.path, depth+1); err != nil && !errors.Is(err, fs.SkipDir) {
					return err
				}
			}
		}
		return nil
	}
	if err := list(folder, 0); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// find returns what the glob names, and in odd what has such a name and cannot be read, in words. Wildcards do not go through
// links to folders.
func (w *workspace) find(ctx context.Context, g glob) (found []entry, odd []string, err error) {
	add := func(e entry) {
		switch {
		case e.info != nil && g.match(e.path, e.isFolder()):
			found = append(found, e)
		case e.info == nil && (g.literal == "" && e.why == unreadable || g.match(e.path, false) || g.match(e.path, true)):
			odd = append(odd, e.path+" "+e.why)
		case g.folder && g.match(e.path, true):
			odd = append(odd, e.path+" is a file, not a folder")
		}
	}
	if g.literal != "" {
		e, err := w.look(g.literal)
		if err == nil && (e.info != nil || e.why != "does not exist") {
			add(e)
		}
		return found, odd, err
	}
	if base, err := w.look(g.base()); err != nil || !base.isFolder() {
		return nil, nil, err
	}
	err = w.walk(ctx, g.base(), func(e entry) error {
		add(e)
		return nil
	})
	return found, odd, err
}
