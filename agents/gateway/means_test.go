package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// asked is the first answer of a gateway that speaks OpenAI Responses to an agent with these tools.
func asked(t *testing.T, g *gateway.Gateway, prompt string, tools ...any) said {
	t.Helper()
	resp, err := do(t, request(t.Context(), t, g, "/v1/responses", object{"model": "m", "input": prompt, "tools": tools}))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", data)
	return responsesSaid(t, data)
}

// An agent that has a shell alone does with it what others have tools for.
func TestWithAShellAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell := object{"type": "function", "name": "exec_command", "parameters": object{"properties": object{"cmd": text}}}
	run := func(step script.Step, prompt string) string {
		a := asked(t, play(t, agents.OpenAIResponses, step), prompt, shell)
		require.Len(t, a.Calls, 1, a.Text)
		var args struct{ Cmd string }
		unmarshal(t, []byte(a.Calls[0].Input), &args)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", args.Cmd)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", args.Cmd, out)
		return string(out)
	}
	const content = "it's 100 % \\n \"quoted\" $HOME\n\nno newline at the end"
	run(script.Write("a b/c's.txt", content), "Go.")
	got, err := os.ReadFile(filepath.Join(dir, "a b", "c's.txt"))
	require.NoError(t, err)
	require.Equal(t, content, string(got))
	require.Equal(t, content, run(script.Read("a b/c's.txt"), "Go."))

	skill := filepath.Join(dir, "skills", "pdf", "SKILL.md")
	require.NoError(t, os.MkdirAll(filepath.Dir(skill), 0o777))
	require.NoError(t, os.WriteFile(skill, []byte("Read PDFs."), 0o666))
	require.Equal(t, "Read PDFs.", run(script.Skill("pdf"), "Skills:\n- pdf: reads PDFs (file: "+skill+")"))
	require.Equal(t, "Read PDFs.", run(script.Skill("pdf"), "Roots:\n- `r0` = `"+filepath.Dir(filepath.Dir(skill))+"`\nSkills:\n- pdf: reads PDFs (r0/pdf/SKILL.md)"))

	a := asked(t, play(t, agents.OpenAIResponses, script.Skill("xls")), "Go.", shell)
	require.Empty(t, a.Calls)
	require.Contains(t, a.Text, "no tool to skill with")
}

// A command is given as a list of words where the tool wants one, a file as a patch where it takes that, and a tool is found by the
// name that its neighbours share.
func TestToolsOfOtherForms(t *testing.T) {
	t.Parallel()
	a := asked(t, play(t, agents.OpenAIResponses, script.Run("ls | wc")), "Go.",
		object{"type": "function", "name": "shell", "parameters": object{"properties": object{"command": object{"type": "array"}}}})
	require.JSONEq(t, `{"command":["bash","-c","ls | wc"]}`, a.Calls[0].Input)

	patch := object{"type": "custom", "name": "apply_patch"}
	a = asked(t, play(t, agents.OpenAIResponses, script.Write("a.txt", "one\n\ntwo\n")), "Go.", patch)
	require.Equal(t, call{"toolu_m_0_0", "apply_patch", "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n+two\n*** End Patch"}, a.Calls[0])

	a = asked(t, play(t, agents.OpenAIResponses, script.Call("mcp__db__query", map[string]any{"sql": "x"})), "Go.",
		object{"type": "namespace", "name": "mcp__db__", "tools": []any{object{"type": "function", "name": "query"}}})
	require.Equal(t, call{"toolu_m_0_0", "query", `{"sql":"x"}`}, a.Calls[0])
	require.Contains(t, string(a.Repeat[0].(json.RawMessage)), `"namespace":"mcp__db__"`)
}

// Tools may be offered by an item of the conversation, and all others be called from a program for one of them.
func TestToolsOfAProgram(t *testing.T) {
	t.Parallel()
	g := play(t, agents.OpenAIResponses, script.Run("echo \"it's\""))
	exec := object{"type": "custom", "name": "exec", "description": "Run JavaScript code. Nested tools: await tools.exec_command(...)"}
	resp, err := do(t, request(t.Context(), t, g, "/v1/responses", object{"model": "m", "input": []any{
		object{"type": "additional_tools", "role": "developer", "tools": []any{object{"type": "namespace", "name": "functions", "tools": []any{exec}}}},
		object{"type": "message", "role": "user", "content": "Go."},
	}}))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	a := responsesSaid(t, data)
	require.Equal(t, []call{{"toolu_m_0_0", "exec", `text(await tools.exec_command({"cmd":"echo \"it's\""}))`}}, a.Calls)
	require.False(t, g.Log()[0].Side)
}

// A sub-agent for everything has another name in each agent: what the tool allows or mentions, else what the argument is for.
func TestNamesOfSubagents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		arg, about string
		property   object
		want       string
	}{
		{"subagent_type", "Agents: general-purpose, Explore", text, "general-purpose"},
		{"subagent_type", "Available agents:\n- general: General-purpose agent\n- explore: looks around", text, "general"},
		{"agent_name", "Invokes a sub-agent.", text, "generalist"},
		{"agent_type", "Starts one.", object{"type": "string", "enum": []any{"default", "worker"}}, "default"},
		{"subagent_type", "Starts one.", text, "general-purpose"},
	} {
		a := asked(t, play(t, agents.OpenAIResponses, script.Agent("Look.")), "Go.", object{"type": "function", "name": "task", "description": tc.about,
			"parameters": object{"properties": object{"prompt": text, tc.arg: tc.property}}})
		var args map[string]string
		unmarshal(t, []byte(a.Calls[0].Input), &args)
		require.Equal(t, tc.want, args[tc.arg], tc.about)
	}
}

// A client may leave what was said before to the provider, and name the answer that it goes on from.
func TestConversationThatTheProviderKeeps(t *testing.T) {
	t.Parallel()
	g := play(t, agents.OpenAIResponses, script.Say("one"), script.HandBack(), script.Say("two"), script.HandBack(), script.Say("three"))
	after := ""
	for _, want := range []string{"one", "two", "three"} {
		body := object{"model": "m", "input": "Go.", "tools": []any{object{"type": "function", "name": "x"}}, "previous_response_id": after}
		resp, err := do(t, request(t.Context(), t, g, "/v1/responses", body))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		a := responsesSaid(t, data)
		require.Equal(t, want, a.Text)
		after = a.ID
	}
}

// What is no model request has an answer, too, or an error in the dialect's own form.
func TestResourcesOfEveryDialect(t *testing.T) {
	t.Parallel()
	conversation := map[agents.Wire]string{
		agents.AnthropicMessages: `{"messages":[{"role":"user","content":"Go."}]}`, agents.OpenAIResponses: `{"input":"Go."}`,
		agents.GeminiGenerate: `{"generateContentRequest":{"contents":[{"parts":[{"text":"Go."}]}]}}`,
	}
	for _, tc := range []struct {
		wire         agents.Wire
		method, path string
		status       int
		want         string
	}{
		{agents.AnthropicMessages, "GET", "/v1/models", 200, `"scripted-model"`}, {agents.AnthropicMessages, "GET", "/v1/models/x", 200, `"id":"x"`},
		{agents.AnthropicMessages, "POST", "/v1/messages/count_tokens", 200, `"input_tokens":2064`}, {agents.AnthropicMessages, "GET", "/v1/x", 404, `"not_found_error"`},
		{agents.OpenAIResponses, "GET", "/v1/models", 200, `"object":"list"`}, {agents.OpenAIResponses, "GET", "/models/x", 200, `"id":"x"`},
		{agents.OpenAIResponses, "POST", "/v1/responses/input_tokens", 200, `"input_tokens":2064`}, {agents.OpenAIResponses, "GET", "/v1/responses/r", 404, `"invalid_request_error"`},
		{agents.OpenAIChat, "GET", "/v1/models", 200, `"object":"list"`}, {agents.OpenAIChat, "POST", "/v1/embeddings", 404, `"invalid_request_error"`},
		{agents.GeminiGenerate, "GET", "/v1beta/models", 200, `"models/scripted-model"`}, {agents.GeminiGenerate, "GET", "/v1/models/x", 200, `"models/x"`},
		{agents.GeminiGenerate, "POST", "/v1beta/models/x:countTokens", 200, `"totalTokens":2064`}, {agents.GeminiGenerate, "POST", "/v1beta/models/x:embedContent", 404, `"NOT_FOUND"`},
		{agents.OpenAIResponses, "POST", "/v1/responses", 400, "at least one message"}, {agents.GeminiGenerate, "POST", "/v1/models/x:generateContent", 400, `"INVALID_ARGUMENT"`},
	} {
		g := play(t, tc.wire)
		e := g.Endpoint()
		body := conversation[tc.wire]
		if tc.status == 400 {
			body = "{}"
		}
		r, err := http.NewRequestWithContext(t.Context(), tc.method, e.URL+tc.path, bytes.NewReader([]byte(body)))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+e.Token)
		resp, err := do(t, r)
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, tc.status, resp.StatusCode, "%s %s: %s", tc.wire, tc.path, data)
		require.Contains(t, string(data), tc.want)
		require.Empty(t, g.Log())
	}
}

// A body may be compressed. One that cannot be read is refused, and says why.
func TestCompressedRequests(t *testing.T) {
	t.Parallel()
	g := play(t, agents.OpenAIChat, script.Say("Hi."))
	send := func(encoding string, body []byte) (int, string) {
		r := request(t.Context(), t, g, "/v1/chat/completions", nil)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Encoding", encoding)
		resp, err := do(t, r)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(data)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, `{"messages":[{"role":"user","content":"Go."}],"tools":[{"type":"function","function":{"name":"x"}}]}`)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	status, body := send("gzip", packed.Bytes())
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Hi.")
	status, body = send("zstd", []byte{0x28, 0xb5, 0x2f, 0xfd})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, `compressed with \"zstd\"`)
	status, body = send("gzip", []byte("no gzip"))
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "compressed")
}
