package script_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	. "github.com/evaltest-go/evaltest/agents/script"
)

// shown is answers in short: "wait| pause text, CALL <sub> !", where ! hands back and !!kind fails.
func shown(answers []Answer) []string {
	var out []string
	for _, a := range answers {
		var blocks []string
		for _, b := range a.Blocks {
			s := b.Text
			if b.Call != nil {
				s = strings.ToUpper(string(b.Call.Kind))
			}
			if b.Pause > 0 {
				s = b.Pause.String() + " " + s
			}
			blocks = append(blocks, s)
		}
		s := strings.Join(blocks, ", ")
		if a.Wait > 0 {
			s = a.Wait.String() + "| " + s
		}
		switch {
		case a.Fail != nil:
			s += "!!" + string(a.Fail.Kind)
		case a.HandBack:
			s += "!"
		}
		out = append(out, s)
	}
	return out
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	run, write, skill := Run("x"), Write("p", "t"), Skill("s")
	for _, c := range []struct {
		name  string
		steps []Step
		want  []string
	}{
		{"nothing hands back in silence", nil, []string{"!"}},
		{"a text is the reply", []Step{Say("a")}, []string{"a!"}},
		{"a call ends an answer", []Step{run, write}, []string{"EXECUTE", "EDIT", "!"}},
		{"a text before a call is part of the call's answer", []Step{Say("a"), run, Say("b")}, []string{"a, EXECUTE", "b!"}},
		{"several texts", []Step{Say("a"), Say("b"), run}, []string{"a, b, EXECUTE", "!"}},
		{"together is one answer", []Step{Together(run, write), skill}, []string{"EXECUTE, EDIT", "SKILL", "!"}},
		{"a text before together", []Step{Say("a"), Together(run, Say("b"), write)}, []string{"a, EXECUTE, b, EDIT", "!"}},
		{"together of texts alone ends nothing", []Step{Together(Say("a"), Say("b")), run}, []string{"a, b, EXECUTE", "!"}},
		{"together of nothing", []Step{Together(), run}, []string{"EXECUTE", "!"}},
		{"together within together", []Step{Together(run, Gap(ms), Together(write, Gap(2*ms), skill))}, []string{"EXECUTE, 1ms EDIT, 2ms SKILL", "!"}},
		{"a gap is before the next block", []Step{Together(Gap(ms), run, Gap(2*ms), Wait(3*ms), write, Gap(ms))}, []string{"1ms EXECUTE, 5ms EDIT", "!"}},
		{"a wait is before the next answer", []Step{Wait(ms), run, Wait(2 * ms), Wait(3 * ms), Say("a")}, []string{"1ms| EXECUTE", "5ms| a!"}},
		{"a gap outside of together is a wait", []Step{Gap(ms), run}, []string{"1ms| EXECUTE", "!"}},
		{"handing back between", []Step{Say("a"), HandBack(), run, Say("b")}, []string{"a!", "EXECUTE", "b!"}},
		{"handing back at the end is handing back once", []Step{run, HandBack()}, []string{"EXECUTE", "!"}},
		{"handing back in silence, twice", []Step{HandBack(), HandBack()}, []string{"!", "!"}},
		{"handing back, and a text", []Step{HandBack(), Say("b")}, []string{"!", "b!"}},
		{"a failure is the end", []Step{run, Fail(errors.New("x")), write}, []string{"EXECUTE", "!!overloaded"}},
		{"a failure after a wait", []Step{Wait(ms), Fail(agents.Errorf(agents.Auth, agents.FromProvider, "x"))}, []string{"1ms| !!auth"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Answers(c.steps)
			assert.Equal(t, c.want, shown(got))
			last := got[len(got)-1]
			assert.True(t, last.HandBack || last.Fail != nil, "the last answer hands back or fails")
			for _, a := range got {
				assert.False(t, a.HandBack && a.Calls() > 0, "an answer with calls hands back")
			}
		})
	}
}

func TestTheFieldsOfAnAction(t *testing.T) {
	t.Parallel()
	steps := []Step{Run("c"), Write("p", "t"), Read("r"), Skill("s"), Call("tool", map[string]int{"n": 1}), Call("bare", nil), Agent("do", Run("x"))}
	var got []Action
	for _, a := range Answers(steps) {
		for _, b := range a.Blocks {
			got = append(got, *b.Call)
		}
	}
	assert.Equal(t, []Action{
		{Kind: agents.Execute, Command: "c"},
		{Kind: agents.Edit, Path: "p", Text: "t"},
		{Kind: agents.Read, Path: "r"},
		{Kind: agents.Skill, Skill: "s"},
		{Kind: agents.Other, Tool: "tool", Input: []byte(`{"n":1}`)},
		{Kind: agents.Other, Tool: "bare", Input: []byte(`{}`)},
		{Kind: agents.Sub, Prompt: "do", Steps: []Step{Run("x")}},
	}, got)
}

func TestFailKeepsATypedError(t *testing.T) {
	t.Parallel()
	typed := agents.Errorf(agents.RateLimit, agents.FromProvider, "429")
	assert.Same(t, typed, Answers([]Step{Fail(fmt.Errorf("wrapped: %w", typed))})[0].Fail)
	plain := Answers([]Step{Fail(errors.New("down"))})[0].Fail
	assert.Equal(t, agents.FromProvider, plain.Source)
	assert.True(t, plain.Retryable)
}

func TestWhatMakesNoSensePanics(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { Together(Run("x"), HandBack()) })
	assert.Panics(t, func() { Together(Fail(errors.New("x"))) })
	assert.Panics(t, func() { Call("tool", func() {}) })
	assert.Panics(t, func() { Call("tool", []int{1}) }, "arguments that are no object")
	assert.Panics(t, func() { Call("tool", "text") }, "arguments that are no object")
	assert.Panics(t, func() { Answers([]Step{nil}) })
	require.NotPanics(t, func() { Call("tool", struct{ A int }{1}) })
	require.NotPanics(t, func() { Call("tool", map[string]int(nil)) })
}
