package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// Workspace is one agent's folders. Its methods may be called from several goroutines, but a snapshot of a tree that is
// being written is a snapshot of no moment.
type Workspace struct {
	root, work, home, temp string

	budget int64 // bytes that a snapshot reads

	mu    sync.Mutex
	self  os.FileInfo // of root, as it was made
	notes []string
}

const prefix = "evaltest-"

var sweepOnce sync.Once

// New makes a workspace with an empty work folder. The first call of a process also removes what dead processes have left:
// see [Sweep].
func New() (*Workspace, error) {
	base, err := base(os.TempDir(), cacheDir())
	if err != nil {
		return nil, fmt.Errorf("workspace: new: %w", err)
	}
	sweepOnce.Do(func() { Sweep() })
	return newIn(base)
}

func newIn(base string) (*Workspace, error) {
	root, err := os.MkdirTemp(base, prefix+strconv.Itoa(os.Getpid())+"-*") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("workspace: new: %w", err)
	}
	w, err := setUp(root)
	if err != nil {
		os.RemoveAll(root)
		return nil, fmt.Errorf("workspace: new: %w", err)
	}
	return w, nil
}

func setUp(root string) (*Workspace, error) {
	// The agent reports paths as the system resolves them: /private/tmp on macOS. Ours must be the same.
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	w := &Workspace{
		root: root,
		work: filepath.Join(root, "work"), home: filepath.Join(root, "home"), temp: filepath.Join(root, "tmp"),
		budget: maxTotal,
	}
	if err := w.furnish(); err != nil {
		return nil, err
	}
	return w, nil
}

// furnish fills the workspace's folder, which is new.
func (w *Workspace) furnish() error {
	if err := writeOwner(w.root); err != nil {
		return err
	}
	for _, d := range []string{w.work, w.home, w.temp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	return w.identify()
}

// Dir is where the agent works. All paths are absolute and free of symbolic links.
func (w *Workspace) Dir() string { return w.work }

// Home is the agent's HOME, empty at first.
func (w *Workspace) Home() string { return w.home }

// Temp is the agent's TMPDIR, empty at first.
func (w *Workspace) Temp() string { return w.temp }

// Notes are facts that are no errors: files that could not be copied, kept or read, one sentence each.
func (w *Workspace) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.notes)
}

func (w *Workspace) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// strays are names that change what an agent or its tools do in every folder below.
var strays = []string{
	"go.mod", "go.work", "package.json", ".git", ".hg", ".jj", ".svn", "CLAUDE.md", "AGENTS.md",
}

// cacheDir is where workspaces go when the folder for temporary files lies in a module or repository; "": nowhere.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "evaltest")
}

// base is the first of the folders that exists, or can be made, and has no stray above or in it.
func base(candidates ...string) (string, error) {
	var why []error
	for _, dir := range candidates {
		if dir == "" {
			continue
		}
		dir, err := usable(dir)
		if err == nil {
			return dir, nil
		}
		why = append(why, err)
	}
	return "", fmt.Errorf("no folder for workspaces: %w; set TMPDIR to a folder outside of any module and repository", errors.Join(why...))
}

func usable(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return dir, strayAbove(dir)
}

func strayAbove(dir string) error {
	for d := dir; ; {
		for _, name := range strays {
			if _, err := os.Lstat(filepath.Join(d, name)); err == nil {
				return fmt.Errorf("%s would be seen by an agent in %s", filepath.Join(d, name), dir)
			}
		}
		up := filepath.Dir(d)
		if up == d {
			return nil
		}
		d = up
	}
}
