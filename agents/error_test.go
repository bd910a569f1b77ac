package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

func TestErrorfKnowsWhatMayWorkLater(t *testing.T) {
	t.Parallel()
	for kind, want := range map[agents.ErrorKind]bool{
		agents.Missing: false, agents.Auth: false, agents.Quota: false, agents.SetupError: false, agents.Interrupted: false,
		agents.Harness: false, agents.Judge: false, agents.Contract: false,
		agents.RateLimit: true, agents.Overloaded: true, agents.Network: true, agents.Protocol: true, agents.Crash: true, agents.Timeout: true,
	} {
		assert.Equal(t, want, agents.Errorf(kind, agents.FromProvider, "x").Retryable, kind)
	}
}

func TestAnErrorIsItsCause(t *testing.T) {
	t.Parallel()
	err := agents.Errorf(agents.Network, agents.FromProvider, "read: %w", io.ErrUnexpectedEOF)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, "network (provider): read: unexpected EOF", err.Error())
}

func TestAsError(t *testing.T) {
	t.Parallel()
	assert.Nil(t, agents.AsError(nil, agents.Crash, agents.FromAgent))
	typed := agents.Errorf(agents.Auth, agents.FromProvider, "401")
	assert.Same(t, typed, agents.AsError(typed, agents.Crash, agents.FromAgent))
	assert.Same(t, typed, agents.AsError(fmt.Errorf("wrapped: %w", typed), agents.Crash, agents.FromAgent))
	assert.Same(t, typed, agents.AsError(errors.Join(context.Canceled, typed), agents.Crash, agents.FromAgent))
	got := agents.AsError(io.EOF, agents.Crash, agents.FromAgent)
	assert.Equal(t, &agents.Error{Kind: agents.Crash, Source: agents.FromAgent, Retryable: true, Err: io.EOF}, got)
}

func TestAnErrorSurvivesItsRecord(t *testing.T) {
	t.Parallel()
	want := &agents.Error{Kind: agents.RateLimit, Source: agents.FromProvider, Retryable: true, RetryAfter: 1500 * time.Millisecond, Err: errors.New("429: \"slow\"")}
	data, err := json.Marshal(want)
	require.NoError(t, err)
	var got agents.Error
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, want.Error(), got.Error())
	got.Err = want.Err
	assert.Equal(t, *want, got)
}
