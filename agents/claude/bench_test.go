package claude_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// The tests of real*_test.go drive the real CLI. Its model is the gateway's, on loopback: no key, no cost.

func TestMain(m *testing.M) {
	if os.Getenv("CLAUDE_TEST_MCP") != "" {
		serveMCP()
		return
	}
	if mode := os.Getenv("CLAUDE_TEST_FAKE"); mode != "" {
		fakeCLI(mode)
		return
	}
	os.Exit(m.Run())
}

// cli is the path of the real CLI; without one the test is skipped, or fails where the agents are required.
func cli(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(claude.PathVariable); path != "" {
		return path
	}
	if root, err := moduleRoot(); err == nil {
		path := filepath.Join(root, ".agents", "node_modules", ".bin", "claude")
		if runtime.GOOS == "windows" {
			path += ".cmd"
		}
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if path, err := exec.LookPath("claude"); err == nil {
		return path
	}
	const why = "Claude Code is not installed: run `make agents`, or set EVALTEST_CLAUDE=/path/to/claude"
	if os.Getenv("EVALTEST_REQUIRE_AGENTS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", os.ErrNotExist
		}
		dir = up
	}
}

// bench is a real session with a scripted model.
type bench struct {
	t       testing.TB
	dir     string
	gateway *gateway.Gateway
	session agents.Session
	tr      agents.Trajectory
}

type prepare func(*agents.Setup, *gateway.Options)

func setup(change func(*agents.Setup)) prepare {
	return func(s *agents.Setup, _ *gateway.Options) { change(s) }
}

func admit(f func(context.Context, gateway.Request) error) prepare {
	return func(_ *agents.Setup, o *gateway.Options) { o.Admit = f }
}

// slots bounds how many CLIs run at once: each takes a quarter of a gigabyte.
var slots = make(chan struct{}, 2)

func open(t testing.TB, steps []script.Step, how ...prepare) *bench {
	t.Helper()
	path := cli(t)
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	b := &bench{t: t, dir: t.TempDir()}
	s := agents.Setup{Dir: b.dir, Home: t.TempDir(), Temp: shortDir(t)}
	o := gateway.Options{Wire: agents.AnthropicMessages, Script: steps, Dir: b.dir}
	for _, h := range how {
		h(&s, &o)
	}
	g, err := gateway.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	endpoint := g.Endpoint()
	s.Gateway = &endpoint
	b.gateway = g
	b.session, err = claude.New(claude.Path(path)).Open(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { b.close() })
	return b
}

// shortDir is a fresh folder with a short name: the CLI makes a socket in its TMPDIR.
func shortDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "ev")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (b *bench) close() agents.Final {
	b.t.Helper()
	f, err := b.session.Close()
	require.NoError(b.t, err)
	return f
}

// send sends a prompt and follows it to its end.
func (b *bench) send(prompt string) *agents.Error {
	b.t.Helper()
	return b.follow(context.Background(), prompt, func(agents.Event) bool { return true })
}

func (b *bench) follow(ctx context.Context, prompt string, more func(agents.Event) bool) *agents.Error {
	b.t.Helper()
	for e, err := range b.session.Send(ctx, prompt) {
		if err != nil {
			var typed *agents.Error
			require.ErrorAs(b.t, err, &typed)
			return typed
		}
		require.NoError(b.t, b.tr.Append(e))
		if !more(e) {
			break
		}
	}
	return nil
}

func (b *bench) file(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	require.NoError(b.t, err)
	return string(data)
}

func (b *bench) requireNoFile(name string) {
	b.t.Helper()
	_, err := os.Stat(filepath.Join(b.dir, name))
	require.ErrorIs(b.t, err, os.ErrNotExist)
}

func (b *bench) calls() []agents.Call { return slices.Collect(b.tr.Calls()) }

func (b *bench) texts() (out []string) {
	for _, e := range b.tr.Events() {
		if e.Kind == agents.EventMessage {
			out = append(out, e.Text)
		}
	}
	return out
}

// spent is the sum of the usage events.
func (b *bench) spent() (u agents.Usage) {
	for _, e := range b.tr.Events() {
		u = u.Add(e.Usage)
	}
	return u
}

// served is what the gateway says that its answers cost.
func (b *bench) served() (u agents.Usage) {
	for _, x := range b.gateway.Log() {
		u = u.Add(x.Usage)
	}
	return u
}

// requireGone waits until no process works in dir any more.
func requireGone(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	require.Eventually(t, func() bool {
		links, err := filepath.Glob("/proc/[0-9]*/cwd")
		require.NoError(t, err)
		for _, l := range links {
			if to, err := os.Readlink(l); err == nil && (to == dir || strings.HasPrefix(to, dir+"/")) {
				return false
			}
		}
		return true
	}, 5*time.Second, 50*time.Millisecond, "a process is left")
}
