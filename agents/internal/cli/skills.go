package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// StageSkills copies skills to below dir, each into a folder of its name, without its tests.
func StageSkills(dir string, skills []fs.FS) error {
	for _, skill := range skills {
		name, err := agents.SkillName(skill)
		if err != nil {
			return fmt.Errorf("stage skill: %w", err)
		}
		if name == "" || name != filepath.Base(name) || name == "." || name == ".." {
			return fmt.Errorf("stage skill: its name %q is no name of a folder", name)
		}
		to := filepath.Join(dir, name)
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("stage skill: a second one has the name %s", name)
		}
		if err := copyTree(skill, ".", to); err != nil {
			return fmt.Errorf("stage skill %s: %w", name, err)
		}
	}
	return nil
}

// isTest reports whether a skill's user would not have what lies at p: the answers must not be in reach.
func isTest(p string, dir bool) bool {
	if !dir {
		return strings.HasSuffix(p, "_test.go")
	}
	switch p {
	case "evals", "eval", "tests", "test", "testdata", ".git":
		return true
	}
	return false
}

// copyTree copies what is at from, links followed, without tests. Modes are kept; the owner can always write.
func copyTree(fsys fs.FS, from, to string) error {
	entries, err := fs.ReadDir(fsys, from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(from, e.Name())
		info, err := fs.Stat(fsys, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, e.Name())
		switch {
		case isTest(p, info.IsDir()):
		case info.IsDir():
			err = copyTree(fsys, p, target)
		case info.Mode().IsRegular():
			err = copyFile(fsys, p, target, info.Mode().Perm()|0o600)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(fsys fs.FS, from, to string, mode fs.FileMode) (err error) {
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Chmod(mode) // in spite of the umask
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
