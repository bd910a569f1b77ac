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
	for lines.Scan() && strings.TrimSpace(lines.Text()) != "---" {
		if v, ok := strings.CutPrefix(lines.Text(), "name:"); ok {
			if name := strings.Trim(strings.TrimSpace(v), `"'`); name != "" && fs.ValidPath(name) && !strings.Contains(name, "/") {
				return name, nil
			}
			return "", fmt.Errorf("agents: read skill: SKILL.md has the name %q, which is no name of a folder", strings.TrimSpace(v))
		}
	}
	return "", fmt.Errorf("agents: read skill: the front matter of SKILL.md has no name")
}
