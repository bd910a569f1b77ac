package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/agenttest"
	"github.com/evaltest-go/evaltest/agents/replay"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
	"github.com/evaltest-go/evaltest/agents/transcript"
)

// record has the scripted agent carry out steps and says how it ended.
func record(t testing.TB, setup agents.Setup, steps ...script.Step) (*agents.Trajectory, *agents.Error) {
	t.Helper()
	setup.Dir, setup.Permit, setup.Record = t.TempDir(), nil, nil
	s, err := scripted.New(steps...).Open(t.Context(), setup)
	require.NoError(t, err)
	defer s.Close()
	tr := new(agents.Trajectory)
	turns := 0
	for _, a := range script.Answers(steps) {
		if a.HandBack || a.Fail != nil {
			turns++
		}
	}
	for range turns {
		require.NoError(t, tr.Append(agents.Prompt("recorded")))
		for e, err := range s.Send(t.Context(), "recorded") {
			if err != nil {
				return tr, agents.AsError(err, agents.Harness, agents.FromHarness)
			}
			require.NoError(t, tr.Append(e))
		}
		require.NoError(t, tr.Append(agents.Event{Kind: agents.EventDone}))
	}
	return tr, nil
}

func TestConformance(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, agenttest.Harness{
		Info:      replay.New(new(agents.Trajectory)).Info(),
		NoEffects: true,
		Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
			tr, err := record(t, setup, steps...)
			s, openErr := replay.New(tr, replay.Ends(err)).Open(t.Context(), setup)
			require.NoError(t, openErr)
			return s
		},
	})
}

var start = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func call(id string) agents.Event {
	return agents.Begin(agents.ToolCall{ID: id, Kind: agents.Execute, Name: "Bash", Commands: []string{id}})
}

// recorded are two turns, a second apart from event to event; the second has no end, and a call that has none.
func recorded() *agents.Trajectory {
	var events []agents.Event
	for i, e := range []agents.Event{
		agents.Prompt("one"), agents.Request().In("m1"), call("sub").In("m1"), call("inner").In("s1").Under("sub"),
		agents.End("inner", agents.Completed, "in").Under("sub"), agents.End("sub", agents.Completed, "out").In("m1"),
		agents.Spent(agents.Usage{InputTokens: 5}), {Kind: agents.EventDone},
		agents.Prompt("two"), call("refused"), agents.End("refused", agents.Denied, "no"), call("open"), agents.Spent(agents.Usage{OutputTokens: 2}),
	} {
		events = append(events, e.At(start.Add(time.Duration(i)*time.Second)))
	}
	return agents.NewTrajectory(events...)
}

func open(t testing.TB, a agents.Agent, setup agents.Setup) agents.Session {
	t.Helper()
	s, err := a.Open(t.Context(), setup)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func play(ctx context.Context, s agents.Session) (events []agents.Event, err error) {
	for e, e2 := range s.Send(ctx, "anything") {
		if e2 != nil {
			err = e2
			continue
		}
		events = append(events, e)
	}
	return events, err
}

func slice(tr *agents.Trajectory, from, to int) []agents.Event {
	var out []agents.Event
	for i := from; i < to; i++ {
		out = append(out, tr.Event(i))
	}
	return out
}

func TestEachSendPlaysARecordedTurnAsItWas(t *testing.T) {
	t.Parallel()
	tr := recorded()
	for range 2 { // sessions share nothing
		s := open(t, replay.New(tr), agents.Setup{})
		got, err := play(t.Context(), s)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(slice(tr, 1, 7), got))
		got, err = play(t.Context(), s)
		assert.Empty(t, cmp.Diff(slice(tr, 9, 13), got))
		var e *agents.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, agents.Interrupted, e.Kind)
		_, err = play(t.Context(), s)
		require.ErrorAs(t, err, &e)
		assert.Equal(t, agents.Harness, e.Kind)
		assert.ErrorContains(t, err, "answers to 2 messages")
		f, err := s.Close()
		require.NoError(t, err)
		assert.Equal(t, agents.Usage{InputTokens: 5, OutputTokens: 2}, f.Usage)
	}
}

func TestARecordingIsPlayedAsItIsWhenTheAgentIsMade(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(agents.Prompt("one"), agents.Say("a"))
	a := replay.New(tr)
	require.NoError(t, tr.Append(agents.Say("later")))
	got, _ := play(t.Context(), open(t, a, agents.Setup{}))
	assert.Len(t, got, 1)
}

func TestEndsSaysWhatEndedTheLastTurn(t *testing.T) {
	t.Parallel()
	want := agents.Errorf(agents.Overloaded, agents.FromProvider, "529")
	s := open(t, replay.New(recorded(), replay.Ends(want)), agents.Setup{})
	_, err := play(t.Context(), s)
	require.NoError(t, err, "the first turn has an end of its own")
	_, err = play(t.Context(), s)
	assert.Same(t, want, err)
}

func TestRestampLeavesTheTimesOut(t *testing.T) {
	t.Parallel()
	got, _ := play(t.Context(), open(t, replay.New(recorded(), replay.Restamp()), agents.Setup{}))
	for _, e := range got {
		assert.True(t, e.Time.IsZero())
	}
}

func TestPaceTakesAsLongAsWasRecordedAndCanBeInterrupted(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(
		agents.Prompt("p").At(start), agents.Say("a").At(start.Add(time.Hour)), agents.Say("b").At(start.Add(time.Hour+50*time.Millisecond)),
		agents.Say("c").At(start.Add(2*time.Hour)))
	s := open(t, replay.New(tr, replay.Pace()), agents.Setup{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := time.Now()
	var got []string
	var last error
	for e, err := range s.Send(ctx, "") {
		last = err
		if got = append(got, e.Text); e.Text == "b" {
			assert.GreaterOrEqual(t, time.Since(begun), 50*time.Millisecond)
			time.AfterFunc(20*time.Millisecond, cancel)
		}
	}
	assert.Equal(t, []string{"a", "b", ""}, got)
	var e *agents.Error
	require.ErrorAs(t, last, &e)
	assert.Equal(t, agents.Interrupted, e.Kind)
}

func TestPermit(t *testing.T) {
	t.Parallel()
	tr := recorded()
	for _, c := range []struct {
		name    string
		refuse  []string
		asked   []string
		denied  []string
		missing []string // calls that are not shown
	}{
		{"all allowed", nil, []string{"inner", "open", "sub"}, []string{"refused"}, nil},
		{"a call that ran", []string{"inner"}, []string{"inner", "open", "sub"}, []string{"inner", "refused"}, nil},
		{"a call that holds others", []string{"sub"}, []string{"open", "sub"}, []string{"refused", "sub"}, []string{"inner"}},
		{"a call whose end was never seen", []string{"open"}, []string{"inner", "open", "sub"}, []string{"open", "refused"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 10)
			s := open(t, replay.New(tr), agents.Setup{Permit: func(_ context.Context, tc agents.ToolCall) agents.Decision {
				asked <- tc.ID
				return agents.Decision{Allow: !slices.Contains(c.refuse, tc.ID), Reason: "because"}
			}})
			got := new(agents.Trajectory)
			for range 2 {
				events, _ := play(t.Context(), s)
				for _, e := range events {
					require.NoError(t, got.Append(e))
				}
			}
			s.Close()
			close(asked)
			assert.ElementsMatch(t, c.asked, slices.Collect(func(yield func(string) bool) {
				for id := range asked {
					if !yield(id) {
						return
					}
				}
			}))
			var denied []string
			for call := range got.Calls() {
				if call.Status == agents.Denied {
					denied = append(denied, call.ID)
					if call.ID != "refused" {
						assert.Equal(t, "because", got.Output(call.ID))
					}
				}
			}
			slices.Sort(denied)
			assert.Equal(t, c.denied, denied)
			for _, id := range c.missing {
				_, ok := got.Call(id)
				assert.False(t, ok, id)
			}
		})
	}
}

// Two calls of one answer can be at the gate at once, each waiting for the other's question.
func TestCallsOfOneAnswerAreAskedAboutAtTheSameTime(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(agents.Prompt("p"), call("a"), call("b"), agents.End("a", agents.Completed, ""), agents.End("b", agents.Completed, ""),
		agents.Event{Kind: agents.EventDone})
	both := make(chan struct{}, 2)
	s := open(t, replay.New(tr), agents.Setup{Permit: func(ctx context.Context, _ agents.ToolCall) agents.Decision {
		both <- struct{}{}
		for len(both) < 2 {
			select {
			case <-ctx.Done():
				return agents.Decision{}
			case <-time.After(time.Millisecond):
			}
		}
		return agents.Decision{Allow: true}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, err := play(ctx, s)
	require.NoError(t, err)
	assert.Len(t, got, 4)
}

func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tr := recorded()
	whole := filepath.Join(dir, "whole.jsonl")
	f, err := os.Create(whole)
	require.NoError(t, err)
	require.NoError(t, transcript.Write(f, tr, transcript.Header{Agent: "claude", AgentVersion: "2.1", Model: "m"}))
	require.NoError(t, f.Close())
	a, err := replay.File(whole)
	require.NoError(t, err)
	assert.Equal(t, agents.Info{Name: "replay", Version: "2.1", Model: "m", Gates: agents.Kinds}, a.Info())
	got, err := play(t.Context(), open(t, a, agents.Setup{}))
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(slice(tr, 1, 7), got, cmpopts.EquateEmpty()))

	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	torn := filepath.Join(dir, "torn.jsonl")
	require.NoError(t, os.WriteFile(torn, data[:len(data)-9], 0o600))
	a, err = replay.File(torn)
	require.NoError(t, err, "a recording whose writer was killed")
	s := open(t, a, agents.Setup{})
	_, err = play(t.Context(), s)
	require.NoError(t, err)
	got, _ = play(t.Context(), s)
	assert.Len(t, got, 3)

	bad := filepath.Join(dir, "bad.jsonl")
	require.NoError(t, os.WriteFile(bad, []byte("{}\n"), 0o600))
	_, err = replay.File(bad)
	require.ErrorContains(t, err, "not a transcript")
	_, err = replay.File(filepath.Join(dir, "missing.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
