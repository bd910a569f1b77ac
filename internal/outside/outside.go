// Package outside makes modules as authors have them, for tests that run the go command and its like in one: each requires
// this very tree, and is built offline from what already served it.
//
//	err := outside.Module(dir, "example.com/m")
//	environ, err := outside.Env()
//	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
package outside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const self = "github.com/evaltest-go/evaltest"

// Root is the folder of this module, for a test that runs in one of its packages.
func Root() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module "+self+"\n") {
			return dir, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("outside: there is no go.mod of %s above %s", self, wd)
		}
	}
}

// Module begins the module with this path in dir, which is made if need be: its go.mod and go.sum.
func Module(dir, path string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	requires := regexp.MustCompile(`(?s)\nrequire \(.*?\n\)`).FindAllString(string(mod), -1)
	text := fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s v0.0.0\n\nreplace %s => %s\n%s\n",
		path, self, self, root, strings.Join(requires, "\n"))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
}

// Env is the environment that the go command needs in such a module, beside that of the test: what is built and downloaded
// already serves it.
func Env() ([]string, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("outside: go env: %w", err)
	}
	caches := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []string{
		"GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1],
		"GOPROXY=off", "GOFLAGS=-mod=mod -buildvcs=false", "GONOSUMDB=*", "GOTOOLCHAIN=local",
	}, nil
}
