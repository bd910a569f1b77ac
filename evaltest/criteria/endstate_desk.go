package criteria

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evaltest-go/evaltest/agents"
)

// A desk is where a command has its folders outside the workspace: HOME, TMPDIR, and the copy of the workspace.
type desk struct{ root, home, temp string }

func newDesk() (*desk, error) {
	root, err := os.MkdirTemp("", "evaltest-command-")
	d := &desk{root, filepath.Join(root, "home"), filepath.Join(root, "tmp")}
	for _, dir := range []string{d.home, d.temp} {
		if err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil {
		return nil, agents.Errorf(agents.Harness, agents.FromHarness, "criteria: make folders for a command: %w", err)
	}
	return d, nil
}

// remove removes the folders, those too that were made read-only (as Go's module cache is).
func (d *desk) remove() error {
	err := os.RemoveAll(d.root)
	if err == nil {
		return nil
	}
	// What cannot be opened up, the second attempt reports.
	_ = filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(d.root); err != nil {
		return agents.Errorf(agents.Harness, agents.FromHarness, "criteria: remove folders of a command: %w", err)
	}
	return nil
}
