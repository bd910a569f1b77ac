package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// keepsHoles says that a copy of a file has its holes.
const keepsHoles = true

// nextData is the next stretch of f, from at, that is no hole; an empty one at the end if there is none. An error at 0 says that
// there is no telling; behind that there is none, but all that follows is taken for data.
func nextData(f *os.File, at, size int64) (start, end int64, err error) {
	start, err = f.Seek(at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size, nil
	}
	if err == nil {
		end, err = f.Seek(start, unix.SEEK_HOLE)
	}
	switch {
	case err == nil:
		return start, min(end, size), nil
	case at == 0:
		if _, err := f.Seek(0, 0); err != nil {
			return 0, 0, err
		}
		return 0, 0, err
	}
	return at, size, nil
}
