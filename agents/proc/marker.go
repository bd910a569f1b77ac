//go:build unix

package proc

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync"
)

// The value of a marker: OWNER.START.NAMESPACE.RANDOM, where OWNER is the pid of the process that called Start, START when
// it started, NAMESPACE its PID namespace. OWNER and START together name a process for good; in another
// namespace they say nothing.
func newMarker() string { return ownMarker() + "." + rand.Text()[:12] }

var ownMarker = sync.OnceValue(func() string {
	pid := os.Getpid()
	return strings.Join([]string{strconv.Itoa(pid), startTime(pid), pidNamespace()}, ".")
})

// ownerless reports whether the owner that a marker names is of our namespace and is certainly gone.
func ownerless(marker string) bool {
	f := strings.Split(marker, ".")
	if len(f) != 4 || f[2] != pidNamespace() || f[1] == "" {
		return false
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil || pid <= 0 {
		return false
	}
	return startTime(pid) != f[1]
}

// Sweep ends what dead owners have left behind: processes of our user that carry a [Marker] whose owner no longer lives,
// and their descendants. There should be none; it takes the death of the owner and of every supervisor at one stroke. Processes
// of a living owner are never touched, nor those whose owner cannot be told. Elsewhere than on Linux and macOS it does nothing.
func Sweep() { endMarked(ownerless) }
