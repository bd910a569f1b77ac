package agents_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status             agents.Status
		ran, settled, open bool
	}{
		{agents.Pending, false, false, true},
		{agents.InProgress, false, false, true},
		{agents.Completed, true, true, false},
		{agents.Failed, true, true, false},
		{agents.Denied, false, true, false},
		{agents.Unresolved, false, false, true},
	} {
		assert.Equal(t, []bool{c.ran, c.settled, c.open}, []bool{c.status.Ran(), c.status.Settled(), c.status.Open()}, c.status)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	i := agents.Info{Gates: []agents.Kind{agents.Edit}}
	assert.True(t, i.CanShow(agents.Execute), "no list of what is shown: all")
	assert.False(t, i.CanGate(agents.Execute), "only what is listed is gated")
	assert.True(t, i.CanGate(agents.Edit))
	i.Shows = []agents.Kind{agents.Edit}
	assert.False(t, i.CanShow(agents.Execute))
	assert.True(t, i.CanShow(agents.Edit))
	i.Shows = []agents.Kind{}
	assert.False(t, i.CanShow(agents.Edit), "an empty list: none")
	assert.Len(t, agents.Kinds, 11)
}

func TestUnderMovesACallWithItsEvent(t *testing.T) {
	t.Parallel()
	e := agents.Begin(agents.ToolCall{ID: "a"}).In("m").Under("sub")
	assert.Equal(t, "sub", e.Parent)
	assert.Equal(t, "sub", e.Call.Parent)
	assert.Equal(t, "m", e.Message)
	assert.Equal(t, "p", agents.Begin(agents.ToolCall{ID: "a", Parent: "p"}).Parent)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	u := agents.Usage{InputTokens: 1, OutputTokens: 2, CachedTokens: 4, Cost: 0.5}
	assert.EqualValues(t, 7, u.Tokens())
	assert.Equal(t, agents.Usage{InputTokens: 2, OutputTokens: 4, CachedTokens: 8, Cost: 1}, u.Add(u))
}

func TestARecordThatIsNotThereDiscards(t *testing.T) {
	t.Parallel()
	var none *agents.Record
	assert.Equal(t, io.Discard, none.RawTo())
	assert.Equal(t, io.Discard, none.StderrTo())
	var b strings.Builder
	r := &agents.Record{Raw: &b}
	assert.Equal(t, io.Writer(&b), r.RawTo())
	assert.Equal(t, io.Discard, r.StderrTo())
}

func TestTurnsAreTheAnswersOfTheMainThread(t *testing.T) {
	t.Parallel()
	call := func(id string) agents.Event { return agents.Begin(agents.ToolCall{ID: id}) }
	for _, c := range []struct {
		name   string
		events []agents.Event
		want   int
	}{
		{"none", []agents.Event{agents.Prompt("p"), agents.Request()}, 0},
		{"one with two calls and a text", []agents.Event{agents.Request(), agents.Say("x").In("1"), call("a").In("1"), call("b").In("1")}, 1},
		{"a sub-agent's answers between", []agents.Event{call("a").In("1"), call("b").In("s").Under("a"), call("c").In("1"), call("d").In("2")}, 2},
		{"no ids, but requests", []agents.Event{agents.Request(), call("a"), call("b"), agents.Request(), agents.Say("x")}, 2},
		{"neither", []agents.Event{agents.Say("x"), call("a"), call("b")}, 3},
	} {
		assert.Equal(t, c.want, agents.NewTrajectory(c.events...).Turns(), c.name)
	}
}

func TestReplyIsWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(agents.Prompt("p"), agents.Say("old").In("1"), agents.Say("one, ").In("2"), agents.Say("sub").In("s").Under("x"), agents.Say("two").In("2"))
	assert.Equal(t, "one, two", tr.Reply())
	require.NoError(t, tr.Append(agents.Prompt("q")))
	assert.Empty(t, tr.Reply(), "to the last prompt")
	assert.Equal(t, "one, ", tr.Prefix(3).Reply())
}

// registered is an agent; the registry keeps each one for good, so that no two have one address.
type registered struct{ agents.Agent }

func TestLookup(t *testing.T) {
	t.Parallel()
	a := &registered{}
	name := fmt.Sprintf("agents-test-%p", a) // one that -count=2 has not taken yet: names cannot be given back
	agents.Register(name, func() agents.Agent { return a })
	got, err := agents.Lookup(name)
	require.NoError(t, err)
	assert.Same(t, a, got)
	_, err = agents.Lookup("nobody")
	require.ErrorContains(t, err, `no agent is registered as "nobody"`)
	require.ErrorContains(t, err, name)
	assert.Panics(t, func() { agents.Register(name, func() agents.Agent { return a }) })
}
