package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Command describes a program to run under supervision.
type Command struct {
	// Path is the program. Without a slash it is looked up in the PATH of Env; with one, and not absolute, it is
	// relative to Dir.
	Path string
	// Args are the arguments, without the program's own name.
	Args []string
	// Dir is the working directory; "" is the current one.
	Dir string
	// Env is the whole environment, KEY=VALUE; nothing is inherited. See [Environ]. The supervisor adds [Marker].
	Env []string
	// Stderr receives what the command and its descendants write to standard error; nil discards it. It is written
	// from one goroutine at a time. After an error of Stderr the rest is discarded, so that the command does not stall.
	Stderr io.Writer
	// NoNamespace keeps the command out of a PID namespace even where the system allows one. The variable
	// EVALTEST_NAMESPACE=off says the same for every command. For tests, and for programs that cannot live in one.
	NoNamespace bool
}

// ExitStatus says how a command ended. The zero value is an exit with code 0.
type ExitStatus struct {
	// Code is the exit code, or -1 when the command did not exit by itself.
	Code int
	// Signal ended the command; 0 if none did. SIGKILL when Close did.
	Signal syscall.Signal
	// Lost says why the true status is not known; "" when it is. Code is -1 then.
	Lost string
}

// Success reports whether the command exited by itself with code 0.
func (s ExitStatus) Success() bool { return s == ExitStatus{} }

// String is "exit status 3", "signal: killed", or why the status is not known.
func (s ExitStatus) String() string {
	switch {
	case s.Lost != "":
		return "unknown: " + s.Lost
	case s.Signal != 0:
		return "signal: " + s.Signal.String()
	}
	return "exit status " + strconv.Itoa(s.Code)
}

// check resolves the program and the folder, and finds the mistakes that can be told before anything is started.
func (c Command) check() (path, dir string, err error) {
	if c.Path == "" {
		return "", "", errors.New("proc: start command: no program given: set Command.Path")
	}
	for _, s := range append(append([]string{c.Path, c.Dir}, c.Args...), c.Env...) {
		if strings.ContainsRune(s, 0) {
			return "", "", fmt.Errorf("proc: start %s: an argument or variable contains a NUL byte", c.Path)
		}
	}
	if c.Dir != "" {
		switch info, err := os.Stat(c.Dir); {
		case err != nil:
			return "", "", fmt.Errorf("proc: start %s: working directory: %w", c.Path, err)
		case !info.IsDir():
			return "", "", fmt.Errorf("proc: start %s: working directory: %w", c.Path,
				&fs.PathError{Op: "chdir", Path: c.Dir, Err: syscall.ENOTDIR})
		}
	}
	if dir, err = filepath.Abs(c.Dir); err != nil { // "" is the current one
		return "", "", fmt.Errorf("proc: start %s: working directory: %w", c.Path, err)
	}
	path, err = lookPath(c.Path, c.Env)
	if err != nil {
		return "", "", fmt.Errorf("proc: start command: %w", err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, dir, nil
}

// notFound is exec.ErrNotFound and fs.ErrNotExist at once: callers ask for either.
var notFound = fmt.Errorf("%w of the command's environment (%w)", exec.ErrNotFound, fs.ErrNotExist)

// lookPath is exec.LookPath over the PATH of env instead of our own. Relative and empty elements of PATH are passed over:
// a program in the workspace must not stand in for the agent.
func lookPath(name string, env []string) (string, error) {
	if hasSeparator(name) {
		return name, nil
	}
	path, _ := lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, ok := executable(filepath.Join(dir, name), env); ok {
			return found, nil
		}
	}
	return "", &exec.Error{Name: name, Err: notFound}
}

// lookup returns the last value of key in env, which is the one that counts.
func lookup(env []string, key string) (value string, ok bool) {
	for _, kv := range env {
		if k, v, found := strings.Cut(kv, "="); found && sameKey(k, key) {
			value, ok = v, true
		}
	}
	return value, ok
}

// Marker is the variable that supervised commands carry: who owns them. [Sweep] finds leftovers by it.
const Marker = "EVALTEST_SUPERVISED"

// marked is env with the marker set to value, and without any other marker.
func marked(env []string, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, Marker+"=") {
			out = append(out, kv)
		}
	}
	return append(out, Marker+"="+value)
}
