package evaltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest"
)

// traces are all texts that an eval leaves: the test log, its attributes, the files of its record, and the journal's lines.
func traces(t *testing.T, tb *fakeTB) map[string]string {
	t.Helper()
	out := map[string]string{"log": tb.text()}
	for k, v := range tb.attrs {
		out[k] = v
	}
	dir := record(t, tb).Dir
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, "workspace/") {
			return err // the workspace is the agent's own work, kept as it is
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = string(data)
		return err
	}))
	journals, err := filepath.Glob(filepath.Join(dir, "..", "..", "journal-*.jsonl"))
	require.NoError(t, err)
	for _, path := range journals {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, filepath.Base(dir)) {
				out["journal"] += line
			}
		}
	}
	require.NotEmpty(t, out["journal"])
	return out
}

// Neither folding nor cutting a text gives a secret away: no part of one is left anywhere.
func TestNoPartOfASecretIsLeft(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("s3cret-part\n", 20))
	opts := []evaltest.Option{evaltest.Secret("KEY", long), evaltest.Smoke()}
	say := "The key:\n" + long
	named := &scores{"holds " + long, func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
		return evaltest.Score{}, errors.New("no " + long)
	}}
	for _, tc := range []struct {
		name     string
		opts     []evaltest.Option
		criteria func(*evaltest.T)
	}{
		{"stopped", []evaltest.Option{evaltest.Script(script.Say(say), script.Skill(long), script.Run("true"))}, func(e *evaltest.T) {
			e.StopWhen(evaltest.Pass, &skill{long})
			e.Expect(named)
		}},
		{"prevented", []evaltest.Option{evaltest.Script(script.Run("echo '"+long+"'"), script.Run("true"))}, func(e *evaltest.T) {
			e.StopWhen(evaltest.Fail, &never{long}, evaltest.Prevent())
		}},
		{"in full", []evaltest.Option{evaltest.Script(script.Write(long, long), script.Run("cat '"+long+"'; echo '"+long+"' >&2; exit 3"), script.Say(say))}, func(e *evaltest.T) {
			e.StopWhen(evaltest.Pass, &skill{"none"})
			e.Expect(named)
			e.Expect(scored(evaltest.Ratio(1, 2).Because("half of %s", long).Labels(long, long)))
		}},
		{"failed", []evaltest.Option{evaltest.Script(script.Say(say), script.Fail(agents.Errorf(agents.Protocol, agents.FromProvider, "no:\n%s", long)))}, func(e *evaltest.T) {
			e.StopWhen(evaltest.Pass, &skill{"none"})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, tb := evalThen(t, append(opts[:len(opts):len(opts)], append(tc.opts, evaltest.Env("DIR=s3cret-part/"+long))...), tc.criteria,
				func(e *evaltest.T, r *evaltest.Result) {
					assert.Equal(e, "x", long+r.Reply)
					e.Errorf("cut: %.40s…", long)
				})
			for name, text := range traces(t, tb) {
				assert.NotContains(t, text, "s3cret", name)
			}
			assert.Contains(t, tb.text(), "‹KEY›")
		})
	}
}

// Records stay JSON whatever is masked in them.
func TestMaskedRecordsStayJSON(t *testing.T) {
	t.Parallel()
	_, tb := eval(t, []evaltest.Option{
		evaltest.Secret("N", "12345678"), evaltest.Secret("ONE", "1"), evaltest.Secret("Q", `"`), evaltest.Secret("YES", "true"),
		evaltest.Script(script.Call("set", json.RawMessage(`{"n":12345678,"m":1,"ok":true,"s":"\""}`)), script.Run("echo 1")),
	}, func(e *evaltest.T) { e.Expect(&file{"12345678"}) })
	for name, text := range traces(t, tb) {
		if strings.HasSuffix(name, ".jsonl") || name == "raw.log" || name == "journal" {
			for line := range strings.Lines(text) {
				assert.True(t, json.Valid([]byte(line)), "%s: %s", name, line)
			}
		}
		assert.NotContains(t, text, "12345678", name)
	}
	require.NotNil(t, record(t, tb).Verdict)
}

// Secrets are masked before anything is shortened: what stands for one takes its room, and the text behind it is there.
func TestSecretsAreMaskedBeforeTextsAreShortened(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s3cret-part-", 20)
	pad := func(n int) string { return strings.Repeat("x", n) }
	_, tb := eval(t, []evaltest.Option{
		evaltest.Secret("KEY", secret), evaltest.Script(script.Say(pad(80)+secret+"!1"), script.Run("rm "+pad(80)+secret+"!2")),
	}, func(e *evaltest.T) {
		e.Expect(&file{pad(40) + secret + "!3"})
		e.StopWhen(evaltest.Fail, &never{"rm"}, evaltest.Prevent())
	}, pad(180)+secret+"!4")
	for _, mark := range []string{"!1", "!2", "!3", "!4"} {
		assert.Contains(t, tb.text(), "x‹KEY›"+mark)
	}
	assert.Contains(t, strings.Join(record(t, tb).Verdict.Notes, "\n"), "x‹KEY›!2")
}

// An agent may put a secret, and line breaks, wherever it likes: in ids, in names of tools, in its version, and in the last
// line of its streams, which is never finished.
func TestSecretsInWhateverAnAgentSays(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-8\nFAIL"
	c := &custom{final: agents.Final{Version: "1\n" + secret, Model: "m\n" + secret}}
	c.open = func(s agents.Setup) (agents.Session, error) {
		_, _ = io.WriteString(s.Record.Raw, "raw: "+secret)
		_, _ = io.WriteString(s.Record.Stderr, "stderr: "+secret)
		return c, nil
	}
	c.send = func(_ context.Context, yield func(agents.Event, error) bool) {
		call := agents.ToolCall{ID: secret, Kind: agents.Kind(secret), Name: "Tool\nFAIL: " + secret, Skill: "a\nFAIL " + secret}
		_ = yield(agents.Begin(call).In(secret), nil) &&
			yield(agents.End(secret, agents.Failed, secret), nil) &&
			yield(agents.Begin(agents.ToolCall{ID: "2", Kind: agents.Skill, Name: secret, Skill: secret}), nil) &&
			yield(agents.End("3", agents.Failed, secret), errors.New("no "+secret))
	}
	_, tb := eval(t, []evaltest.Option{evaltest.Agent(c), evaltest.Secret("KEY", secret)}, func(e *evaltest.T) { e.Expect(&skill{secret}) })
	all := traces(t, tb)
	for name, text := range all {
		assert.NotContains(t, text, "s3cret", name)
	}
	assert.Equal(t, "raw: ‹KEY›", all["raw.log"])
	assert.Equal(t, "stderr: ‹KEY›", all["stderr.log"])
	for line := range strings.Lines(tb.text()) {
		assert.False(t, strings.HasPrefix(line, "FAIL"), "%s", tb.text())
	}
	tr, _, err := transcript.Read(strings.NewReader(all["transcript.jsonl"]))
	require.NoError(t, err)
	assert.Equal(t, 2, tr.MainCalls().Dispatched(), "ids are masked alike wherever they stand")
}
