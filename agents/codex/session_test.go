package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/codex"
)

// begun is what an app server says until its turn is under way; {} stands for what it reads.
const begun = `read line; echo '{"id":1,"result":{}}'
read line; read line; echo '{"id":2,"result":{"thread":{"id":"t","cliVersion":"0.0.1"},"model":"m"}}'
read line; echo '{"id":3,"result":{"turn":{"id":"u"}}}'; echo '{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}'
`

func setup(t *testing.T) agents.Setup {
	t.Helper()
	s := agents.Setup{Dir: t.TempDir(), Home: t.TempDir(), Temp: t.TempDir(), Gateway: &agents.Endpoint{URL: "http://127.0.0.1:1", Token: "t"}}
	return s
}

// An app server that goes wrong is an error of the right kind, whatever it says besides.
func TestAppServersThatGoWrong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		kind   agents.ErrorKind
		source agents.ErrorSource
		want   string
	}{
		"ends at once":      {"echo 'no such flag' >&2; exit 2", agents.Crash, agents.FromAgent, "no such flag"},
		"ends within":       {begun + `echo '{"method":"item/agentMessage/delta","params":{}}'; exit 0`, agents.Crash, agents.FromAgent, "ended within a turn"},
		"says no JSON":      {begun + "echo hello; sleep 60", agents.Protocol, agents.FromAgent, `"hello\n"`},
		"ends in a line":    {begun + `printf '{"method":"turn/comp'`, agents.Protocol, agents.FromAgent, "within a line"},
		"refuses a thread":  {`read line; echo '{"id":1,"result":{}}'; read line; read line; echo '{"id":2,"error":{"code":-1,"message":"no model"}}'; sleep 60`, agents.SetupError, agents.FromAgent, "no model"},
		"begins no thread":  {`read line; echo '{"id":1,"result":{}}'; read line; read line; echo '{"id":2,"result":{}}'; sleep 60`, agents.Protocol, agents.FromAgent, "no thread"},
		"asks its user":     {begun + `echo '{"id":7,"method":"item/tool/requestUserInput","params":{"questions":["Which one?"]}}'; read line; sleep 60`, agents.SetupError, agents.FromAuthor, "Which one?"},
		"fails without why": {begun + `echo '{"method":"turn/completed","params":{"threadId":"t","turn":{"status":"failed"}}}'; sleep 60`, agents.Protocol, agents.FromAgent, "does not say why"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "codex")
			require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o755))
			s, err := codex.New(codex.Path(path)).Open(t.Context(), setup(t))
			require.NoError(t, err)
			var failed error
			for _, err := range s.Send(t.Context(), "Go.") {
				failed = err
			}
			var e *agents.Error
			require.ErrorAs(t, failed, &e)
			require.Equal(t, tc.kind, e.Kind, e)
			require.Equal(t, tc.source, e.Source)
			require.ErrorContains(t, e, tc.want)
			_, err = s.Close()
			require.NoError(t, err)
		})
	}
}

// The configuration says all that the setup asks for, to the owner alone.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codex")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	in := setup(t)
	in.MCP = []agents.MCPServer{
		{Name: "db", Command: []string{"server", `--say="hi"`}, Env: []string{"TOKEN=s3cret=x"}},
		{Name: "web", URL: "https://x.example/mcp", Headers: []string{"Authorization: Bearer s3cret"}},
	}
	s, err := codex.New(codex.Path(path)).Open(t.Context(), in)
	require.NoError(t, err)
	_, err = s.Close()
	require.NoError(t, err)
	file := filepath.Join(in.Home, ".codex", "config.toml")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	for _, want := range []string{
		`base_url = "http://127.0.0.1:1"`, `approval_policy = "never"`, "request_max_retries = 2",
		"[mcp_servers.\"db\"]\ncommand = \"server\"\nargs = [\"--say=\\\"hi\\\"\"]\n[mcp_servers.\"db\".env]\n\"TOKEN\" = \"s3cret=x\"\n",
		"[mcp_servers.\"web\"]\nurl = \"https://x.example/mcp\"\n[mcp_servers.\"web\".http_headers]\n\"Authorization\" = \"Bearer s3cret\"\n",
	} {
		require.Contains(t, string(data), want)
	}
}

// What Codex cannot do, or does not have, is said before anything is spent.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codex")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	for want, change := range map[string]func(s *agents.Setup) agents.Agent{
		"takes no lists of tools": func(s *agents.Setup) agents.Agent { s.Deny = []string{"x"}; return codex.New(codex.Path(path)) },
		"absolute paths":          func(s *agents.Setup) agents.Agent { s.Home = "home"; return codex.New(codex.Path(path)) },
		"either Command or URL": func(s *agents.Setup) agents.Agent {
			s.MCP = []agents.MCPServer{{Name: "db"}}
			return codex.New(codex.Path(path))
		},
		"npm install -g @openai/codex": func(*agents.Setup) agents.Agent { return codex.New(codex.Path("/no/such/codex")) },
	} {
		in := setup(t)
		_, err := change(&in).Open(t.Context(), in)
		var e *agents.Error
		require.ErrorAs(t, err, &e, want)
		require.ErrorContains(t, err, want)
		require.Equal(t, strings.HasPrefix(want, "npm"), e.Kind == agents.Missing)
	}
	a, ok := codex.New().(agents.Provided)
	require.True(t, ok)
	_, err := a.Provider(func(string) string { return "" })
	require.ErrorContains(t, err, "set OPENAI_API_KEY")
	p, err := a.Provider(func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://x.example/v1"}[name]
	})
	require.NoError(t, err)
	require.Equal(t, "https://x.example/v1", p.URL)
	require.Equal(t, "Bearer k", p.Header.Get("Authorization"))
	require.False(t, codex.New().Info().CanGate(agents.Execute))
}
