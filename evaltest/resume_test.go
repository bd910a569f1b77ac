package evaltest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/internal/outside"
)

// parts is an eval of which each part can be changed by itself.
type parts struct {
	agent     agents.Agent
	opts      []evaltest.Option
	workspace fstest.MapFS
	criteria  func(e *evaltest.T)
	prompts   []string
}

func plain(agent agents.Agent) parts {
	return parts{
		agent: agent, workspace: fstest.MapFS{"in.txt": {Data: []byte("in")}}, prompts: []string{"Go."},
		criteria: func(e *evaltest.T) { e.Expect(criteria.FileContains("out.txt", "x")) },
	}
}

// external is an agent that stands for a program outside the test binary.
type external struct {
	*moody
	info  agents.Info
	setup string
}

func (e external) Info() agents.Info   { return e.info }
func (e external) Fingerprint() string { return e.setup }

// run runs the eval.
func (a parts) run(name string) (*evaltest.Result, *fakeTB) {
	var r *evaltest.Result
	tb := inFake(name, func(tb *fakeTB) {
		e := evaltest.New(tb, append([]evaltest.Option{evaltest.Agent(a.agent), evaltest.NoBreaker(), evaltest.Retries(0)}, a.opts...)...)
		e.Workspace(a.workspace)
		a.criteria(e)
		r = e.Run(a.prompts...)
	})
	return r, tb
}

// A trial depends on each of these, and is run anew, and not taken over, when one of them changes.
func TestFingerprintKnowsEveryInput(t *testing.T) {
	t.Parallel()
	skill := func(text string) string {
		dir := filepath.Join(t.TempDir(), "pdf")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "evals"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: pdf\ndescription: d\n---\n"+text), 0o644))
		return dir
	}
	tool := filepath.Join(t.TempDir(), "tool.sh")
	require.NoError(t, os.WriteFile(tool, []byte("1"), 0o755))
	base := func() parts {
		agent := external{&moody{name: "x", do: func(_ int, dir string, yield func(agents.Event) bool) error { return works(dir, yield) }},
			agents.Info{Name: "external", Version: "1", Model: "m", Gates: agents.Kinds}, "set up"}
		a := plain(agent)
		a.opts = []evaltest.Option{evaltest.MaxTurns(9), evaltest.Model("big"), evaltest.System("be good"), evaltest.Env("A=1"), evaltest.AllowTools("Bash"),
			evaltest.DenyTools("Web"), evaltest.Skills(skill("1")), evaltest.MCPServer(agents.MCPServer{Name: "db", Command: []string{"sh", tool}, Env: []string{"K=long-value"}})}
		return a
	}
	print := func(name string, a parts) (run, grade map[string]string) {
		_, tb := a.run(name)
		require.NotEmpty(t, tb.attrs["evaltest.record"], tb.text())
		recs := recordsOf(t, name)
		f := recs[len(recs)-1].Intent.Fingerprint
		return f.Run, f.Grade
	}
	run, grade := print(t.Name()+"/base", base())
	again, gradeAgain := print(t.Name()+"/base again", base())
	require.Equal(t, run, again)
	require.Equal(t, grade, gradeAgain)

	info := func(change func(*agents.Info)) func(*parts) {
		return func(a *parts) {
			x := a.agent.(external)
			change(&x.info)
			a.agent = x
		}
	}
	opt := func(o evaltest.Option) func(*parts) { return func(a *parts) { a.opts = append(a.opts, o) } }
	for name, change := range map[string]struct {
		part   string
		change func(*parts)
	}{
		"prompt":           {"prompts", func(a *parts) { a.prompts = []string{"Go!"} }},
		"second prompt":    {"prompts", func(a *parts) { a.prompts = append(a.prompts, "On.") }},
		"file's content":   {"workspace", func(a *parts) { a.workspace["in.txt"] = &fstest.MapFile{Data: []byte("IN")} }},
		"file's name":      {"workspace", func(a *parts) { a.workspace = fstest.MapFS{"in2.txt": {Data: []byte("in")}} }},
		"executable":       {"workspace", func(a *parts) { a.workspace["in.txt"] = &fstest.MapFile{Data: []byte("in"), Mode: 0o755} }},
		"skill":            {"skills", opt(evaltest.Skills(skill("2")))},
		"server":           {"servers", opt(evaltest.MCPServer(agents.MCPServer{Name: "web", URL: "http://127.0.0.1:1"}))},
		"server's program": {"servers", func(*parts) { require.NoError(t, os.WriteFile(tool, []byte("2"), 0o755)) }},
		"environment":      {"env", opt(evaltest.Env("A=2"))},
		"system prompt":    {"system", opt(evaltest.System("be bad"))},
		"allowed tools":    {"tools", opt(evaltest.AllowTools("Read"))},
		"denied tools":     {"tools", opt(evaltest.DenyTools("Read"))},
		"limit":            {"limits", opt(evaltest.MaxTurns(8))},
		"another limit":    {"limits", opt(evaltest.MaxDuration(time.Hour))},
		"mode":             {"mode", func(a *parts) { a.criteria = func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}) } }},
		"prevention": {"prevents", func(a *parts) {
			a.criteria = func(e *evaltest.T) { e.StopWhen(evaltest.Fail, &never{"rm"}, evaltest.Prevent()) }
		}},
		"agent's name":    {"agent", info(func(i *agents.Info) { i.Name = "other" })},
		"agent's version": {"agent", info(func(i *agents.Info) { i.Version = "2" })},
		"agent's set-up":  {"agent", func(a *parts) { x := a.agent.(external); x.setup = "other"; a.agent = x }},
		"agent's model":   {"model", info(func(i *agents.Info) { i.Model = "n" })},
		"model":           {"model", opt(evaltest.Model("small"))},
		"allowed models":  {"model", opt(evaltest.AllowModels("*"))},
		"upstream": {"upstream", func(a *parts) {
			info(func(i *agents.Info) { i.Live = true })(a)
			a.opts = append(a.opts, asked, evaltest.NoGateway())
		}},
		"set-up":            {"setup", opt(evaltest.Setup(func(context.Context, *evaltest.Trial) error { return nil }))},
		"criterion's value": {"criteria", func(a *parts) { a.criteria = func(e *evaltest.T) { e.Expect(criteria.FileContains("out.txt", "y")) } }},
		"weight": {"criteria", func(a *parts) {
			a.criteria = func(e *evaltest.T) { e.Expect(criteria.FileContains("out.txt", "x"), evaltest.Weight(2)) }
		}},
		"threshold": {"criteria", func(a *parts) {
			a.criteria = func(e *evaltest.T) { e.Expect(criteria.FileContains("out.txt", "x"), evaltest.PassAt(0.5)) }
		}},
		"gate": {"gate", opt(evaltest.MinScore(0.5))},
	} {
		a := base()
		change.change(&a)
		gotRun, gotGrade := print(t.Name()+"/"+name, a)
		require.NoError(t, os.WriteFile(tool, []byte("1"), 0o755))
		assert.NotEqual(t, run[change.part]+grade[change.part], gotRun[change.part]+gotGrade[change.part], "%s is not in part %s", name, change.part)
	}
	with := func(what int) func() parts {
		return func() parts {
			a := base()
			a.criteria = func(e *evaltest.T) { e.Expect(&hidden{what}) }
			return a
		}
	}
	_, one := print(t.Name()+"/hidden one", with(1)())
	_, two := print(t.Name()+"/hidden two", with(2)())
	assert.NotEqual(t, one["criteria"], two["criteria"], "a criterion is more than its name")
}

// hidden is a criterion whose name does not tell what it parts.
type hidden struct{ what int }

func (*hidden) String() string { return "hidden" }
func (h *hidden) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(h.what == 1), nil
}

// resumeModule writes a module whose evals are given by its environment, and returns what runs it.
func resumeModule(t *testing.T) func(env ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	dir := t.TempDir()
	require.NoError(t, outside.Module(dir, "example.com/m"))
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "resume"))))
	environ, err := outside.Env()
	require.NoError(t, err)
	return func(env ...string) string {
		cmd := exec.Command("go", "test", "-count=1", "-v", "./...")
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), environ...), "EVALTEST_DIR=")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			require.NoError(t, err)
		}
		return string(out)
	}
}

// A run is resumed: what is settled is taken over, what only has other criteria is graded anew from its record, and the rest
// runs, for a reason that is told.
func TestResume(t *testing.T) {
	t.Parallel()
	run := resumeModule(t)
	lines := func(out, word string) (n int) {
		for line := range strings.Lines(out) {
			if strings.HasPrefix(strings.TrimSpace(line), word) {
				n++
			}
		}
		return n
	}
	out := run("SCENE=first")
	require.Contains(t, out, "evaltest: 6 trials", out)
	require.Contains(t, out, "passed 3 of 4 measured", out)
	assert.Equal(t, 6, lines(out, "agent at work"), out)

	out = run("SCENE=first", "EVALTEST_RESUME=latest")
	assert.Equal(t, 4, lines(out, "reused     from"), out)
	assert.Equal(t, 2, lines(out, "agent at work"), "what errored runs again, and nothing else: %s", out)
	assert.Contains(t, out, "passed 3 of 4 measured")

	out = run("SCENE=healthy", "EVALTEST_RESUME=latest")
	assert.Equal(t, 2, lines(out, "agent at work"), out)
	assert.Contains(t, out, "passed 5 of 6 measured")

	out = run("SCENE=criteria", "EVALTEST_RESUME=latest") // also of the runs before the latest
	assert.Equal(t, 0, lines(out, "agent at work"), "only criteria have changed: %s", out)
	assert.Equal(t, 6, lines(out, "regraded   from"), out)
	assert.Contains(t, out, "passed 0 of 6 measured", out)

	out = run("SCENE=prompt", "EVALTEST_RESUME=latest")
	assert.Equal(t, 6, lines(out, "agent at work"), out)
	assert.Contains(t, out, "changed since: prompts")

	out = run("EVALTEST_RESUME=nowhere")
	assert.Contains(t, out, "no such run")
	assert.Contains(t, out, "runs there: 2")
	assert.Contains(t, out, "FAIL")
}
