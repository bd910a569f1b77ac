package codex

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

// play decodes a recorded stream: its events, a line each, and how its turn ended.
func play(t testing.TB, stream []byte) (string, *end) {
	t.Helper()
	d := newDecoder("/workspace", "/home/agent/.codex")
	tr := new(agents.Trajectory)
	var last *end
	for line := range bytes.Lines(stream) {
		f := decodeFrame(line, false)
		require.Nil(t, f.fault)
		events, e := d.decode(f)
		for _, e := range events {
			require.NoError(t, tr.Append(e))
		}
		if e != nil {
			last = e
		}
	}
	var out strings.Builder
	for _, e := range tr.Events() {
		switch e.Kind {
		case agents.EventMessage:
			fmt.Fprintf(&out, "%s says %s\n", e.Message, e.Text)
		case agents.EventCall:
			fmt.Fprintf(&out, "%s %s %s %s\n", e.Message, e.Call.Kind, e.Call.ID, strings.Join(append(e.Call.Commands, e.Call.Paths...), ","))
		case agents.EventStatus:
			fmt.Fprintf(&out, "  %s %s %q\n", e.CallID, e.Status, e.Output)
		case agents.EventUsage:
			fmt.Fprintf(&out, "%s cost %d, %d cached, %d\n", e.Message, e.Usage.InputTokens, e.Usage.CachedTokens, e.Usage.OutputTokens)
		}
	}
	return out.String(), last
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	require.NoError(t, err)
	return data
}

// What streams of the real program come to.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		events, status string
		kind           agents.ErrorKind
	}{
		"run": {`answer-1 says Step 1.
answer-1 execute call_01_f96d echo hello > out.txt
  call_01_f96d completed ""
answer-1 cost 700, 300 cached, 42
answer-2 says Step 2.
answer-2 execute call_02_f9bf cat out.txt
  call_02_f9bf completed "hello\n"
answer-2 cost 700, 300 cached, 42
answer-3 says Step 3.
answer-3 execute call_03_f9f8 go version
  call_03_f9f8 completed "go version go1.26.8 linux/amd64\n"
answer-3 cost 700, 300 cached, 42
answer-4 says Created out.txt.
answer-4 cost 700, 300 cached, 42
`, "completed", ""},
		"approval-gate": {`answer-1 says Step 1.
answer-1 execute call_01_9455 mkdir d1
  call_01_9455 completed ""
answer-1 cost 700, 300 cached, 42
answer-2 says Step 2.
answer-2 execute call_02_94b0 mkdir d2
  call_02_94b0 denied ""
answer-2 cost 700, 300 cached, 42
`, "interrupted", agents.Interrupted},
		"interrupt": {`answer-1 says Step 1.
answer-1 execute call_01_1636 echo 1 >> side.txt
  call_01_1636 completed ""
answer-1 cost 700, 300 cached, 42
answer-2 says Step 2.
answer-2 execute call_02_168f bash ./slow.sh
answer-2 cost 700, 300 cached, 42
`, "interrupted", agents.Interrupted},
		"error-529": {`answer-1 says Step 1.
answer-1 execute call_01_ddeb echo hello > out.txt
  call_01_ddeb completed ""
answer-1 cost 700, 300 cached, 42
`, "failed", agents.Overloaded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, end := play(t, recorded(t, name))
			require.Equal(t, want.events, got)
			require.NotNil(t, end)
			require.Equal(t, want.status, end.status)
			err := end.err()
			if want.kind == "" {
				require.NoError(t, err)
				return
			}
			var e *agents.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, want.kind, e.Kind)
		})
	}
}

// The kind of an error is read from its typed facts alone.
func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	for info, want := range map[string]agents.ErrorKind{
		`{"httpConnectionFailed":{"httpStatusCode":401}}`:          agents.Auth,
		`{"responseStreamDisconnected":{"httpStatusCode":403}}`:    agents.Auth,
		`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`: agents.RateLimit,
		`{"httpConnectionFailed":{"httpStatusCode":500}}`:          agents.Overloaded,
		`{"httpConnectionFailed":{"httpStatusCode":502}}`:          agents.Network,
		`{"httpConnectionFailed":{"httpStatusCode":400}}`:          agents.Protocol,
		`{"httpConnectionFailed":{"httpStatusCode":null}}`:         agents.Network,
		`"unauthorized"`:          agents.Auth,
		`"usageLimitExceeded"`:    agents.Quota,
		`"rateLimitExceeded"`:     agents.RateLimit,
		`"serverOverloaded"`:      agents.Overloaded,
		`"contextWindowExceeded"`: agents.Protocol,
		`"other"`:                 agents.Network,
		`null`:                    agents.Network,
		`{"new":true}`:            agents.Protocol,
	} {
		e := (&turnError{Message: "401 429 500", Info: []byte(info)}).typed()
		require.Equal(t, want, e.Kind, info)
		require.Equal(t, agents.FromProvider, e.Source)
	}
}

// Items that the recordings do not have.
func TestItems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ item, want string }{
		"a login shell":    {`"type":"commandExecution","command":"/bin/bash -lc 'echo \"a b\" '\\''c'\\'''","exitCode":0,"status":"completed"`, `execute echo "a b" 'c'|completed`},
		"no shell":         {`"type":"commandExecution","command":"ls -l","exitCode":2,"status":"failed","aggregatedOutput":"no"`, `execute ls -l|failed no`},
		"a skill":          {`"type":"commandExecution","command":"bash -c 'cat /home/agent/.codex/skills/pdf/SKILL.md'","exitCode":0,"status":"completed"`, `skill pdf cat /home/agent/.codex/skills/pdf/SKILL.md|completed`},
		"no skill of ours": {`"type":"commandExecution","command":"bash -c 'cat skills/pdf/SKILL.md'","exitCode":0,"status":"completed"`, `execute cat skills/pdf/SKILL.md|completed`},
		"more than a read": {`"type":"commandExecution","command":"bash -c 'cat /home/agent/.codex/skills/pdf/SKILL.md | wc'","exitCode":0,"status":"completed"`, `execute cat /home/agent/.codex/skills/pdf/SKILL.md | wc|completed`},
		"files":            {`"type":"fileChange","changes":[{"path":"/workspace/a.txt","kind":{"type":"add"}},{"path":"/etc/x","kind":{"type":"update"}}],"status":"completed"`, `edit a.txt,/etc/x|completed`},
		"a file less":      {`"type":"fileChange","changes":[{"path":"/workspace/a.txt","kind":{"type":"delete"}}],"status":"declined"`, `delete a.txt|denied`},
		"a tool":           {`"type":"mcpToolCall","server":"db","tool":"query","arguments":{"sql":"x"},"status":"failed","error":{"message":"no table"}`, `other mcp__db__query|failed no table`},
		"a search":         {`"type":"webSearch","query":"x"`, `fetch web_search|completed`},
		"a sub-agent":      {`"type":"collabAgentToolCall","tool":"spawnAgent","status":"completed"`, `agent spawnAgent|completed`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDecoder("/workspace", "/home/agent/.codex")
			f := decodeFrame([]byte(`{"method":"item/completed","params":{"item":{"id":"1",`+tc.item+`}}}`), false)
			require.Nil(t, f.fault)
			events, end := d.decode(f)
			require.Nil(t, end)
			require.Len(t, events, 2)
			c := events[0].Call
			got := []string{string(c.Kind)}
			if c.Skill != "" {
				got = append(got, c.Skill)
			}
			if at := strings.Join(append(c.Commands, strings.Join(c.Paths, ",")), ""); at != "" {
				got = append(got, at)
			} else {
				got = append(got, c.Name)
			}
			require.Equal(t, tc.want, strings.Join(got, " ")+"|"+strings.TrimSuffix(string(events[1].Status)+" "+events[1].Output, " "))
			again, _ := d.decode(f)
			require.Empty(t, again, "it is told once")
		})
	}
}

// What another thread does is a sub-agent's, and no end of the turn.
func TestOtherThreads(t *testing.T) {
	t.Parallel()
	d := newDecoder("/w", "/h")
	d.thread = "main"
	for thread, n := range map[string]int{"sub": 0, "main": 1} {
		for _, line := range []string{
			`{"method":"item/started","params":{"threadId":"` + thread + `","item":{"id":"1","type":"commandExecution","command":"ls"}}}`,
		} {
			events, _ := d.decode(decodeFrame([]byte(line), false))
			require.Len(t, events, n)
		}
		_, end := d.decode(decodeFrame([]byte(`{"method":"turn/completed","params":{"threadId":"`+thread+`","turn":{"status":"completed"}}}`), false))
		require.Equal(t, n == 1, end != nil)
	}
}

// A line that is no message ends the session, with what it was.
func TestBrokenLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line string
		cut  bool
		want string
	}{
		{`{"method":"item/started","par`, true, "the stream ended within a line"},
		{`{"method":"item/sta{"method":"turn/completed"}`, false, "a line is no JSON"},
		{`[1,2]`, false, "a line is no JSON"},
		{`{"hello":"world"}`, false, "a line is no message"},
		{`Error: no such file`, false, "a line is no JSON"},
	} {
		f := decodeFrame([]byte(tc.line), tc.cut)
		require.NotNil(t, f.fault, tc.line)
		require.Equal(t, agents.Protocol, f.fault.Kind)
		require.ErrorContains(t, f.fault, tc.want)
		require.ErrorContains(t, f.fault, strings.Trim(fmt.Sprintf("%q", tc.line[:4]), `"`))
	}
	f := decodeFrame([]byte(`{"params":{"new":[1]},"emittedAtMs":3,"method":"thread/news"}`), false)
	require.Nil(t, f.fault)
	events, end := newDecoder("/w", "/h").decode(f)
	require.Empty(t, events)
	require.Nil(t, end)
}

// Whatever a stream says, what is made of it is a trajectory.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"run", "approval-gate", "interrupt", "error-529"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		d := newDecoder("/workspace", "/home/agent/.codex")
		open := map[string]bool{}
		for line := range bytes.Lines(stream) {
			fr := decodeFrame(line, false)
			if fr.fault != nil {
				return
			}
			events, end := d.decode(fr)
			for _, e := range events {
				if e.Kind == agents.EventCall {
					require.False(t, open[e.Call.ID], "announced twice")
					open[e.Call.ID] = true
				}
				if e.Kind == agents.EventStatus {
					require.True(t, open[e.CallID], "an end without a beginning")
				}
			}
			if end != nil {
				var e *agents.Error
				if err := end.err(); err != nil && !errors.As(err, &e) {
					t.Fatalf("%v is no *agents.Error", err)
				}
			}
		}
	})
}
