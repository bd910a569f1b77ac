//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// The go command that runs this test binary can be killed while the binary lives on (kill -9 of `go test` alone, a CI job that
// ends its shell's child). Nobody reads the result then, so its agents are ended.
//
// Whether this is such a binary is told by the flag -test.paniconexit0, which the go command passes and people do not. Then
// the nearest ancestor called "go" is the one to watch: not the parent, as -exec puts a wrapper between them. A binary started
// by hand has nobody to watch: the shell's end is no reason, as with nohup.

// watched are the running supervisors.
var watched struct {
	sync.Mutex
	live    map[*supervised]bool
	running bool
}

// goInterval bounds how long agents outlive the go command.
const goInterval = 200 * time.Millisecond

// theGo is found when the program starts: later the go command could be gone, and its place in the ancestry taken.
var theGo ancestor

func init() {
	if slices.Contains(os.Args, "-test.paniconexit0=true") || slices.Contains(os.Args, "-test.paniconexit0") {
		theGo = findGo()
	}
}

// goGone is an error when the go command is known and gone.
func goGone() error {
	if theGo.pid != 0 && !theGo.alive() {
		return errors.New("the go command that ran this test is gone")
	}
	return nil
}

// Abandoned is an error when the go command that ran this test binary is gone: then nobody reads the result, running commands
// are ended, and no other can be started. That a command ended is not its own fault then. It is nil on Windows, and in a
// binary that no go command ran.
func Abandoned() error {
	if err := goGone(); err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	return nil
}

func watchGo(s *supervised) {
	if theGo.pid == 0 {
		return
	}
	watched.Lock()
	defer watched.Unlock()
	if watched.live == nil {
		watched.live = map[*supervised]bool{}
	}
	watched.live[s] = true
	if !watched.running {
		watched.running = true
		go pollGo()
	}
}

func (s *supervised) forget() {
	watched.Lock()
	defer watched.Unlock()
	delete(watched.live, s)
}

func pollGo() {
	for range time.Tick(goInterval) {
		gone := !theGo.alive()
		watched.Lock()
		if len(watched.live) == 0 {
			watched.running = false
			watched.Unlock()
			return
		}
		if gone {
			for s := range watched.live {
				s.hangUp("the go command that ran this test is gone")
			}
		}
		watched.Unlock()
	}
}
