package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func TestProviderFailures(t *testing.T) {
	t.Parallel()
	fail := func(k agents.ErrorKind) *agents.Error { return agents.Errorf(k, agents.FromProvider, "no luck") }
	limited := fail(agents.RateLimit)
	limited.RetryAfter = 1500 * time.Millisecond
	for name, test := range map[string]struct {
		err    error
		status int
		kind   string
	}{
		"auth":       {fail(agents.Auth), 401, "authentication_error"},
		"quota":      {fail(agents.Quota), 402, "billing_error"},
		"rate limit": {limited, 429, "rate_limit_error"},
		"overloaded": {fail(agents.Overloaded), 529, "overloaded_error"},
		"untyped":    {errors.New("no luck"), 529, "overloaded_error"},
		"other":      {fail(agents.Crash), 500, "api_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := scripted(t, script.Run("ls"), script.Fail(test.err), script.Say("never"))
			c := begin(t, g, "Go.")
			c.next()
			for range 2 { // each time it is asked
				resp, err := c.send(t.Context())
				require.NoError(t, err)
				data, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				resp.Body.Close()
				require.Equal(t, test.status, resp.StatusCode)
				require.JSONEq(t, fmt.Sprintf(`{"type":"error","request_id":"req_scripted","error":{"type":%q,"message":"no luck"}}`, test.kind), string(data))
				if errors.Is(test.err, limited) {
					require.Equal(t, "2", resp.Header.Get("Retry-After"), "whole seconds, rounded up")
				}
			}
			x := g.Log()[2]
			require.Equal(t, test.kind, x.Error)
			require.Equal(t, gateway.Answered, x.State)
			require.Zero(t, x.Usage)
		})
	}
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		for _, kind := range []agents.ErrorKind{agents.Network, agents.Protocol} {
			t.Run(fmt.Sprintf("%s stream %v", kind, stream), func(t *testing.T) {
				t.Parallel()
				c := begin(t, scripted(t, script.Fail(agents.Errorf(kind, agents.FromProvider, "no luck"))), "Go.")
				c.stream = stream
				resp, err := c.send(t.Context())
				if err != nil {
					require.False(t, stream, "a stream begins before it is cut")
					require.Equal(t, agents.Network, kind)
					return
				}
				defer resp.Body.Close()
				require.Equal(t, 200, resp.StatusCode)
				if stream {
					_, err = readStream(resp.Body, nil)
				} else {
					data, _ := io.ReadAll(resp.Body)
					err = json.Unmarshal(data, &object{})
				}
				require.Error(t, err)
			})
		}
	}
}

func TestHangingProvider(t *testing.T) {
	t.Parallel()
	g := scripted(t, script.Fail(agents.Errorf(agents.Timeout, agents.FromProvider, "no luck")))
	ctx, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer leave()
	_, err := begin(t, g, "Go.").send(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	eventually(t, func() bool { return g.Log()[0].State == gateway.Cut }, "cut")
}
