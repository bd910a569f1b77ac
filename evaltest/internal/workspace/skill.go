package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const skillFile = "SKILL.md"

// Withheld are the patterns, of doublestar and without regard to case, of what a staged skill does not have: its evals and tests,
// in which the answers are. Most are meant for the skill's top folder alone, since deeper down a user's skill may well have
// a test as an example or a folder of test scripts that its instructions name.
var Withheld = []string{
	"**/evals", "eval", "tests", "test", "testdata", "__tests__",
	"*_test.*", "test_*.*", "*.test.*", "*.spec.*", "conftest.py",
	"eval.{json,yaml,yml,toml,jsonl}", "evals.{json,yaml,yml,toml,jsonl,md}",
	"**/.git", "**/.evaltest",
}

func withheld(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(Withheld, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, name) })
}

// ListSkills finds the skills in dir: dir itself when it has a SKILL.md, else each folder in it that has one, by name. The
// paths begin with dir. None is an error.
func ListSkills(dir string) ([]string, error) {
	if hasSkill(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: find skills: %w; name a folder with a %s, or a folder of such folders", err, skillFile)
	}
	var skills []string
	for _, e := range entries {
		if sub := filepath.Join(dir, e.Name()); hasSkill(sub) { // a link to a folder counts
			skills = append(skills, sub)
		}
	}
	if len(skills) > 0 {
		return skills, nil
	}
	looked := fmt.Sprintf("neither %s nor %s", filepath.Join(dir, skillFile), filepath.Join(dir, "*", skillFile))
	hint := ""
	if deeper, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*", "*", skillFile)); len(deeper) > 0 {
		hint = fmt.Sprintf("; do you mean %s?", filepath.Dir(filepath.Dir(deeper[0])))
	}
	return nil, fmt.Errorf("workspace: find skills: there is %s%s", looked, hint)
}

func hasSkill(dir string) bool {
	fi, err := os.Stat(filepath.Join(dir, skillFile))
	return err == nil && fi.Mode().IsRegular()
}

// escapeGlob makes filepath.Glob take dir as it stands.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir // there is no escape on Windows; the hint is then missing, no more
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// StageSkill is the skill in dir as its user would have it: all of the folder but what is [Withheld]. Links are followed, as an
// installer does, and are then files and folders; one that leads to something withheld is withheld too. A loop of links, one
// that leads nowhere, and what is neither file nor folder are errors. The names are taken now, the content when it is read.
func StageSkill(dir string) (fs.FS, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: stage skill: %w", err)
	}
	if !hasSkill(root) {
		return nil, fmt.Errorf("workspace: stage skill: there is no %s", filepath.Join(dir, skillFile))
	}
	s := stage{root: root}
	top, err := s.folder(root, "", nil)
	if err != nil {
		return nil, fmt.Errorf("workspace: stage skill %s: %w", dir, err)
	}
	return staged{top}, nil
}

// stage walks a skill's folder.
type stage struct{ root string }

// folder is the node of the folder at path, called name in the skill. above are the real folders that it lies in.
func (s *stage) folder(path, name string, above []string) (*node, error) {
	if slices.Contains(above, path) {
		return nil, fmt.Errorf("the link %s leads to a folder that it lies in", name)
	}
	above = append(slices.Clip(above), path)
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	n := &node{path: path, info: fi, children: map[string]*node{}}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		child := e.Name()
		if name != "" {
			child = name + "/" + child
		}
		sub, err := s.entry(filepath.Join(path, e.Name()), child, e, above)
		if err != nil {
			return nil, err
		}
		if sub != nil {
			n.children[e.Name()] = sub
		}
	}
	return n, nil
}

// entry is the node of what is at path; nil when it is withheld.
func (s *stage) entry(path, name string, e fs.DirEntry, above []string) (*node, error) {
	if withheld(name) {
		return nil, nil
	}
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("%q is no valid UTF-8: rename it", name)
	}
	if e.Type()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, fmt.Errorf("the link %s: %w", name, err)
		}
		if in, ok := within(s.root, real); ok && s.hidden(filepath.ToSlash(in)) {
			return nil, nil
		}
		path = real
	}
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir():
		return s.folder(path, name, above)
	case fi.Mode().IsRegular():
		return &node{path: path, info: fi}, nil
	}
	return nil, fmt.Errorf("%s is neither a file nor a folder", name)
}

// hidden reports whether name, or a folder that it lies in, is withheld.
func (s *stage) hidden(name string) bool {
	for i, r := range name {
		if r == '/' && withheld(name[:i]) {
			return true
		}
	}
	return withheld(name)
}
