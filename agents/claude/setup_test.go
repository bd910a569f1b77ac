package claude

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

func TestRegistered(t *testing.T) {
	t.Parallel()
	a, err := agents.Lookup("claude")
	require.NoError(t, err)
	i := a.Info()
	require.True(t, i.Live)
	require.Equal(t, agents.AnthropicMessages, i.Wire)
	require.True(t, i.CanShow(agents.Sub))
	for _, k := range agents.Kinds {
		require.True(t, i.CanGate(k))
	}
}

// folders are what a session needs.
func folders(t *testing.T) agents.Setup {
	return agents.Setup{Dir: t.TempDir(), Home: t.TempDir(), Temp: t.TempDir()}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "claude"), "no-such-claude"} {
		_, err := New(Path(path)).Open(t.Context(), folders(t))
		var e *agents.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, agents.Missing, e.Kind)
		require.False(t, e.Retryable)
		require.Contains(t, e.Error(), path)
		require.Contains(t, e.Error(), "npm install -g @anthropic-ai/claude-code")
		require.Contains(t, e.Error(), "EVALTEST_CLAUDE")
		require.Empty(t, New(Path(path)).Info().Version)
	}
}

func TestWhereTheCLIIs(t *testing.T) {
	dir := t.TempDir()
	exe := func(name string) string {
		p := filepath.Join(dir, name, "claude")
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte("#!/bin/sh\n"), 0o755))
		return p
	}
	option, variable, path := exe("option"), exe("variable"), exe("path")
	t.Setenv("PATH", filepath.Dir(path))
	t.Setenv(PathVariable, variable)
	find := func(opts ...Option) string {
		got, err := program.Locate(New(opts...).(*agent).path)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, option, find(Path(option)))
	require.Equal(t, variable, find())
	t.Setenv(PathVariable, "")
	require.Equal(t, path, find())
}

func TestVersionIsReadFromTheInstallation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o755))
		return p
	}
	write("npm/package.json", `{"name":"@anthropic-ai/claude-code","version":"2.3.4"}`)
	write("other/package.json", `{"name":"other","version":"9.9.9"}`)
	for path, want := range map[string]string{
		write("npm/bin/claude", "x"):      "2.3.4",
		write("native/3.4.5", "x"):        "3.4.5",
		write("other/bin/claude", "x"):    "",
		write("elsewhere/bin/claude", ""): "",
	} {
		require.Equal(t, want, New(Path(path)).Info().Version, path)
	}
}

func TestSetupIsChecked(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	skill := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: s\n---\n")}}
	for name, change := range map[string]func(*agents.Setup){
		"relative home": func(s *agents.Setup) { s.Home = "home" },
		"no temp":       func(s *agents.Setup) { s.Temp = "" },
		"no SKILL.md":   func(s *agents.Setup) { s.Skills = []fs.FS{fstest.MapFS{}} },
		"a skill twice": func(s *agents.Setup) { s.Skills = []fs.FS{skill, skill} },
		"name with a slash": func(s *agents.Setup) {
			s.Skills = []fs.FS{fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: ../s\n---\n")}}}
		},
		"server without name":  func(s *agents.Setup) { s.MCP = []agents.MCPServer{{URL: "http://x"}} },
		"server twice":         func(s *agents.Setup) { s.MCP = []agents.MCPServer{{Name: "a", URL: "x"}, {Name: "a", URL: "y"}} },
		"server of both kinds": func(s *agents.Setup) { s.MCP = []agents.MCPServer{{Name: "a", URL: "x", Command: []string{"y"}}} },
		"server of no kind":    func(s *agents.Setup) { s.MCP = []agents.MCPServer{{Name: "a"}} },
		"header without name": func(s *agents.Setup) {
			s.MCP = []agents.MCPServer{{Name: "a", URL: "x", Headers: []string{"topsecret"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := folders(t)
			change(&s)
			_, err := New(Path(self)).Open(t.Context(), s)
			var e *agents.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, agents.SetupError, e.Kind)
			require.NotContains(t, e.Error(), "topsecret")
		})
	}
}

func TestEnvironmentIsHermetic(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "the-developers")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "the-developers")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Key: the-developers")
	t.Setenv("CLAUDE_CODE_OAUTH_TOKEN", "their-login")
	t.Setenv("AWS_PROFILE", "theirs")
	t.Setenv("CLAUDE_CODE_ENTRYPOINT", "leak")
	t.Setenv("SOME_SECRET", "leak")
	s := agents.Setup{Home: "/h", Temp: "/t", Env: []string{"CLAUDE_CODE_MAX_RETRIES=7"}}
	last := func(env []string, key string) string {
		out := "unset"
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, key+"="); ok {
				out = v
			}
		}
		return out
	}
	env := environment(s, "/h/.claude")
	require.Equal(t, "the-developers", last(env, "ANTHROPIC_API_KEY"), "without a gateway it reaches its provider")
	require.Equal(t, "theirs", last(env, "AWS_PROFILE"))
	require.Equal(t, "/h/.claude", last(env, "CLAUDE_CONFIG_DIR"))
	require.Equal(t, "7", last(env, "CLAUDE_CODE_MAX_RETRIES"), "what the eval sets wins")

	s.Gateway = &agents.Endpoint{URL: "http://127.0.0.1:1", Token: "tok"}
	env = environment(s, "/h/.claude")
	require.Equal(t, "tok", last(env, "ANTHROPIC_API_KEY"))
	require.Equal(t, "http://127.0.0.1:1", last(env, "ANTHROPIC_BASE_URL"))
	for _, kv := range env {
		for _, theirs := range []string{"the-developers", "theirs", "their-login", "leak"} {
			require.NotContains(t, kv, theirs)
		}
	}

	// With a login of its own the CLI presents that, and nothing else goes with it.
	s.Gateway = &agents.Endpoint{URL: "http://127.0.0.1:1/secret"}
	env = environment(s, "/h/.claude")
	require.Equal(t, "their-login", last(env, "CLAUDE_CODE_OAUTH_TOKEN"))
	require.Equal(t, "unset", last(env, "ANTHROPIC_API_KEY"))
	require.Equal(t, "http://127.0.0.1:1/secret", last(env, "ANTHROPIC_BASE_URL"))
	for _, kv := range env {
		for _, theirs := range []string{"the-developers", "theirs", "leak"} {
			require.NotContains(t, kv, theirs)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	args := func(s agents.Setup, opts ...Option) []string {
		s.Home = t.TempDir()
		out, err := New(opts...).(*agent).arguments(s)
		require.NoError(t, err)
		return out
	}
	require.Contains(t, args(agents.Setup{}), "--dangerously-skip-permissions")
	got := args(agents.Setup{Allow: []string{"Bash(git *)", "mcp__db__query"}, Deny: []string{"Read"}, System: "s"}, Model("m"), Args("--x"))
	require.NotContains(t, got, "--dangerously-skip-permissions")
	all := strings.Join(got, "|")
	require.Contains(t, all, "--tools|Bash|--allowedTools|Bash(git *)|mcp__db__query|--disallowedTools|Read")
	require.Contains(t, all, "--model|m|--append-system-prompt|s")
	require.Equal(t, "--x", got[len(got)-1])
	got = args(agents.Setup{Model: "other"}, Model("m"))
	require.Equal(t, "other", got[slices.Index(got, "--model")+1])

	home := t.TempDir()
	path, err := writeMCP(home, []agents.MCPServer{
		{Name: "a", Command: []string{"prog", "-x"}, Env: []string{"K=v=w"}},
		{Name: "b", URL: "http://x", Headers: []string{"Authorization: Bearer t"}},
	})
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.JSONEq(t, `{"mcpServers":{"a":{"type":"stdio","command":"prog","args":["-x"],"env":{"K":"v=w"}},
		"b":{"type":"http","url":"http://x","headers":{"Authorization":"Bearer t"}}}}`, string(data))
	require.True(t, json.Valid(data))
}
