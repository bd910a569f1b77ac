package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/evaltest-go/evaltest/agents"
)

// A Program is the program of an agent, as npm installs it.
type Program struct {
	Name     string // of the adapter, and of the command
	Variable string // of the environment: where the program is
	Package  string // npm's
}

// Locate is the absolute path of the program: path where the adapter was given one, else what the environment says, else the command
// in PATH. An error of kind "missing" says how to install it.
func (p Program) Locate(path string) (string, error) {
	name, from := path, p.Name+".Path"
	if name == "" {
		name, from = os.Getenv(p.Variable), p.Variable
	}
	if name == "" {
		name, from = p.Name, "PATH"
	}
	found, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		found, err = filepath.Abs(found)
	}
	if err == nil {
		return found, nil
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return "", agents.Errorf(agents.Missing, agents.FromAgent,
			"%s: find %s (named by %s): %w; install it with `npm install -g %s`, or say where it is with %s=/path/to/%[1]s",
			p.Name, name, from, err, p.Package, p.Variable)
	}
	return "", agents.Errorf(agents.SetupError, agents.FromHarness, "%s: find %s (named by %s): %w", p.Name, name, from, err)
}

// Version is the version of the program, read from how it was installed: npm puts a package.json above it, and some installers name
// the file after the version. It is "" where neither is so: asking the program would start it.
func (p Program) Version(path string) string {
	path, err := p.Locate(path)
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	if name := filepath.Base(path); versionName.MatchString(name) {
		return name
	}
	for dir, n := filepath.Dir(path), 0; n < 2; dir, n = filepath.Dir(dir), n+1 {
		var manifest struct{ Name, Version string }
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err == nil && json.Unmarshal(data, &manifest) == nil && manifest.Name == p.Package {
			return manifest.Version
		}
	}
	return ""
}

var versionName = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
