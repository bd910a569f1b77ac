package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
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

// owned says which process made a workspace, and when.
type owned struct {
	owner.Owner
	Created time.Time `json:"created"`
}

func writeOwner(root string) error {
	data, err := json.Marshal(owned{owner.Self(), time.Now()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, ownerFile), append(data, '\n'), 0o644)
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
	begun := time.Now()
	for _, e := range entries {
		if time.Since(begun) > patience {
			break
		}
		root := filepath.Join(dir, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) && stale(root, now) && removeTree(root) == nil {
			removed++
		}
	}
	return removed
}

func stale(root string, now time.Time) bool {
	data, err := os.ReadFile(filepath.Join(root, ownerFile))
	if err != nil {
		return false
	}
	var o owned
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
	return now.Sub(o.Created) > after && o.Dead()
}
