package criteria

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Reply asks what the agent's last words are: the reply of its last turn. See [ReplyEquals], [ReplyContains] and
// [ReplyMatches].
type Reply struct {
	name string // as in "reply contains"
	want string // as it is shown
	hold func(reply string) (why string, ok bool)
	err  error
}

// ReplyEquals passes if the reply is the text, white space around either and the style of line endings apart.
func ReplyEquals(text string) *Reply {
	want := trimmedReply(text)
	return &Reply{name: "equals", want: fmt.Sprintf("%q", clipLine(want, 60)), hold: func(reply string) (string, bool) {
		got := trimmedReply(reply)
		return firstDifference(want, got), got == want
	}}
}

// ReplyContains passes if the reply contains the text, byte for byte.
func ReplyContains(text string) *Reply {
	c := &Reply{name: "contains", want: fmt.Sprintf("%q", clipLine(text, 60)), hold: func(reply string) (string, bool) {
		return foldHint(reply, text), strings.Contains(reply, text)
	}}
	if text == "" {
		c.err = errors.New("no text to look for: every reply contains the empty one")
	}
	return c
}

// ReplyMatches passes if the regular expression (of package regexp) matches somewhere in the reply.
func ReplyMatches(expr string) *Reply {
	re, err := compileExpr(expr)
	return &Reply{name: "matches", want: "/" + clipLine(expr, 60) + "/", err: err, hold: func(reply string) (string, bool) {
		return "no match", re.MatchString(reply)
	}}
}

// String is like: reply contains "42".
func (c *Reply) String() string { return "reply " + c.name + " " + c.want }

// Misuse reports an empty text and a bad regular expression.
func (c *Reply) Misuse() error { return c.err }

// Grade scores 1 or 0.
func (c *Reply) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	switch why, ok := c.hold(trial.Reply); {
	case ok:
		return evaltest.PassIf(true), nil
	case strings.TrimSpace(trial.Reply) == "":
		return scoreFailed("the reply is empty"), nil
	default:
		return withReason(evaltest.PassIf(false), headOf([]byte(trial.Reply)), "%s; it is %q", why, clipLine(trial.Reply, 100)), nil
	}
}

func trimmedReply(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// firstDifference says where got stops being want.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		switch {
		case i >= len(g):
			return fmt.Sprintf("it ends before line %d", i+1)
		case i >= len(w):
			return fmt.Sprintf("it goes on with line %d", i+1)
		case w[i] != g[i] && strings.EqualFold(w[i], g[i]):
			return fmt.Sprintf("line %d is in other case", i+1)
		case w[i] != g[i]:
			return fmt.Sprintf("line %d differs", i+1)
		}
	}
	return ""
}

func foldHint(reply, text string) string {
	switch {
	case foldIndex([]byte(reply), text) >= 0:
		return "it has that in other case"
	case containsCollapsed([]byte(reply), text):
		return "it has that with other white space"
	}
	return "it does not"
}

// Choice asks which of several choices the reply names. See [ReplyChoice].
type Choice struct {
	want    string
	choices []string
	err     error
}

// ReplyChoice passes if the reply chooses want and none of the other choices: a classification, whose score carries the label that
// was expected and the one that was observed. Choices are compared without regard to case, and are whole words: "spam" is
// not named by "spammer", nor by "non-spam".
//
// A last line that is a choice and nothing more ("spam", "**Spam.**", "Answer: spam") decides. Else the reply has to name
// exactly one of them, as often as it likes. If it names none, or several, the score is 0 and the label observed is "".
// It is not understood what is said about a choice: "not spam" names spam.
func ReplyChoice(want string, choices ...string) *Choice {
	c := &Choice{want: want, choices: append([]string(nil), choices...)}
	seen, there := map[string]bool{}, false
	for _, choice := range choices {
		key := choiceKey(choice)
		switch {
		case key == "":
			c.err = errors.Join(c.err, fmt.Errorf("the choice %q has no letter, digit or sign", choice))
		case seen[key]:
			c.err = errors.Join(c.err, fmt.Errorf("the choice %q is there twice", choice))
		}
		seen[key] = true
		there = there || choice == want
	}
	switch {
	case len(choices) < 2:
		c.err = errors.Join(c.err, errors.New("fewer than two choices"))
	case !there:
		c.err = errors.Join(c.err, fmt.Errorf("%q is none of the choices", want))
	}
	return c
}

// String is like: reply chooses "spam" of spam, ham.
func (c *Choice) String() string {
	return clipLine(fmt.Sprintf("reply chooses %q of %s", c.want, firstFew(c.choices, 5)), 100)
}

// Misuse reports fewer than two choices, choices that are alike, and a wanted one that is none of them.
func (c *Choice) Misuse() error { return c.err }

// Grade scores 1 or 0, with labels.
func (c *Choice) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	named, how := chosen(trial.Reply, c.choices)
	observed := ""
	if len(named) == 1 {
		observed = named[0]
	}
	score := evaltest.PassIf(observed == c.want).Labels(c.want, observed)
	switch {
	case strings.TrimSpace(trial.Reply) == "":
		return withReason(score, "", "the reply is empty"), nil
	case len(named) == 0:
		return withReason(score, "", "no choice is named in %q", clipLine(trial.Reply, 100)), nil
	case len(named) > 1:
		return withReason(score, "", "several are named: %s", firstFew(named, 5)), nil
	}
	return withReason(score, "", "%q, %s", observed, how), nil
}
