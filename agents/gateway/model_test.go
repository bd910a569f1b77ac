package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

func newModel(t testing.TB, wire agents.Wire, steps ...script.Step) *gateway.Model {
	t.Helper()
	m, err := gateway.NewModel(wire, steps...)
	require.NoError(t, err)
	return m
}

// post makes a request of a client that knows nothing of the model.
func (s speaker) post(ctx context.Context, t testing.TB, m *gateway.Model, streams bool, history []any) (*http.Response, error) {
	t.Helper()
	data, err := json.Marshal(s.body(history, s.tools(), streams))
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example.com/company"+s.path(streams), bytes.NewReader(data))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer whatever")
	return (&http.Client{Transport: m}).Do(r)
}

// The same conversation in memory, in no time.
func TestModelInMemory(t *testing.T) {
	each(t, func(t *testing.T, s speaker, streams bool) {
		synctest.Test(t, func(t *testing.T) {
			m := newModel(t, s.wire, script.Wait(time.Hour), script.Call("mcp__db__query", map[string]any{"sql": "select 1"}), script.Wait(time.Hour), script.Say(long))
			history := []any{s.prompt("Go.")}
			began := time.Now()
			for _, want := range []string{"", long} {
				resp, err := s.post(t.Context(), t, m, streams, history)
				require.NoError(t, err)
				data, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, http.StatusOK, resp.StatusCode, "%s", data)
				var a said
				if streams {
					a = s.stream(t, events(data))
				} else {
					a = s.whole(t, data)
				}
				require.Equal(t, want, a.Text)
				history = append(history, a.Repeat...)
				for _, c := range a.Calls {
					history = append(history, s.result(c, "42"))
				}
			}
			require.Equal(t, 2*time.Hour, time.Since(began))
			got := m.Requests()
			require.Len(t, got, 2)
			require.Contains(t, string(got[0].Body), "Go.")
			require.NotContains(t, string(got[0].Body), "42")
			require.Contains(t, string(got[1].Body), "42")
			require.Equal(t, "Bearer whatever", got[1].Header.Get("Authorization"))
			require.Equal(t, m.Log()[0].Calls, got[1].Results)
			require.Equal(t, 2, got[1].N)
		})
	})
}

// What fails, fails as it would over a connection.
func TestModelFails(t *testing.T) {
	t.Parallel()
	s := speakers[2]
	fail := func(kind agents.ErrorKind) *gateway.Model {
		return newModel(t, s.wire, script.Fail(agents.Errorf(kind, agents.FromProvider, "no luck")))
	}
	resp, err := s.post(t.Context(), t, fail(agents.RateLimit), true, []any{s.prompt("Go.")})
	require.NoError(t, err)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.NoError(t, resp.Body.Close())

	resp, err = s.post(t.Context(), t, fail(agents.Network), true, []any{s.prompt("Go.")})
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.NoError(t, resp.Body.Close())

	_, err = s.post(t.Context(), t, fail(agents.Network), false, []any{s.prompt("Go.")})
	require.ErrorIs(t, err, syscall.ECONNRESET)

	_, err = gateway.NewModel("smoke-signals")
	require.ErrorContains(t, err, "known: anthropic-messages")
}

// A client that goes away ends the request, wherever it is.
func TestClientOfAModelGoesAway(t *testing.T) {
	t.Parallel()
	s := speakers[0]
	why := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, s.wire, script.Wait(time.Hour), script.Say("late"))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		_, err := s.post(ctx, t, m, true, []any{s.prompt("Go.")})
		require.ErrorIs(t, err, why)
		synctest.Wait()
		require.Equal(t, gateway.Cut, m.Log()[0].State)
	})
	synctest.Test(t, func(t *testing.T) { // in the middle of an answer
		m := newModel(t, s.wire, script.Together(script.Say("begun"), script.Gap(time.Hour), script.Run("ls")))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		resp, err := s.post(ctx, t, m, true, []any{s.prompt("Go.")})
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.ErrorIs(t, err, why)
		require.Contains(t, string(data), "begun")
		require.NoError(t, resp.Body.Close())
	})
	synctest.Test(t, func(t *testing.T) { // without a look at the answer
		m := newModel(t, s.wire, script.Say(strings.Repeat("long ", 100_000)))
		resp, err := s.post(t.Context(), t, m, true, []any{s.prompt("Go.")})
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		synctest.Wait()
		require.Equal(t, gateway.Cut, m.Log()[0].State)
		_, err = resp.Body.Read(make([]byte, 1))
		require.Error(t, err)
	})
}

// A client of an author's own, and what it asked.
func ExampleModel() {
	model, err := gateway.NewModel(agents.OpenAIChat, script.Say("An animal."))
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: model}
	resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"What is a gopher?"}]}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		panic(err)
	}
	fmt.Println(answer.Choices[0].Message.Content)
	fmt.Println(string(model.Requests()[0].Body))
	// Output:
	// An animal.
	// {"model":"m","messages":[{"role":"user","content":"What is a gopher?"}]}
}
