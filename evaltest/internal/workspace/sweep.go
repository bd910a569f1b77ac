package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	ownerFile = "owner.json"
	keptFile  = "keep" // its presence: work that could not be moved to where it was to be kept
)

// What the dead leave is let lie for a day. Work of theirs is evidence of a trial that was paid for: that is let lie for a week.
const (
	emptyAfter = 24 * time.Hour
	workAfter  = 7 * 24 * time.Hour
)

// owner says which process made a workspace. Host and Namespace say where PID and Start mean something.
type owner struct {
	PID       int       `json:"pid"`
	Start     string    `json:"start,omitempty"` // when the process began, as the system counts; "": it cannot tell
	Namespace string    `json:"namespace,omitempty"`
	Host      string    `json:"host"`
	Created   time.Time `json:"created"` // of the workspace
}

func self() owner {
	o := owner{PID: os.Getpid(), Namespace: namespace(), Created: time.Now()}
	o.Start = startOf(o.PID)
	o.Host, _ = os.Hostname()
	return o
}

func writeOwner(root string) error {
	data, err := json.Marshal(self())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, ownerFile), append(data, '\n'), 0o644)
}

// dead reports whether the process is certainly gone.
func (o owner) dead(me owner) bool {
	if o.PID <= 0 || o.Host != me.Host || o.Namespace != me.Namespace {
		return false
	}
	if start := startOf(o.PID); start != "" && o.Start != "" {
		return start != o.Start // else another process has the number now
	}
	return !exists(o.PID)
}

// Sweep removes workspaces whose process is gone: a day after they were made, or a week where the agent's work is still in
// them. Those that hold work which could not be kept elsewhere, whose owner lives or cannot be told, or that are not ours
// to remove, stay. It returns how many it removed. It gives up after two seconds; the next one goes on.
func Sweep() int {
	n := 0
	for _, dir := range []string{os.TempDir(), cacheDir()} {
		if dir != "" {
			n += sweep(dir, time.Now(), 2*time.Second)
		}
	}
	return n
}

func sweep(dir string, now time.Time, patience time.Duration) (removed int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	me, begun := self(), time.Now()
	for _, e := range entries {
		if time.Since(begun) > patience {
			break
		}
		root := filepath.Join(dir, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) && stale(root, me, now) && removeTree(root) == nil {
			removed++
		}
	}
	return removed
}

func stale(root string, me owner, now time.Time) bool {
	data, err := os.ReadFile(filepath.Join(root, ownerFile))
	if err != nil {
		return false
	}
	var o owner
	if json.Unmarshal(data, &o) != nil || !strings.HasPrefix(filepath.Base(root), fmt.Sprintf("%s%d-", prefix, o.PID)) {
		return false
	}
	if _, err := os.Lstat(filepath.Join(root, keptFile)); !os.IsNotExist(err) {
		return false
	}
	after := workAfter
	if work, err := os.ReadDir(filepath.Join(root, "work")); os.IsNotExist(err) || err == nil && len(work) == 0 {
		after = emptyAfter
	}
	return now.Sub(o.Created) > after && o.dead(me)
}
