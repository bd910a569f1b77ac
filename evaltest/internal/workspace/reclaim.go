package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Reclaim makes the work folder a real folder that can be read, whatever the agent has made of it: call it when the agent is
// gone, before anything looks at the folder. A folder without permissions gets its owner's back. Where the agent put
// something else in the folder's place, or nothing, what it left is an empty folder, and a note says so: a link there would
// have leftovers of others taken for the agent's work.
func (w *Workspace) Reclaim() error {
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
	if err != nil {
		return fmt.Errorf("workspace: reclaim: %w", err)
	}
	return nil
}
