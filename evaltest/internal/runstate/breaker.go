package runstate

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evaltest-go/evaltest/agents"
)

// After how many errors in a row new trials are held: of any kind, and of a kind that does not pass by itself. In a row:
// with nothing measured between them. An error of another kind between two refused keys does not speak for the key.
const (
	mostErrors = 5
	mostLost   = 2
)

// longestMessage is how much of an error's message is kept, in bytes.
const longestMessage = 1000

// Opened is a breaker that is open. Kind, Source and Message (its first line) are of the last error that it met.
type Opened struct {
	Errors  int                `json:"errors"` // in a row, those included that came in while it was held
	Since   time.Time          `json:"since"`  // when it opened
	Kind    agents.ErrorKind   `json:"kind"`
	Source  agents.ErrorSource `json:"source"`
	Message string             `json:"message"`
}

// Result is what a trial came to. One that was neither measured nor ended by an error of the agent or its provider (the
// author's mistake, a grader's error, a verdict left open) says nothing of either, and changes nothing.
type Result struct {
	Measured bool          // the count begins anew, whatever Err is
	Err      *agents.Error // one of source agent or provider adds to the count
}

// count is what the trials on one key came to, as it lies on disk. The zero value: nothing yet.
type count struct {
	Row    int     `json:"row"`              // errors in a row
	Lost   int     `json:"lost"`             // those among them that do not pass by themselves
	Last   *Opened `json:"last,omitempty"`   // the last error
	Round  int     `json:"round"`            // how often new trials were held, and went on
	Opened *Opened `json:"opened,omitempty"` // for good
}

// sane is c, or nothing where no run of this program has written it.
func (c count) sane() count {
	if c.Row < 0 || c.Lost < 0 || c.Round < 0 {
		return count{}
	}
	return c
}

// held reports whether no trial is to begin before it is known what those under way come to.
func (c *count) held() bool { return c.Opened == nil && (c.Row >= mostErrors || c.Lost >= mostLost) }

// add adds the result of a trial that began in the given round.
//
// While trials are held, all those under way are one question: does anything get through? The first that is measured answers
// it: the count begins anew, and who was held goes on without waiting for the rest. What errors of these after that was
// asked for by the same question, and does not count against the answer: else five of them could open the breaker though one
// beside them was measured.
func (c *count) add(r Result, round int) {
	switch {
	case c.Opened != nil:
	case r.Measured:
		if c.held() {
			c.Round++
		}
		c.Row, c.Lost, c.Last = 0, 0, nil
	case r.counts() && round >= c.Round:
		c.Row++
		if lost(r.Err.Kind) {
			c.Lost++
		}
		c.Last = &Opened{Kind: r.Err.Kind, Source: r.Err.Source, Message: short(r.Err.Message())}
	}
}

func (r Result) counts() bool {
	return r.Err != nil && (r.Err.Source == agents.FromAgent || r.Err.Source == agents.FromProvider)
}

// lost reports whether an error of this kind does not pass by itself: every trial is going to meet it.
func lost(k agents.ErrorKind) bool {
	return k == agents.Missing || k == agents.Auth || k == agents.Quota
}

// open opens a breaker that was held until nothing was under way any more.
func (c *count) open(now time.Time) {
	var o Opened
	if c.Last != nil {
		o = *c.Last
	}
	o.Errors, o.Since = c.Row, now
	c.Opened = &o
}

// short is the first line of a message, not longer than the state is to carry about.
func short(message string) string {
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	if len(message) <= longestMessage {
		return message
	}
	cut := longestMessage
	for cut > 0 && !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + "…"
}
