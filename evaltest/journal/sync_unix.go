//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes the names in a folder durable. File systems that cannot do that say EINVAL or ENOTSUP: there is nothing more to be done.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
