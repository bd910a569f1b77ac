package gateway_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestHeldRequest(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	g := open(t, gateway.Options{Script: []script.Step{script.Say("hi")}, Admit: func(ctx context.Context, r gateway.Request) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := begin(t, g, "Go.").send(ctx)
		gone <- err
	}()
	eventually(t, func() bool { return len(g.Log()) == 1 && g.Log()[0].State == gateway.Held }, "held")
	// Counting tokens is no model request.
	resp, err := do(t, request(t.Context(), t, g, "/v1/messages/count_tokens", begin(t, g, "Go.").body()))
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	require.Contains(t, string(data), `"input_tokens":2`)

	leave()
	require.ErrorIs(t, <-gone, context.Canceled)
	eventually(t, func() bool { return g.Log()[0].State == gateway.Cut }, "cut when the agent goes away")
	require.True(t, g.Log()[0].Admitted.IsZero())

	close(release)
	require.Equal(t, "hi", begin(t, g, "Go.").ask().Content[0].Text)
	require.Len(t, g.Log(), 2)
}

func TestRefusedRequestGetsNoAnswer(t *testing.T) {
	t.Parallel()
	g := open(t, gateway.Options{Script: []script.Step{script.Say("hi")},
		Admit: func(context.Context, gateway.Request) error { return errors.New("no more") }})
	resp, err := begin(t, g, "Go.").send(t.Context())
	if err == nil {
		resp.Body.Close()
	}
	require.Error(t, err)
	require.Equal(t, gateway.Refused, g.Log()[0].State)
	require.Zero(t, g.Log()[0].Status)
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	g := open(t, gateway.Options{
		Script: []script.Step{script.Wait(time.Hour), script.Say("hi")},
		Admit: func(ctx context.Context, r gateway.Request) error {
			if r.N > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}})
	gone := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := begin(t, g, "Go.").send(t.Context())
			gone <- err
		}()
	}
	eventually(t, func() bool { return len(g.Log()) == 2 }, "both are there")
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	require.Error(t, <-gone)
	require.Error(t, <-gone)
	for _, x := range g.Log() {
		require.Equal(t, gateway.Cut, x.State)
	}
	_, err := begin(t, g, "Go.").send(t.Context())
	require.Error(t, err)
}

func TestCancelledRequestStopsAtOnce(t *testing.T) {
	t.Parallel()
	g := scripted(t, script.Together(script.Run("one"), script.Gap(time.Hour), script.Run("two")))
	ctx, leave := context.WithCancel(t.Context())
	resp, err := begin(t, g, "Go.").send(ctx)
	require.NoError(t, err)
	defer resp.Body.Close()
	leave()
	eventually(t, func() bool { return g.Log()[0].State == gateway.Cut }, "cut")
	require.Empty(t, g.Log()[0].Stop)
}
