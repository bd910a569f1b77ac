package agents_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

func TestSkillName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, want, err string }{
		{"plain", "---\nname: pdf\ndescription: x\n---\n", "pdf", ""},
		{"later field", "---\ndescription: name it\nname: pdf-tools_2.0\n---\n", "pdf-tools_2.0", ""},
		{"double quotes", "---\nname: \"pdf\"\n---\n", "pdf", ""},
		{"single quotes", "---\nname: 'pdf'\n---\n", "pdf", ""},
		{"carriage returns", "---\r\nname: pdf\r\n---\r\n", "pdf", ""},
		{"byte order mark", "\ufeff---\nname: pdf\n---\n", "pdf", ""},
		{"a field of another one", "---\nmetadata:\n  name: wrong\nname: right\n---\n", "right", ""},
		{"a comment", "---\nname: pdf # for reports\n---\n", "pdf", ""},
		{"no front matter", "# PDF\nname: pdf\n", "", "no front matter"},
		{"empty file", "", "", "no front matter"},
		{"name in the text only", "---\ndescription: x\n---\nname: pdf\n", "", "has no name"},
		{"front matter without an end", "---\nname: pdf\n", "", "does not end"},
		{"no name", "---\nname:\n---\n", "", "no name of a folder"},
		{"a path", "---\nname: a/b\n---\n", "", "no name of a folder"},
		{"a path of Windows", "---\nname: a\\b\n---\n", "", "no name of a folder"},
		{"the folder itself", "---\nname: .\n---\n", "", "no name of a folder"},
		{"the folder above", "---\nname: ..\n---\n", "", "no name of a folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := agents.SkillName(fstest.MapFS{"SKILL.md": {Data: []byte(c.file)}})
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.err)
			}
			assert.Equal(t, c.want, got)
		})
	}
	_, err := agents.SkillName(fstest.MapFS{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
