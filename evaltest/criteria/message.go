package criteria

import (
	"context"
	"regexp"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// MessageMatch asks what the model says. See [MessageMatches].
type MessageMatch struct {
	live
	re  *regexp.Regexp
	key any
}

type messageKey struct{ expr string }

// MessageMatches passes if the model says something on the main thread that the regular expression matches, anywhere in it
// unless it has anchors. Each block of text is looked at by itself, as the agent's stream gives it; what sub-agents say does
// not count.
//
// It reaches Pass only; Never(MessageMatches(expr)) fails as soon as it is said.
func MessageMatches(expr string) *MessageMatch {
	c := &MessageMatch{live: live{name: "message matches: " + expr}, key: messageKey{expr}}
	var err error
	if c.re, err = regexp.Compile(expr); err != nil {
		c.err = misuse("MessageMatches", "%w", err)
	}
	return c
}

func (c *MessageMatch) said(tr *agents.Trajectory) bool {
	if c.err != nil {
		return false
	}
	return agents.Fold(tr, c.key, c.step)
}

func (c *MessageMatch) step(said bool, e agents.Event) bool {
	return said || e.Kind == agents.EventMessage && e.Parent == "" && c.re.MatchString(e.Text)
}

// StopPolarities is Pass.
func (c *MessageMatch) StopPolarities() evaltest.Polarity { return evaltest.Pass }

// LiveVerdict judges the trajectory so far.
func (c *MessageMatch) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.said(tr) {
		return evaltest.Passed
	}
	return evaltest.Undecided
}

// Grade scores the finished trial.
func (c *MessageMatch) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	switch {
	case c.err != nil:
		return evaltest.Score{}, misuseError(c, c.err)
	case c.said(trial.Trajectory):
		return one.Because("it was said"), nil
	}
	return zero.Because("it was not said"), nil
}
