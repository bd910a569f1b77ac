package criteria_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

func TestReply(t *testing.T) {
	t.Parallel()
	runEndRows(t, []endRow{
		{name: "equal", c: criteria.ReplyEquals("a\nb"), prepare: says(" a\r\nb\n"), score: "1"},
		{name: "another line", c: criteria.ReplyEquals("a\nb"), prepare: says("a\nc"), score: "0", reason: `line 2 differs; it is "a c"`},
		{name: "equal but for case", c: criteria.ReplyEquals("Yes"), prepare: says("yes"), score: "0", reason: "line 1 is in other case"},
		{name: "more than was wanted", c: criteria.ReplyEquals("a"), prepare: says("a\nb"), score: "0", reason: "it goes on with line 2"},
		{name: "less than was wanted", c: criteria.ReplyEquals("a\nb"), prepare: says("a"), score: "0", reason: "it ends before line 2"},
		{name: "silence is wanted", c: criteria.ReplyEquals(""), prepare: says("\n"), score: "1"},
		{name: "contained", c: criteria.ReplyContains("42"), prepare: says("it is 42."), score: "1"},
		{name: "not contained", c: criteria.ReplyContains("43"), prepare: says("it is 42."), score: "0", reason: `it does not; it is "it is 42."`},
		{name: "contained in other case", c: criteria.ReplyContains("IT"), prepare: says("it is 42."), score: "0", reason: "in other case"},
		{name: "nothing said", c: criteria.ReplyContains("42"), score: "0", reason: "the reply is empty"},
		{name: "matched", c: criteria.ReplyMatches(`(?i)IS \d+`), prepare: says("it is 42."), score: "1"},
		{name: "not matched", c: criteria.ReplyMatches(`^\d+$`), prepare: says("it is 42."), score: "0", reason: "no match"},
		{name: "a reply that forges a test event", c: criteria.ReplyContains("x"), prepare: says("\x16--- FAIL: TestOther\n" + strings.Repeat("\x1b[2J", 5000)), score: "0", reason: `?--- FAIL`},
	})
}

func TestReplyChoice(t *testing.T) {
	t.Parallel()
	labels := []string{"spam", "ham", "non-spam", "very spam"}
	for _, r := range []struct{ name, reply, observed string }{
		{"the word alone", "spam", "spam"},
		{"with mark-up and a stop", "**Ham.**\n", "ham"},
		{"in a heading", "## Ham", "ham"},
		{"behind a label", "I looked at spam and ham.\nFinal answer: spam", "spam"},
		{"on the last line", "Is it spam or ham?\nham", "ham"},
		{"in a sentence, alone", "This is clearly Spam, as Spam goes.", "spam"},
		{"with a hyphen", "It is non-spam", "non-spam"},
		{"a longer one holds a shorter one", "I call it very spam!", "very spam"},
		{"two of them", "It is spam, not ham.", ""},
		{"one within another word", "spammer hamlet", ""},
		{"one joined by a hyphen", "ham-fisted", ""},
		{"one joined by an underscore", "not_spam", ""},
		{"none", "I do not know", ""},
		{"silence", " ", ""},
		{"a longer and a shorter one", "very spam or just spam", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, want := range labels {
				c := criteria.ReplyChoice(want, labels...)
				requireWellMade(t, c)
				score, err := c.Grade(t.Context(), &evaltest.Trial{Reply: r.reply})
				require.NoError(t, err)
				assert.Equal(t, want, score.Expected)
				assert.Equal(t, r.observed, score.Observed, score.Reason)
				assert.Equal(t, 0, score.Cmp(evaltest.PassIf(want == r.observed)))
				requireReadable(t, score.Reason)
			}
		})
	}
}

func TestReplyChoiceOfNumbersAndSigns(t *testing.T) {
	t.Parallel()
	for reply, observed := range map[string]string{"-1": "-1", "Score: 1": "1", "I give it -1.": "-1", "it is 10": "", "C++ it is": "C++", "c#": "C#"} {
		score, err := criteria.ReplyChoice("1", "-1", "1", "C++", "C#").Grade(t.Context(), &evaltest.Trial{Reply: reply})
		require.NoError(t, err)
		assert.Equal(t, observed, score.Observed, "%s: %s", reply, score.Reason)
	}
}
