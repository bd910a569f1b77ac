package agenttest

import (
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

var talkRules = []rule{
	{"texts", "what the model says is there, in its place, and the last of it is the reply", texts},
	{"two-turns", "a second message goes on where the first one ended, in the same session", twoTurns},
	{"lazy", "nothing is sent before ranging", lazy},
	{"second-range", "a second range over one Send is an error, and does nothing", secondRange},
	{"message-ids", "what belongs to one answer has its id, another answer another one, and all ids are given or none", messageIDs},
	{"requests", "where requests are shown, each comes after the results of the answer before", requests},
	{"raw", "what the agent says is written to Setup.Record, whole lines at a time", raw},
}

// reply is what the main thread said in its last answer.
func (x *exam) reply() string {
	var b strings.Builder
	last := ""
	for _, e := range x.tr.Events() {
		if e.Kind != agents.EventMessage || e.Parent != "" {
			continue
		}
		if e.Message == "" || e.Message != last {
			b.Reset()
		}
		last = e.Message
		b.WriteString(e.Text)
	}
	return b.String()
}

func texts(x *exam) {
	x.open(script.Say("First this."), script.Run("echo 1"), script.Say("Now this.\n\nIn two: “paragraphs” <b>&</b> \\n."))
	x.finish("Say something.")
	var said []string
	for _, e := range x.tr.Events() {
		if e.Kind == agents.EventMessage {
			said = append(said, e.Text)
		}
	}
	require.Contains(x, said, "First this.")
	require.Equal(x, "Now this.\n\nIn two: “paragraphs” <b>&</b> \\n.", x.reply())
	if x.h.Info.CanShow(agents.Execute) {
		first := slices.IndexFunc(slices.Collect(values(x.tr)), func(e agents.Event) bool { return e.Text == "First this." })
		require.Less(x, first, x.kind(agents.Execute).Began, "the text before the call")
	}
}

func values(tr *agents.Trajectory) func(func(agents.Event) bool) {
	return func(yield func(agents.Event) bool) {
		for _, e := range tr.Events() {
			if !yield(e) {
				return
			}
		}
	}
}

func twoTurns(x *exam) {
	x.open(
		script.Write("one.txt", "1\n"), script.Say("The first."), script.HandBack(),
		script.Write("two.txt", "2\n"), script.Say("The second."),
	)
	x.finish("One.")
	require.Equal(x, "The first.", x.reply())
	x.holds("one.txt", "1\n")
	if !x.h.NoEffects {
		require.Empty(x, x.file("two.txt"), "the second turn's file after the first turn")
	}
	x.finish("Two.")
	require.Equal(x, "The second.", x.reply())
	x.holds("two.txt", "2\n")
}

func lazy(x *exam) {
	x.effects()
	x.open(script.Write("sent.txt", "yes\n"))
	unused := x.session.Send(x.ctx, "Never.")
	time.Sleep(100 * time.Millisecond)
	require.Empty(x, x.file("sent.txt"), "a message was sent that nobody ranged over")
	x.finish("Now.")
	x.holds("sent.txt", "yes\n")
	_ = unused
}

func secondRange(x *exam) {
	x.open(script.Run("echo 1 >>log.txt"), script.Say("First."), script.HandBack(), script.Run("echo 2 >>log.txt"))
	seq := x.session.Send(x.ctx, "Once.")
	for _, err := range seq {
		require.NoError(x, err)
	}
	n := 0
	for e, err := range seq {
		n++
		require.Error(x, err, "the second range yielded %v", e)
		_ = x.typed(err) // any kind will do
	}
	require.Equal(x, 1, n, "the second range yields its error and ends")
	x.holds("log.txt", "1\n")
}

func messageIDs(x *exam) {
	x.open(script.Say("A."), script.Run("echo 1"), script.Together(script.Run("echo 2"), script.Run("echo 3")), script.Say("B."))
	x.finish("Work.")
	given, missing := map[string]bool{}, 0
	for _, e := range x.tr.Events() {
		switch e.Kind {
		case agents.EventMessage, agents.EventCall:
			if e.Message == "" {
				missing++
			}
			given[e.Message] = true
		}
	}
	if len(given) == 1 && given[""] {
		x.Skip("the agent gives no message ids")
	}
	require.Zero(x, missing, "texts and calls without a message id, where others have one")
	require.Len(x, given, 3, "ids of the three answers")
}

func requests(x *exam) {
	x.shows(agents.Execute)
	x.open(script.Run("echo 1"), script.Together(script.Run("echo 2"), script.Run("echo 3")), script.Say("Done."))
	x.finish("Work.")
	n := 0
	for i, e := range x.tr.Events() {
		if e.Kind == agents.EventRequest && e.Parent == "" {
			n++
			for c := range x.tr.Prefix(i).Calls() {
				require.True(x, c.Status.Settled(), "request %d comes while %s is %s", n, c.Name, c.Status)
			}
		}
	}
	if n == 0 {
		x.Skip("the agent shows no requests")
	}
	require.Equal(x, 3, n, "requests for three answers")
}

func raw(x *exam) {
	var rec recorder
	x.setup.Record = &agents.Record{Raw: &rec}
	x.open(script.Run("echo raw-marker"), script.Say("Done."))
	x.finish("Work.")
	x.close()
	text := rec.String()
	require.Contains(x, text, "raw-marker")
	require.True(x, strings.HasSuffix(text, "\n"), "the raw stream ends within a line: %q", text[max(0, len(text)-80):])
}
