package claude_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Holding a request and cutting there is how a trial is stopped.
func TestCutAtHeldRequest(t *testing.T) {
	t.Parallel()
	held := make(chan string, 1)
	b := open(t, []script.Step{
		script.Run("touch one"), script.Together(script.Run("touch two"), script.Run("touch three")), script.Run("touch four"),
	}, admit(func(ctx context.Context, r gateway.Request) error {
		if len(r.Results) < 2 {
			return nil
		}
		held <- r.Answer
		<-ctx.Done()
		return ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-held
		cancel()
	}()
	err := b.follow(ctx, "Go.", func(agents.Event) bool { return true })
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	f := b.close()
	require.Len(t, b.gateway.Log(), 3, "no request after the one that was held")
	require.Equal(t, gateway.Cut, b.gateway.Log()[2].State)
	require.Equal(t, 3, b.tr.Tally("all", func(agents.ToolCall) bool { return true }).Completed)
	b.requireNoFile("four")
	require.Equal(t, b.served().OutputTokens, f.Usage.OutputTokens, "what was paid for is counted")
	require.NotNil(t, b.send("More."), "an interrupted session is over")
}

func TestBreakInTool(t *testing.T) {
	t.Parallel()
	b := open(t, []script.Step{
		script.Write("slow.sh", "echo $$ > pid\nsleep 60 & sleep 60\n"), script.Run("bash ./slow.sh"), script.Run("touch after"),
	})
	start := time.Now()
	require.Nil(t, b.follow(t.Context(), "Go.", func(e agents.Event) bool {
		if e.Kind != agents.EventCall || e.Call.Kind != agents.Execute {
			return true
		}
		require.Eventually(t, func() bool {
			data, err := os.ReadFile(filepath.Join(b.dir, "pid"))
			return err == nil && len(data) > 0
		}, 20*time.Second, 20*time.Millisecond)
		return false
	}))
	f := b.close()
	require.Less(t, time.Since(start), 40*time.Second)
	b.requireNoFile("after")
	require.Len(t, b.gateway.Log(), 2)
	calls := b.calls()
	for _, e := range f.Tail {
		require.NoError(t, b.tr.Append(e))
		if e.Kind == agents.EventStatus && e.CallID == calls[1].ID {
			require.Equal(t, agents.Unresolved, e.Status, "a call that was stopped while it ran may have run in part")
		}
	}
	requireGone(t, b.dir)
}

func TestPermit(t *testing.T) {
	t.Parallel()
	var b *bench
	asked := make(chan agents.ToolCall, 20)
	b = open(t, []script.Step{
		script.Run("ls"), script.Read("seen.txt"), script.Run("touch refused"),
		script.Agent("Sub.", script.Run("touch refused-too"), script.Run("touch allowed")),
		script.Together(script.Run("touch refused-3"), script.Run("touch allowed-2")),
	}, setup(func(s *agents.Setup) {
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "seen.txt"), []byte("x"), 0o644))
		s.Permit = func(_ context.Context, c agents.ToolCall) agents.Decision {
			_, announced := b.tr.Call(c.ID)
			require.True(t, announced, "asked about a call that was not yielded")
			asked <- c
			refuse := len(c.Commands) > 0 && strings.Contains(c.Commands[0], "refused")
			return agents.Decision{Allow: !refuse, Reason: "because"}
		}
	}))
	require.Nil(t, b.send("Go."))
	close(asked)
	var ids []string
	for c := range asked {
		ids = append(ids, c.ID)
	}
	calls := b.calls()
	require.Len(t, calls, 8)
	for _, c := range calls {
		require.Contains(t, ids, c.ID, "%s %v was asked about", c.Name, c.Commands)
		want := agents.Completed
		if len(c.Commands) > 0 && strings.Contains(c.Commands[0], "refused") {
			want = agents.Denied
			require.Contains(t, b.tr.Output(c.ID), "because")
		}
		require.Equal(t, want, c.Status, "%s %v", c.Name, c.Commands)
	}
	for _, name := range []string{"refused", "refused-too", "refused-3"} {
		b.requireNoFile(name)
	}
	require.Equal(t, "", b.file("allowed"))
	require.Equal(t, "", b.file("allowed-2"))
}

// A decision may take its time; an interruption meanwhile refuses.
func TestInterruptWhilePermitBlocks(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	b := open(t, []script.Step{script.Run("touch never")}, setup(func(s *agents.Setup) {
		s.Permit = func(ctx context.Context, _ agents.ToolCall) agents.Decision {
			close(asked)
			<-ctx.Done()
			return agents.Decision{Allow: true}
		}
	}))
	go func() {
		<-asked
		cancel()
	}()
	err := b.follow(ctx, "Go.", func(agents.Event) bool { return true })
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	b.close()
	b.requireNoFile("never")
}

func TestCloseWhileSending(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	b := open(t, []script.Step{script.Run("touch a"), script.Wait(time.Hour), script.Run("touch b")})
	go func() {
		<-reached
		_, _ = b.session.Close()
	}()
	err := b.follow(t.Context(), "Go.", func(e agents.Event) bool {
		if e.Kind == agents.EventStatus {
			close(reached)
		}
		return true
	})
	require.NotNil(t, err)
	require.Equal(t, agents.Interrupted, err.Kind)
	b.close()
	requireGone(t, b.dir)
}
