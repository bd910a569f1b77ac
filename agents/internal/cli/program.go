package claude

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

// PathVariable is the environment variable that says where the CLI is.
const PathVariable = "EVALTEST_CLAUDE"

// locate is the absolute path of the CLI.
func (a *agent) locate() (string, error) {
	name, from := a.path, "claude.Path"
	if name == "" {
		name, from = os.Getenv(PathVariable), PathVariable
	}
	if name == "" {
		name, from = "claude", "PATH"
	}
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		return path, nil
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return "", agents.Errorf(agents.Missing, agents.FromAgent,
			"claude: find %s (named by %s): %w; install it with `npm install -g @anthropic-ai/claude-code`, or say where it is with %s=/path/to/claude",
			name, from, err, PathVariable)
	}
	return "", agents.Errorf(agents.SetupError, agents.FromHarness, "claude: find %s (named by %s): %w", name, from, err)
}

// installed is the version of the CLI, read from how it was installed: npm puts a package.json above it, the native
// installer names the file after the version. It is "" where neither is so: asking the CLI would start it.
func (a *agent) installed() string {
	path, err := a.locate()
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	if name := filepath.Base(path); versionName.MatchString(name) {
		return name
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		var manifest struct{ Name, Version string }
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err == nil && json.Unmarshal(data, &manifest) == nil && manifest.Name == packageName {
			return manifest.Version
		}
	}
	return ""
}

const packageName = "@anthropic-ai/claude-code"

var versionName = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
