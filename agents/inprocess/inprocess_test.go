package inprocess_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
)

// run opens a session of a program that answers with answer, sends one message, and closes it.
func run(t *testing.T, setup agents.Setup, answer inprocess.Answer, see ...func(agents.Event) bool) (*agents.Trajectory, error, agents.Final, error) {
	t.Helper()
	agent := inprocess.New(agents.Info{Name: "mine"}, func(*inprocess.Session) (inprocess.Answer, error) { return answer, nil })
	s, err := agent.Open(t.Context(), setup)
	require.NoError(t, err)
	tr := new(agents.Trajectory)
	var failed error
	for e, err := range s.Send(t.Context(), "Go.") {
		if err != nil {
			failed = err
			break
		}
		require.NoError(t, tr.Append(e))
		if len(see) > 0 && !see[0](e) {
			break
		}
	}
	final, closeErr := s.Close()
	for _, e := range final.Tail {
		require.NoError(t, tr.Append(e))
	}
	return tr, failed, final, closeErr
}

var aCall = agents.ToolCall{ID: "1", Kind: agents.Execute, Name: "shell", Commands: []string{"ls"}}

// What a call came to is told by what its function returns.
func TestCalls(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, agents.ToolCall) agents.Decision { return agents.Decision{Reason: "not now"} }
	for _, tc := range []struct {
		name   string
		permit func(context.Context, agents.ToolCall) agents.Decision
		f      func(context.Context) (string, error)
		status agents.Status
		output string
		failed agents.ErrorKind // of the session
	}{
		{"done", nil, func(context.Context) (string, error) { return "out", nil }, agents.Completed, "out", ""},
		{"failed", nil, func(context.Context) (string, error) { return "out", errors.New("exit status 1") }, agents.Failed, "out\nexit status 1", ""},
		{"failed in silence", nil, func(context.Context) (string, error) { return "", errors.New("exit status 1") }, agents.Failed, "exit status 1", ""},
		{"turned away", nil, func(context.Context) (string, error) { return "", fmt.Errorf("%w: no such tool", inprocess.ErrNotRun) }, agents.Denied, "not run: no such tool", ""},
		{"cut", nil, func(context.Context) (string, error) { return "half", inprocess.ErrCut }, agents.Unresolved, "half", ""},
		{"refused", refuse, func(context.Context) (string, error) { panic("it must not run") }, agents.Denied, "not now", ""},
		{"broken", nil, func(context.Context) (string, error) {
			return "", agents.Errorf(agents.Network, agents.FromProvider, "gone")
		}, agents.Unresolved, "", agents.Network},
		{"a context of its own", nil, func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Nanosecond)
			defer cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}, agents.Failed, "context deadline exceeded", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tr, failed, _, err := run(t, agents.Setup{Permit: tc.permit}, func(turn *inprocess.Turn) error {
				output, status, err := turn.Call("a", aCall, tc.f)
				if output != tc.output || status != tc.status || (err == nil) != (status == agents.Completed) {
					return fmt.Errorf("the program sees %q, %s and %w", output, status, err)
				}
				return nil
			})
			require.NoError(t, err)
			if tc.failed == "" {
				require.NoError(t, failed)
			} else {
				var e *agents.Error
				require.ErrorAs(t, failed, &e)
				require.Equal(t, tc.failed, e.Kind)
			}
			c, ok := tr.Call("1")
			require.True(t, ok)
			require.Equal(t, tc.status, c.Status)
			if c.Status.Settled() {
				require.Equal(t, tc.output, tr.Output("1"))
			}
			require.Equal(t, "a", c.Message)
		})
	}
}

// A call that the agent itself turns away is not asked about.
func TestRefuse(t *testing.T) {
	t.Parallel()
	asked := false
	permit := func(context.Context, agents.ToolCall) agents.Decision {
		asked = true
		return agents.Decision{Allow: true}
	}
	tr, failed, _, err := run(t, agents.Setup{Permit: permit}, func(turn *inprocess.Turn) error {
		call, ok := turn.Begin("", aCall)
		if !ok {
			return errors.New("interrupted")
		}
		call.Refuse("not offered")
		return nil
	})
	require.NoError(t, failed)
	require.NoError(t, err)
	require.False(t, asked)
	c, _ := tr.Call("1")
	require.Equal(t, agents.Denied, c.Status)
}

// An error of the program, or a panic, is a crash of the agent's, and ends the session.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]inprocess.Answer{
		"error": func(*inprocess.Turn) error { return errors.New("boom") },
		"panic": func(*inprocess.Turn) error { panic("boom") },
		"panic of a call": func(turn *inprocess.Turn) error {
			_, _, err := turn.Call("", aCall, func(context.Context) (string, error) { panic("boom") })
			return err
		},
		"panic elsewhere": func(turn *inprocess.Turn) error {
			go turn.Guard(func() { panic("boom") })
			<-turn.Context().Done()
			return turn.Context().Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, failed, _, err := run(t, agents.Setup{}, answer)
			require.NoError(t, err)
			var e *agents.Error
			require.ErrorAs(t, failed, &e)
			require.Equal(t, agents.Crash, e.Kind)
			require.Equal(t, agents.FromAgent, e.Source)
			require.ErrorContains(t, failed, "boom")
		})
	}
}

// What open could not do is an error of the setup; what it had done is undone.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		kind agents.ErrorKind
	}{{errors.New("no config"), agents.SetupError}, {fmt.Errorf("login: %w", agents.Errorf(agents.Auth, agents.FromAgent, "no key")), agents.Auth}} {
		undone := []int{}
		agent := inprocess.New(agents.Info{Name: "mine"}, func(s *inprocess.Session) (inprocess.Answer, error) {
			for i := range 2 {
				s.OnClose(func() error { undone = append(undone, i); return nil })
			}
			return nil, tc.err
		})
		_, err := agent.Open(t.Context(), agents.Setup{})
		var e *agents.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, tc.kind, e.Kind)
		require.Equal(t, []int{1, 0}, undone)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := inprocess.New(agents.Info{Name: "mine"}, nil).Open(ctx, agents.Setup{})
	var e *agents.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, agents.Interrupted, e.Kind)
}

// What is told after the loop was left is in the tail where it must not be lost, and the usage counts.
func TestTail(t *testing.T) {
	t.Parallel()
	_, failed, final, err := run(t, agents.Setup{}, func(turn *inprocess.Turn) error {
		turn.Emit(agents.Spent(agents.Usage{OutputTokens: 3}))
		turn.Emit(agents.Say("leave now"))
		turn.Emit(agents.Say("too late"))
		turn.Emit(agents.Spent(agents.Usage{OutputTokens: 4}))
		return turn.Context().Err()
	}, func(e agents.Event) bool { return e.Kind != agents.EventMessage })
	require.NoError(t, failed)
	require.NoError(t, err)
	require.Len(t, final.Tail, 1)
	require.Equal(t, agents.EventUsage, final.Tail[0].Kind)
	require.Equal(t, int64(7), final.Usage.OutputTokens)
}

// A program that does not heed its context is waited for, and told of.
func TestProgramThatDoesNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, failed, _, err := run(t, agents.Setup{}, func(turn *inprocess.Turn) error {
			turn.Emit(agents.Say("leave now"))
			time.Sleep(time.Hour)
			return nil
		}, func(agents.Event) bool { return false })
		require.NoError(t, failed)
		var e *agents.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, agents.Harness, e.Kind)
		require.ErrorContains(t, err, "has not returned")
		require.Less(t, time.Since(began), time.Minute)
		time.Sleep(time.Hour)
	})
}

// What a session shows of the agent is in its end.
func TestAnswered(t *testing.T) {
	t.Parallel()
	agent := inprocess.New(agents.Info{Name: "mine"}, func(s *inprocess.Session) (inprocess.Answer, error) {
		s.Answered("1", "")
		return func(turn *inprocess.Turn) error {
			s.Answered("", "m-1")
			if !turn.Sleep(time.Nanosecond) {
				return errors.New("interrupted")
			}
			return s.Context().Err()
		}, nil
	})
	require.Equal(t, agents.Kinds, agent.Info().Gates)
	s, err := agent.Open(t.Context(), agents.Setup{})
	require.NoError(t, err)
	for _, err := range s.Send(t.Context(), "Go.") {
		require.NoError(t, err)
	}
	final, err := s.Close()
	require.NoError(t, err)
	require.Equal(t, "1", final.Version)
	require.Equal(t, "m-1", final.Model)
}
