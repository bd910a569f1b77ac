//go:build unix

package proc

import (
	"os"
	"strings"
)

func hasSeparator(name string) bool { return strings.Contains(name, "/") }

func executable(path string, _ []string) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}
