package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile makes the content of a file durable, and of its attributes only those that reading needs: its times are not
// worth a write of their own.
func syncFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var serr error
	if err := conn.Control(func(fd uintptr) {
		for {
			if serr = unix.Fdatasync(int(fd)); serr != unix.EINTR {
				return
			}
		}
	}); err != nil {
		return err
	}
	return os.NewSyscallError("fdatasync", serr)
}
