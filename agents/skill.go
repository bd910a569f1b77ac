package agents

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
)

// SkillName is the name of the skill in fsys: the field "name" of the front matter of its SKILL.md.
func SkillName(fsys fs.FS) (string, error) {
	data, err := fs.ReadFile(fsys, "SKILL.md")
	if err != nil {
		return "", fmt.Errorf("agents: read skill: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	if !lines.Scan() || strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) != "---" {
		return "", fmt.Errorf("agents: read skill: SKILL.md has no front matter; begin it with lines ---, name: …, description: …, ---")
	}
	name, found := "", false
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "---" {
			switch {
			case !found:
				return "", fmt.Errorf("agents: read skill: the front matter of SKILL.md has no name")
			case !folderName(name):
				return "", fmt.Errorf("agents: read skill: SKILL.md has the name %q, which is no name of a folder", name)
			}
			return name, nil
		}
		if v, ok := strings.CutPrefix(lines.Text(), "name:"); ok && !found {
			name, found = scalar(v), true
		}
	}
	return "", fmt.Errorf("agents: read skill: the front matter of SKILL.md does not end; add a line ---")
}

// scalar is a YAML scalar on one line, without its quotes or the comment after it.
func scalar(v string) string {
	v = strings.TrimSpace(v)
	for _, q := range []string{`"`, `'`} {
		if rest, ok := strings.CutPrefix(v, q); ok {
			v, _, _ = strings.Cut(rest, q)
			return v
		}
	}
	if i := strings.Index(v, " #"); i >= 0 {
		v = v[:i]
	}
	return strings.TrimSpace(v)
}

func folderName(name string) bool {
	return name != "" && name != "." && fs.ValidPath(name) && !strings.ContainsAny(name, `/\`)
}
