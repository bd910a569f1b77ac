package scripted_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

// one carries out one step and returns its call and output.
func one(t testing.TB, setup agents.Setup, step script.Step) (agents.Call, string) {
	t.Helper()
	tr, err := play(t.Context(), t, open(t, scripted.New(step), setup), nil)
	require.NoError(t, err)
	return call(t, tr, "call_1"), tr.Output("call_1")
}

func TestNoFileOutsideTheWorkspaceIsReachedByReadAndWrite(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "work")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(base, filepath.Join(dir, "up")))
	require.NoError(t, os.Symlink(filepath.Join(base, "secret"), filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("sub", filepath.Join(dir, "inside")))
	slash := filepath.ToSlash(base)
	for path, shown := range map[string]string{
		"../secret":                slash + "/secret",
		"sub/../../secret":         slash + "/secret",
		slash + "/secret":          slash + "/secret",
		slash + "/work/../secret":  slash + "/secret",
		"up/secret":                "up/secret",
		"link":                     "link",
		"inside/../../work/../new": slash + "/new",
	} {
		for _, step := range []script.Step{script.Read(path), script.Write(path, "overwritten")} {
			c, out := one(t, agents.Setup{Dir: dir}, step)
			assert.Equal(t, agents.Failed, c.Status, "%s %s: %s", c.Name, path, out)
			assert.NotContains(t, out, "overwritten")
			assert.Equal(t, []string{shown}, c.Paths)
		}
	}
	data, err := os.ReadFile(filepath.Join(base, "secret"))
	require.NoError(t, err)
	assert.Equal(t, "secret", string(data))
	assert.NoFileExists(t, filepath.Join(base, "new"))

	// Inside, every way of naming a file works.
	for _, path := range []string{"sub/a", "./sub/b", slash + "/work/sub/c", "inside/d", "sub/x/../e", "new/deep/f"} {
		c, out := one(t, agents.Setup{Dir: dir}, script.Write(path, path))
		assert.Equal(t, agents.Completed, c.Status, "%s: %s", path, out)
		assert.False(t, filepath.IsAbs(c.Paths[0]), c.Paths[0])
		_, out = one(t, agents.Setup{Dir: dir}, script.Read(path))
		assert.Equal(t, path, out)
	}
}

func TestACommandsOutputAndStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command string
		status        agents.Status
		output        string
		says          bool // the shell says something of its own before output
	}{
		{"both streams", "echo out; echo err >&2", agents.Completed, "out\nerr\n", false},
		{"failure", "echo told; exit 7", agents.Failed, "told\nexit status 7", false},
		{"failure without a line feed", "printf told; exit 1", agents.Failed, "told\nexit status 1", false},
		{"failure in silence", "false", agents.Failed, "exit status 1", false},
		{"signal", "kill -9 $$", agents.Failed, "exit status 137", true},
		{"quotes and lines", "printf '%s|' \"it's\" 'a \"b\"'\necho '$HOME'", agents.Completed, "it's|a \"b\"|$HOME\n", false},
		{"no input", "cat; echo end", agents.Completed, "end\n", false},
		{"syntax", "echo '", agents.Failed, "exit status 2", true},
		{"nothing", "", agents.Completed, "", false},
		{"NUL", "echo a\x00b", agents.Failed, "the command contains a NUL byte", false},
		{"not UTF-8", "printf '\xff'", agents.Completed, "\xff", false},
		{"reads like a report", "echo 1 0; echo '1 0' >&2", agents.Completed, "1 0\n1 0\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, out := one(t, agents.Setup{}, script.Run(c.command))
			assert.Equal(t, c.status, got.Status)
			assert.Equal(t, []string{c.command}, got.Commands)
			if c.says {
				assert.True(t, strings.HasSuffix(out, c.output), out)
			} else {
				assert.Equal(t, c.output, out)
			}
		})
	}
}

func TestInterruptsAreNotIgnored(t *testing.T) {
	t.Parallel()
	if exec.Command("env", "--default-signal=INT", "true").Run() != nil {
		t.Skip("env has no --default-signal here")
	}
	_, out := one(t, agents.Setup{}, script.Run("trap 'echo got' INT; kill -INT $$; echo end"))
	assert.Equal(t, "got\nend\n", out)
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	const size = 3_000_000
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big"), []byte(strings.Repeat("ä", size/2)), 0o600))
	for _, step := range []script.Step{script.Run("cat big"), script.Read("big")} {
		c, out := one(t, agents.Setup{Dir: dir}, step)
		assert.Equal(t, agents.Completed, c.Status)
		text, found := strings.CutSuffix(out, fmt.Sprintf("\n[cut: the output has %d bytes]", size))
		assert.True(t, found, "…%s", out[len(out)-60:])
		assert.LessOrEqual(t, len(text), 1<<20)
		assert.Equal(t, strings.Repeat("ä", len(text)/2), text, "whole characters")
	}
}

func TestProcessesLiveFromCallToCallAndToTurnButNotBeyondClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, scripted.New(
		script.Run("(while :; do echo x >>beat; sleep 0.02; done) & echo $! >pid; echo left"),
		script.Run("kill -0 $(cat pid)"), // the same processes are seen by each command
		script.HandBack(),
		script.Run("kill -0 $(cat pid) && : >beat && until test -s beat; do sleep 0.01; done"),
		script.HandBack(),
		script.Run("kill $(cat pid)"),
	), agents.Setup{Dir: dir})
	for turn := range 2 {
		tr, err := play(t.Context(), t, s, nil)
		require.NoError(t, err)
		assert.Zero(t, tr.MainCalls().Failed, "turn %d: %v", turn, short(tr))
	}
	_, err := s.Close()
	require.NoError(t, err)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "beat"))
		require.NoError(t, err)
		return info.Size()
	}
	before := size()
	assert.Never(t, func() bool { return size() != before }, 200*time.Millisecond, 50*time.Millisecond)
}

func TestFoldersAreMadeWhereNoneAreGivenAndRemoved(t *testing.T) {
	t.Parallel()
	s := open(t, scripted.New(script.Run(`test -d "$HOME" && test -d "$TMPDIR" && printf '%s %s' "$HOME" "$TMPDIR"`)), agents.Setup{})
	tr, err := play(t.Context(), t, s, nil)
	require.NoError(t, err)
	require.Equal(t, agents.Completed, call(t, tr, "call_1").Status)
	_, err = s.Close()
	require.NoError(t, err)
	folders := strings.Fields(tr.Output("call_1"))
	require.Len(t, folders, 2)
	for _, f := range folders {
		assert.NoDirExists(t, f)
	}
	home, temp := t.TempDir(), t.TempDir()
	_, out := one(t, agents.Setup{Home: home, Temp: temp}, script.Run(`printf '%s %s' "$HOME" "$TMPDIR"`))
	assert.Equal(t, home+" "+temp, out)
	assert.DirExists(t, home)
}

func BenchmarkCommand(b *testing.B) {
	dir := b.TempDir()
	a := scripted.New(script.Run("true"))
	for b.Loop() {
		benchmark(b, a, dir)
	}
}

func BenchmarkWrite(b *testing.B) {
	dir := b.TempDir()
	a := scripted.New(script.Write("x", "y"))
	for b.Loop() {
		benchmark(b, a, dir)
	}
}

func benchmark(b *testing.B, a agents.Agent, dir string) {
	s, err := a.Open(b.Context(), agents.Setup{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for _, err := range s.Send(b.Context(), "go") {
		if err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
