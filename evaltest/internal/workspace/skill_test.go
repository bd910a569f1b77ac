package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

const skillText = "---\nname: pdf\ndescription: reads PDF files\n---\n"

func skill(tb testing.TB, dir string, names ...string) string {
	tb.Helper()
	write(tb, dir, "SKILL.md", skillText)
	for _, n := range names {
		write(tb, dir, n, "content of "+n)
	}
	return dir
}

func files(tb testing.TB, fsys fs.FS) (names []string) {
	tb.Helper()
	require.NoError(tb, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func TestStagedSkillHasNoAnswers(t *testing.T) {
	t.Parallel()
	kept := []string{
		"SKILL.md", "assets/example_test.go", "reference/evaluation.md", "reference/tests/how-to.md", "scripts/extract.py", "testing.md",
	}
	dir := skill(t, t.TempDir(), append([]string{
		"evals/evals.json", "Evals/case.md", "scripts/evals/deep.md", "eval/x", "tests/t.py", "test/t", "testdata/golden.csv",
		"__tests__/a.js", "pdf_test.go", "test_pdf.py", "pdf.test.ts", "pdf.spec.js", "conftest.py", "evals.json", "eval.yaml",
		".git/HEAD", ".evaltest/run/x",
	}, kept[1:]...)...)
	fsys, err := StageSkill(dir)
	require.NoError(t, err)
	assert.Equal(t, kept, files(t, fsys))
	require.NoError(t, fstest.TestFS(fsys, kept...))
	name, err := agents.SkillName(fsys)
	require.NoError(t, err)
	assert.Equal(t, "pdf", name)
	for _, hidden := range []string{"evals/evals.json", "evals", "../x", "/etc/passwd", "SKILL.md/x"} {
		_, err := fsys.Open(hidden)
		assert.Error(t, err, hidden)
	}
}

func TestStagedSkillFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, shared := skill(t, t.TempDir(), "evals/answer.md"), t.TempDir()
	write(t, shared, "docs/style.md", "style")
	write(t, shared, "docs/evals/secret.md", "secret")
	symlink(t, filepath.Join(shared, "docs"), filepath.Join(dir, "docs"))
	symlink(t, filepath.Join(shared, "docs", "style.md"), filepath.Join(dir, "guide.md"))
	symlink(t, filepath.Join("evals", "answer.md"), filepath.Join(dir, "hint.md"))
	symlink(t, "evals", filepath.Join(dir, "more"))
	fsys, err := StageSkill(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"SKILL.md", "docs/style.md", "guide.md"}, files(t, fsys))
	require.NoError(t, fstest.TestFS(fsys, "SKILL.md", "docs/style.md", "guide.md"))
	w := fresh(t)
	require.NoError(t, w.CopyFS(fsys))
	assert.Equal(t, "style", content(t, w.Dir(), "guide.md"))
}

func TestSkillThatCannotBeStaged(t *testing.T) {
	t.Parallel()
	_, err := StageSkill(t.TempDir())
	assert.ErrorContains(t, err, "there is no ")
	_, err = StageSkill(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	loop := skill(t, t.TempDir(), "a/b/c")
	symlink(t, "..", filepath.Join(loop, "a", "up"))
	_, err = StageSkill(loop)
	assert.ErrorContains(t, err, "the link a/up leads to a folder that it lies in")
	for name, target := range map[string]string{"loop": ".", "self": "self", "dangling": "nowhere"} {
		dir := skill(t, t.TempDir())
		symlink(t, target, filepath.Join(dir, name))
		_, err := StageSkill(dir)
		assert.ErrorContains(t, err, "the link "+name, name)
	}
}

func TestListSkills(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "[repo]*")
	dir := filepath.Join(top, "skills")
	a, b := skill(t, filepath.Join(dir, "a")), skill(t, filepath.Join(dir, "b"))
	write(t, dir, "README.md", "")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "none", "SKILL.md"), 0o755))

	got, err := ListSkills(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{a, b}, got)
	got, err = ListSkills(a)
	require.NoError(t, err)
	assert.Equal(t, []string{a}, got)

	_, err = ListSkills(top)
	assert.ErrorContains(t, err, "workspace: find skills: there is neither "+filepath.Join(top, "SKILL.md")+" nor "+filepath.Join(top, "*", "SKILL.md"))
	if filepath.Separator == '/' {
		assert.ErrorContains(t, err, "do you mean "+dir+"?")
	}
	_, err = ListSkills(filepath.Join(dir, "absent"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = ListSkills(filepath.Join(dir, "README.md"))
	assert.ErrorContains(t, err, "name a folder")
}
