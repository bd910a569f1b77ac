//go:build unix

package workspace

import (
	"os"
	"syscall"
)

// Between the look at a name and its opening an agent's leftover can put a pipe or a link in its place: neither may block us
// or lead us out.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW
