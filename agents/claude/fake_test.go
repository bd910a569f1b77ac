package claude_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
)

// fakeCLI is a CLI that misbehaves: the test binary, started once more.
func fakeCLI(mode string) {
	in := bufio.NewReader(os.Stdin)
	prompted := func() {
		for {
			l, err := in.ReadString('\n')
			if err != nil || strings.Contains(l, `"type":"user"`) {
				return
			}
		}
	}
	const call = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}}]}}`
	switch mode {
	case "stubborn": // ignores the interruption, the end of its input, and the signal
		signal.Ignore(syscall.SIGTERM)
		prompted()
		fmt.Println(call)
		select {}
	case "deaf": // never reads
		fmt.Println(call)
		select {}
	case "exit": // ends well, it says, without having done anything
		prompted()
		fmt.Fprintln(os.Stderr, "first line\nlast words")
	case "half": // dies within a line
		prompted()
		fmt.Printf("%s\n%s", call, call[:40])
		os.Exit(3)
	case "talkative":
		prompted()
		fmt.Printf(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}`+"\n", strings.Repeat("x", 5<<20))
		fmt.Println(`{"type":"result","subtype":"success","is_error":false}`)
		_, _ = in.ReadString('\n')
	case "afterthought": // goes on after the turn
		prompted()
		fmt.Println(`{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"Done."}]}}`)
		fmt.Println(`{"type":"result","subtype":"success","is_error":false}`)
		fmt.Println(call)
		_, _ = in.ReadString('\n')
	case "twofold": // gives two calls one id, and would go on
		prompted()
		fmt.Println(call)
		fmt.Println(strings.Replace(call, `"x"`, `"y"`, 1))
		for {
			l, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.Contains(l, `"interrupt"`) {
				fmt.Println(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"","is_error":true}]},"tool_result_meta":[{"id":"a","non_execution_kind":"interrupted"}]}`)
				fmt.Println(`{"type":"result","subtype":"error_during_execution","is_error":true}`)
			}
		}
	}
}

func fake(t *testing.T, mode string, record *agents.Record) agents.Session {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := claude.New(claude.Path(self)).Open(t.Context(), agents.Setup{
		Dir: t.TempDir(), Home: t.TempDir(), Temp: t.TempDir(), Env: []string{"CLAUDE_TEST_FAKE=" + mode}, Record: record,
		Gateway: &agents.Endpoint{URL: "http://127.0.0.1:1", Token: "x"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = s.Close() })
	return s
}

// collect is what Send yields, and its error.
func collect(ctx context.Context, s agents.Session, prompt string) (events []agents.Event, failed *agents.Error) {
	for e, err := range s.Send(ctx, prompt) {
		if err != nil {
			errors.As(err, &failed)
			continue
		}
		events = append(events, e)
	}
	return events, failed
}

func TestStubbornCLIIsEnded(t *testing.T) {
	t.Parallel()
	s := fake(t, "stubborn", nil)
	start := time.Now()
	for e, err := range s.Send(t.Context(), "Go.") {
		require.NoError(t, err)
		require.Equal(t, agents.EventCall, e.Kind)
		break
	}
	_, err := s.Close()
	require.NoError(t, err)
	require.Less(t, time.Since(start), 30*time.Second)
	_, failed := collect(t.Context(), s, "Again.")
	require.Equal(t, agents.Harness, failed.Kind)
}

func TestDeafCLIIsEnded(t *testing.T) {
	t.Parallel()
	s := fake(t, "deaf", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, failed := collect(ctx, s, strings.Repeat("a prompt that fills every pipe ", 1<<16))
	require.Equal(t, agents.Interrupted, failed.Kind)
	require.ErrorIs(t, failed, context.DeadlineExceeded)
	_, err := s.Close()
	require.NoError(t, err)
	require.Less(t, time.Since(start), 30*time.Second)
}

func TestExitWithoutResultIsACrash(t *testing.T) {
	t.Parallel()
	var raw, stderr bytes.Buffer
	s := fake(t, "exit", &agents.Record{Raw: &raw, Stderr: &stderr})
	events, failed := collect(t.Context(), s, "Go.")
	require.Empty(t, events)
	require.Equal(t, agents.Crash, failed.Kind)
	require.Equal(t, agents.FromAgent, failed.Source)
	require.True(t, failed.Retryable)
	require.Contains(t, failed.Error(), "exit status 0")
	require.Contains(t, failed.Error(), "last words")
	_, err := s.Close()
	require.NoError(t, err)
	require.Equal(t, "first line\nlast words\n", stderr.String())
}

func TestHalfALineIsNoEvent(t *testing.T) {
	t.Parallel()
	var raw bytes.Buffer
	s := fake(t, "half", &agents.Record{Raw: &raw})
	events, failed := collect(t.Context(), s, "Go.")
	require.Len(t, events, 1)
	require.Equal(t, agents.Crash, failed.Kind)
	require.Contains(t, failed.Error(), "exit status 3")
	_, err := s.Close()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(raw.String(), "\n"), "the record has the half line too")
	require.Greater(t, len(raw.String()), 150)
}

func TestLinesHaveAnyLength(t *testing.T) {
	t.Parallel()
	events, failed := collect(t.Context(), fake(t, "talkative", nil), "Go.")
	require.Nil(t, failed)
	require.Len(t, events, 1)
	require.Len(t, events[0].Text, 5<<20)
}

func TestWhatComesAfterTheTurnIsTheTail(t *testing.T) {
	t.Parallel()
	s := fake(t, "afterthought", nil)
	events, failed := collect(t.Context(), s, "Go.")
	require.Nil(t, failed)
	require.Len(t, events, 1)
	f, err := s.Close()
	require.NoError(t, err)
	require.Len(t, f.Tail, 1)
	require.Equal(t, agents.EventCall, f.Tail[0].Kind)
}

// The agent is interrupted where it contradicts itself: what it does from there on cannot be followed.
func TestContradictionEndsTheTurn(t *testing.T) {
	t.Parallel()
	s := fake(t, "twofold", nil)
	events, failed := collect(t.Context(), s, "Go.")
	require.Len(t, events, 1)
	require.NotNil(t, failed)
	require.Equal(t, agents.Protocol, failed.Kind)
	require.Equal(t, agents.FromAgent, failed.Source)
	_, again := collect(t.Context(), s, "Again.")
	require.Equal(t, agents.Harness, again.Kind)
	f, err := s.Close()
	require.NoError(t, err)
	require.Len(t, f.Tail, 1)
	require.Equal(t, agents.Unresolved, f.Tail[0].Status, "the interruption was heard")
}

func TestCancelledBeforeSending(t *testing.T) {
	t.Parallel()
	s := fake(t, "exit", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, failed := collect(ctx, s, "Go.")
	require.Equal(t, agents.Interrupted, failed.Kind)
}
