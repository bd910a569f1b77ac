package evaltest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/chat"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// free is an agent that costs nothing, and does not say how it reaches its model.
type free struct{ agents.Agent }

func (f free) Info() agents.Info {
	i := f.Agent.Info()
	i.Live = false
	return i
}

func bare(t *testing.T, ask func(e *evaltest.T), opts ...evaltest.Option) (*evaltest.Result, *fakeTB) {
	t.Helper()
	var r *evaltest.Result
	tb := inFake(t.Name(), func(tb *fakeTB) {
		e := evaltest.New(tb, append([]evaltest.Option{evaltest.Agent(free{chat.New(agents.GeminiGenerate, chat.Model("m"))}), evaltest.Retries(0), evaltest.NoBreaker()}, opts...)...)
		ask(e)
		r = e.Run("The capital of France?")
	})
	return r, tb
}

// requestsIn is what a trial's record says of the requests to its model.
func requestsIn(t *testing.T, record string) (requests []gateway.Exchange) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(record, "requests.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &requests))
	require.NotEmpty(t, requests)
	return requests
}

// An agent with a model that is given no provider has the eval's script for a model, in the model's own wire format. A bare one
// offers no tools, and its requests count all the same.
func TestBareModel(t *testing.T) {
	t.Parallel()
	r, tb := bare(t, func(e *evaltest.T) { e.Expect(criteria.ReplyEquals("Paris.")) }, evaltest.Script(script.Say("Paris.")))
	require.NotNil(t, r, tb.text())
	assert.Equal(t, evaltest.OutcomePassed, r.Outcome, tb.text())
	assert.Contains(t, tb.text(), "its model played by the script")
	assert.Positive(t, r.Usage.OutputTokens)
	assert.Equal(t, "m", requestsIn(t, r.Trials[0].Record)[0].Model)

	_, tb = bare(t, func(e *evaltest.T) { e.Expect(criteria.ReplyEquals("Paris.")) },
		evaltest.Script(script.Fail(agents.Errorf(agents.Overloaded, agents.FromProvider, "busy"))))
	assert.Equal(t, "errored", tb.attrs["evaltest.outcome"], tb.text())
	assert.Contains(t, tb.text(), "overloaded (provider)")
	assert.False(t, requestsIn(t, tb.attrs["evaltest.record"])[0].Side)

	_, tb = bare(t, func(e *evaltest.T) { e.Expect(criteria.ReplyEquals("Paris.")) }, evaltest.Script(script.Run("ls"), script.Say("Paris.")))
	assert.Equal(t, "errored", tb.attrs["evaltest.outcome"], tb.text())
	assert.Contains(t, tb.text(), "the Script cannot be played on agent chat-gemini (request 1): gateway: script: no tool to execute with")

	_, tb = bare(t, func(e *evaltest.T) { e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm"))) }, evaltest.Script())
	assert.Contains(t, tb.text(), "MISUSE")
	assert.Contains(t, tb.text(), "does not show calls of kind execute")
}
