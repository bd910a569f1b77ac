//go:build unix

package owner

import (
	"errors"
	"syscall"
)

// exists reports whether there is a process of that number.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
