//go:build !linux

package workspace

import (
	"errors"
	"os"
)

const keepsHoles = false

func nextData(*os.File, int64, int64) (start, end int64, err error) {
	return 0, 0, errors.ErrUnsupported
}
