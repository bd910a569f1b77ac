package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

func open(t testing.TB, a agents.Agent, setup agents.Setup) agents.Session {
	t.Helper()
	if setup.Dir == "" {
		setup.Dir = t.TempDir()
	}
	s, err := a.Open(t.Context(), setup)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := s.Close()
		assert.NoError(t, err)
	})
	return s
}

// play sends a message and keeps what comes in a trajectory. see may be nil; false breaks.
func play(ctx context.Context, t testing.TB, s agents.Session, see func(agents.Event) bool) (*agents.Trajectory, error) {
	t.Helper()
	tr := new(agents.Trajectory)
	for e, err := range s.Send(ctx, "go") {
		if err != nil {
			return tr, err
		}
		require.NoError(t, tr.Append(e))
		if see != nil && !see(e) {
			break
		}
	}
	return tr, nil
}

// short is a trajectory in short: what happened, in order, without usage.
func short(tr *agents.Trajectory) []string {
	var out []string
	for _, e := range tr.Events() {
		switch e.Kind {
		case agents.EventUsage:
		case agents.EventCall:
			out = append(out, e.Message+" "+e.Call.ID)
		case agents.EventStatus:
			out = append(out, e.Message+" "+e.CallID+" "+string(e.Status))
		default:
			out = append(out, e.Message+" "+string(e.Kind)+" "+e.Text)
		}
	}
	return out
}

func call(t testing.TB, tr *agents.Trajectory, id string) agents.Call {
	t.Helper()
	c, ok := tr.Call(id)
	require.True(t, ok, "call %s of %v", id, short(tr))
	return c
}

func TestWithoutStepsItHandsBackWithAText(t *testing.T) {
	t.Parallel()
	s := open(t, scripted.New(), agents.Setup{})
	tr, err := play(t.Context(), t, s, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"msg_1 request ", "msg_1 message Done."}, short(tr))
	tr, err = play(t.Context(), t, s, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"msg_2 request ", "msg_2 message Done."}, short(tr))
}

func TestIdsAndOrderAreThoseOfTheScript(t *testing.T) {
	t.Parallel()
	steps := []script.Step{
		script.Say("a"), script.Write("x", "1"),
		script.Agent("p", script.Read("x"), script.Agent("q", script.Say("inner")), script.Say("sub")),
		script.Say("b"),
	}
	want := []string{
		"msg_1 request ", "msg_1 message a", "msg_1 call_1", "msg_1 call_1 completed",
		"msg_2 request ", "msg_2 call_2",
		"msg_2.1 request ", "msg_2.1 call_2.1", "msg_2.1 call_2.1 completed",
		"msg_2.2 request ", "msg_2.2 call_2.2",
		"msg_2.2.1 request ", "msg_2.2.1 message inner", "msg_2.2 call_2.2 completed",
		"msg_2.3 request ", "msg_2.3 message sub", "msg_2 call_2 completed",
		"msg_3 request ", "msg_3 message b",
	}
	a := scripted.New(steps...)
	for range 3 { // sessions share nothing
		tr, err := play(t.Context(), t, open(t, a, agents.Setup{}), nil)
		require.NoError(t, err)
		assert.Equal(t, want, short(tr))
		assert.Equal(t, "inner", tr.Output("call_2.2"))
		assert.JSONEq(t, `{"file_path":"x","content":"1"}`, string(call(t, tr, "call_1").Input))
		assert.JSONEq(t, `{"prompt":"p"}`, string(call(t, tr, "call_2").Input))
	}
}

// As with real agents, a result can come before its sibling is announced.
func TestACallDoesNotWaitForTheRestOfItsAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, scripted.New(script.Together(script.Write("a", "1"), script.Gap(300*time.Millisecond), script.Write("b", "2"))), agents.Setup{})
	tr, err := play(t.Context(), t, s, nil)
	require.NoError(t, err)
	a, b := call(t, tr, "call_1"), call(t, tr, "call_2")
	assert.Less(t, a.Ended, b.Began)
	assert.Equal(t, a.Message, b.Message)
}

func TestNothingOfTheNextAnswerHappensWhileTheLoopsBodyHasItsRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, scripted.New(script.Write("a", "1"), script.Write("b", "2"), script.Say("end")), agents.Setup{Dir: dir})
	n := 0
	see := func(e agents.Event) bool {
		if e.Kind == agents.EventRequest {
			n++
		}
		if n == 2 {
			time.Sleep(50 * time.Millisecond)
			assert.NoFileExists(t, filepath.Join(dir, "b"))
			return false
		}
		return true
	}
	_, err := play(t.Context(), t, s, see)
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(dir, "b"))
	// The request was never sent: the next message gets its answer.
	tr, err := play(t.Context(), t, s, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"msg_2 request ", "msg_2 call_2", "msg_2 call_2 completed", "msg_3 request ", "msg_3 message end"}, short(tr))
}

func TestACallThatWasNotBegunIsDeniedInTheTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, scripted.New(script.Write("a", "1")), agents.Setup{Dir: dir})
	tr, err := play(t.Context(), t, s, func(e agents.Event) bool { return e.Kind != agents.EventCall })
	require.NoError(t, err)
	f, err := s.Close()
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(dir, "a"))
	for _, e := range f.Tail {
		require.NoError(t, tr.Append(e))
	}
	assert.Equal(t, agents.Denied, call(t, tr, "call_1").Status)
}

func TestACommandThatWasCutIsUnresolvedInTheTailWithWhatItSaid(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	s := open(t, scripted.New(script.Together(script.Run("echo said; touch begun; sleep 1000"), script.Run("sleep 1000"))), agents.Setup{Dir: dir})
	go func() {
		for _, err := os.Stat(filepath.Join(dir, "begun")); err != nil && ctx.Err() == nil; _, err = os.Stat(filepath.Join(dir, "begun")) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	tr, err := play(ctx, t, s, nil)
	var e *agents.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, agents.Interrupted, e.Kind)
	require.ErrorIs(t, err, context.Canceled)
	f, err := s.Close()
	require.NoError(t, err)
	for _, e := range f.Tail {
		require.NoError(t, tr.Append(e))
		if e.CallID == "call_1" {
			assert.Equal(t, "said\n", e.Output)
		}
	}
	assert.Equal(t, agents.Unresolved, call(t, tr, "call_1").Status)
	assert.Equal(t, agents.Unresolved, call(t, tr, "call_2").Status)
	for _, e := range f.Tail {
		assert.NotEqual(t, agents.EventRequest, e.Kind)
	}
}

func TestTheLoopsBodyMayCloseTheSessionPanicOrLeaveTheGoroutine(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(agents.Session){
		"close":  func(s agents.Session) { s.Close() },
		"panic":  func(agents.Session) { panic("leave") },
		"goexit": func(agents.Session) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, scripted.New(script.Together(script.Run("sleep 1000"), script.Write("a", "1"))), agents.Setup{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				for e := range s.Send(context.Background(), "go") {
					if e.Kind == agents.EventStatus {
						leave(s)
					}
				}
			}()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("the loop is stuck")
			}
			_, err := s.Close()
			require.NoError(t, err)
		})
	}
}

func TestPermitIsAskedAboutTheCallsOfOneAnswerAtTheSameTime(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	s := open(t, scripted.New(script.Together(script.Write("a", "1"), script.Write("b", "2"))), agents.Setup{
		Permit: func(context.Context, agents.ToolCall) agents.Decision {
			both.Done()
			both.Wait() // for ever, if one is asked about after the other
			return agents.Decision{Reason: "neither"}
		},
	})
	tr, err := play(t.Context(), t, s, nil)
	require.NoError(t, err)
	assert.Equal(t, 2, tr.MainCalls().Denied)
	assert.Equal(t, "neither", tr.Output("call_2"))
}

func TestToolListsAreHonoured(t *testing.T) {
	t.Parallel()
	steps := []script.Step{script.Together(script.Run("true"), script.Write("w", ""), script.Read("w"), script.Skill("x"), script.Agent("p"))}
	for _, c := range []struct {
		name        string
		allow, deny []string
		denied      []string
	}{
		{"no lists", nil, nil, nil},
		{"two denied", nil, []string{"Bash", "Agent"}, []string{"Bash", "Agent"}},
		{"two allowed", []string{"Write", "Read"}, nil, []string{"Bash", "Skill", "Agent"}},
		{"allowed and denied", []string{"Write", "Read"}, []string{"Read"}, []string{"Bash", "Read", "Skill", "Agent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: x\n---\n")}}
			tr, err := play(t.Context(), t, open(t, scripted.New(steps...), agents.Setup{Allow: c.allow, Deny: c.deny, Skills: []fs.FS{x}}), nil)
			require.NoError(t, err)
			var denied []string
			for call := range tr.Calls() {
				if call.Status == agents.Denied {
					denied = append(denied, call.Name)
				}
			}
			assert.Equal(t, c.denied, denied)
		})
	}
}

func TestAFailureEndsTheSession(t *testing.T) {
	t.Parallel()
	want := agents.Errorf(agents.Quota, agents.FromProvider, "no money")
	for name, steps := range map[string][]script.Step{
		"main thread": {script.Write("a", "1"), script.Fail(want), script.Write("b", "2")},
		"sub-agent":   {script.Together(script.Agent("p", script.Fail(want)), script.Run("sleep 1000"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, scripted.New(steps...), agents.Setup{})
			_, err := play(t.Context(), t, s, nil)
			assert.Same(t, want, err)
			tr, err := play(t.Context(), t, s, nil)
			assert.Same(t, want, err)
			assert.Zero(t, tr.Len())
		})
	}
}

func TestAnAnswerThatIsStillWaitedForCanBeInterrupted(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]script.Step{
		"thinking":  script.Wait(time.Hour),
		"streaming": script.Together(script.Say("a"), script.Gap(time.Hour), script.Say("b")),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := play(ctx, t, open(t, scripted.New(step), agents.Setup{}), nil)
		cancel()
		var e *agents.Error
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, agents.Interrupted, e.Kind, name)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	typed := agents.Errorf(agents.Network, agents.FromAgent, "cable")
	a := scripted.With([]script.Step{
		script.Call("greet", map[string]string{"who": "you"}), script.Call("broken", nil), script.Call("mcp__db__query", nil), script.Call("down", nil),
	},
		scripted.Tool("greet", func(_ context.Context, in json.RawMessage) (string, error) { return "hello " + string(in), nil }),
		scripted.Tool("broken", func(context.Context, json.RawMessage) (string, error) { return "half", errors.New("lost the rest") }),
		scripted.Tool("down", func(context.Context, json.RawMessage) (string, error) { return "", typed }),
	)
	tr, err := play(t.Context(), t, open(t, a, agents.Setup{}), nil)
	assert.Same(t, typed, err, "an *agents.Error is no result of a tool")
	for id, want := range map[string]string{
		"call_1": `completed hello {"who":"you"}`, "call_2": "failed half\nlost the rest", "call_3": "denied not run: no tool named mcp__db__query",
	} {
		assert.Equal(t, want, string(call(t, tr, id).Status)+" "+tr.Output(id))
	}
	assert.Equal(t, "greet", call(t, tr, "call_1").Name)
	assert.Panics(t, func() { scripted.With(nil, scripted.Tool("Bash", nil)) })
	assert.Panics(t, func() { scripted.With(nil, scripted.Tool("x", nil), scripted.Tool("x", nil)) })
}

func TestAPanicOfAToolIsACrash(t *testing.T) {
	t.Parallel()
	boom := scripted.Tool("boom", func(context.Context, json.RawMessage) (string, error) { panic("boom") })
	_, err := play(t.Context(), t, open(t, scripted.With([]script.Step{script.Call("boom", nil)}, boom), agents.Setup{}), nil)
	var e *agents.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, agents.Crash, e.Kind)
	assert.ErrorContains(t, err, "boom")
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]agents.Setup{
		"relative":  {Dir: "here"},
		"missing":   {Dir: filepath.Join(t.TempDir(), "missing")},
		"bad skill": {Dir: t.TempDir(), Skills: append(agents.Setup{}.Skills, os.DirFS(t.TempDir()))},
	} {
		_, err := scripted.New().Open(t.Context(), setup)
		var e *agents.Error
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, agents.SetupError, e.Kind, name)
	}
}

// lockedBuilder is a strings.Builder that is safe for concurrent use.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestTheRawStreamIsALineAnEvent(t *testing.T) {
	t.Parallel()
	var raw lockedBuilder
	s := open(t, scripted.New(script.Run("printf '\\377'"), script.Fail(agents.Errorf(agents.Auth, agents.FromProvider, "no"))),
		agents.Setup{Record: &agents.Record{Raw: &raw}})
	tr, err := play(t.Context(), t, s, nil)
	require.Error(t, err)
	s.Close()
	var kinds []string
	for line := range strings.Lines(raw.String()) {
		var v struct{ Kind string }
		require.NoError(t, json.Unmarshal([]byte(line), &v), line)
		kinds = append(kinds, v.Kind)
	}
	slices.Sort(kinds)
	want := []string{"error"}
	for _, e := range tr.Events() {
		want = append(want, string(e.Kind))
	}
	slices.Sort(want)
	assert.Equal(t, want, kinds)
}

func TestManySessionsAtOnceDoNotMeet(t *testing.T) {
	t.Parallel()
	a := scripted.New(script.Together(script.Run("cat mine >copy"), script.Write("w", "w")), script.Read("copy"))
	var all sync.WaitGroup
	for i := range 6 {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), fmt.Append(nil, i), 0o600))
		s := open(t, a, agents.Setup{Dir: dir})
		all.Go(func() {
			tr, err := play(t.Context(), t, s, nil)
			if assert.NoError(t, err) {
				assert.Equal(t, fmt.Sprint(i), tr.Output("call_3"))
			}
		})
	}
	all.Wait()
}
