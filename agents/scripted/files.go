package scripted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents/inprocess"
)

// within is p relative to the workspace, with slashes, and whether it lies inside, links aside: the root sees to those.
func (s *session) within(p string) (string, bool) {
	native := filepath.FromSlash(p)
	if !filepath.IsAbs(native) {
		rel := filepath.Clean(native)
		return filepath.ToSlash(rel), filepath.IsLocal(rel)
	}
	dirs := []string{s.setup.Dir}
	if real, err := filepath.EvalSymlinks(s.setup.Dir); err == nil {
		dirs = append(dirs, real)
	}
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, native); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return p, false
}

// shown is p as a call names it: relative to the workspace when inside, else absolute.
func (s *session) shown(p string) string {
	rel, inside := s.within(p)
	switch {
	case inside:
		return rel
	case filepath.IsAbs(filepath.FromSlash(p)):
		return path.Clean(p)
	}
	return filepath.ToSlash(filepath.Join(s.setup.Dir, filepath.FromSlash(p)))
}

func (s *session) local(p string) (string, error) {
	rel, inside := s.within(p)
	if p == "" || !inside {
		return "", fmt.Errorf("%q is outside of the workspace", p)
	}
	return filepath.FromSlash(rel), nil
}

func (s *session) read(p string) (string, error) {
	name, err := s.local(p)
	if err != nil {
		return "", err
	}
	info, err := s.root.Stat(name) // before opening: that of a named pipe waits for a writer
	if err != nil {
		return "", plain(err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", p)
	}
	f, err := s.root.Open(name)
	if err != nil {
		return "", plain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	if err != nil {
		return "", plain(err)
	}
	return bounded(string(data), max(info.Size(), int64(len(data)))), nil
}

func (s *session) write(p, text string) (string, error) {
	name, err := s.local(p)
	if err != nil {
		return "", err
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return "", plain(err)
		}
	}
	if err := s.root.WriteFile(name, []byte(text), 0o644); err != nil {
		return "", plain(err)
	}
	return fmt.Sprintf("wrote %d bytes to %s", len(text), s.shown(p)), nil
}

// skill is the text of a skill that the agent was given.
func (s *session) skill(name string) (string, error) {
	fsys, ok := s.skills[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(s.skills)), ", ")
		if known == "" {
			known = "none"
		}
		return "", fmt.Errorf("%w: no skill named %s (known: %s)", inprocess.ErrNotRun, name, known)
	}
	text, err := fs.ReadFile(fsys, "SKILL.md")
	return string(text), err
}

// plain drops the system call from err, which is an os.PathError.
func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", filepath.ToSlash(pe.Path), pe.Err)
	}
	return err
}
