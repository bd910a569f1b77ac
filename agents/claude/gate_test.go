package claude

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

const (
	question = `{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"a"}}}`
	dispatch = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}]}}`
)

// gated is a session without a CLI, and the replies that it gives.
func gated(permit func(context.Context, agents.ToolCall) agents.Decision) (s *session, replies chan agents.Decision, over context.CancelFunc) {
	ctx, over := context.WithCancel(context.Background())
	replies = make(chan agents.Decision, 9)
	s = &session{queue: newQueue(), dec: newDecoder("/ws")}
	s.gate = newGate(ctx, permit, func(_ *hook, d agents.Decision) { replies <- d })
	return s, replies, over
}

func TestGateWithoutPermitAllowsAtOnce(t *testing.T) {
	t.Parallel()
	s, replies, over := gated(nil)
	defer over()
	s.take([]byte(question))
	require.True(t, (<-replies).Allow)
}

func TestGateAsksAfterTheCallWasYielded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s, replies, over := gated(func(_ context.Context, c agents.ToolCall) agents.Decision {
			asked++
			require.Equal(t, []string{"ls"}, c.Commands)
			return agents.Decision{Reason: "no"}
		})
		defer over()
		s.take([]byte(question))
		s.take([]byte(dispatch))
		time.Sleep(time.Hour) // the reader of the events is slow
		synctest.Wait()
		require.Zero(t, asked)
		s.gate.tell("a")
		require.Equal(t, agents.Decision{Reason: "no"}, <-replies)
		require.Equal(t, 1, asked)
		i, _ := s.queue.pop()
		require.Equal(t, "a", i.event.Call.ID)
		_, ok := s.queue.pop()
		require.False(t, ok, "the call is told once")
	})
}

func TestGateTellsOfACallThatDoesNotShowUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, replies, over := gated(func(context.Context, agents.ToolCall) agents.Decision { return agents.Decision{Allow: true} })
		defer over()
		s.take([]byte(question))
		_, ok := s.queue.pop()
		require.False(t, ok)
		time.Sleep(lateness + time.Second)
		i, ok := s.queue.pop()
		require.True(t, ok)
		require.Equal(t, agents.EventCall, i.event.Kind)
		require.Equal(t, []string{"ls"}, i.event.Call.Commands)
		s.gate.tell("a")
		require.True(t, (<-replies).Allow)
		s.take([]byte(dispatch))
		_, ok = s.queue.pop()
		require.False(t, ok, "late, it is not told again")
	})
}

func TestGateRefusesAfterAnInterruption(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"not yielded": false, "deciding": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, replies, over := gated(func(ctx context.Context, _ agents.ToolCall) agents.Decision {
				<-ctx.Done()
				return agents.Decision{Allow: true}
			})
			s.take([]byte(question))
			if told {
				s.gate.tell("a")
			}
			over()
			require.False(t, (<-replies).Allow)
			s.gate.settle()
		})
	}
}
