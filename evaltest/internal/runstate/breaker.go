package runstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// After how many errors in a row new trials are held: of any kind, and of a kind that does not pass by itself.
const (
	mostErrors = 5
	mostLost   = 2
)

// lost reports whether an error of this kind does not pass by itself: every trial is going to meet it.
func lost(k agents.ErrorKind) bool {
	return k == agents.Missing || k == agents.Auth || k == agents.Quota
}

// Opened is a breaker that is open.
type Opened struct {
	Errors  int       `json:"errors"` // in a row
	Since   time.Time `json:"since"`
	Kind    agents.ErrorKind
	Source  agents.ErrorSource
	Message string // of the last error
}

// Result is what a trial came to.
type Result struct {
	Measured bool          // it resets the count
	Err      *agents.Error // of the agent or its provider: it adds to the count; nil: nothing of the kind
}

// count is the breaker of one key.
type count struct {
	Row    int     `json:"row"`  // errors in a row
	Lost   int     `json:"lost"` // the last of them that do not pass by themselves
	Last   *Opened `json:"last,omitempty"`
	Opened *Opened `json:"opened,omitempty"`
}

// held reports whether no trial is to begin before it is known what those under way come to.
func (c *count) held() bool { return c.Row >= mostErrors || c.Lost >= mostLost }

// Trial is a trial under way.
type Trial struct {
	breaker *breaker
	ticket  *ticket
	once    sync.Once
}

// breaker is the breaker of a key.
type breaker struct {
	state *State
	name  string
}

func (s *State) breaker(key string) *breaker {
	h := sha256.Sum256([]byte(key))
	return &breaker{s, "breaker-" + hex.EncodeToString(h[:8])}
}

func (b *breaker) file() string   { return filepath.Join(b.state.dir, b.name+".json") }
func (b *breaker) folder() string { return filepath.Join(b.state.dir, b.name) }

// change reads the count, and writes it back if f changed it.
func (b *breaker) change(f func(c *count) error) error {
	return b.state.exclusively(b.name, func() error {
		var c count
		if err := read(b.file(), &c); err != nil {
			return err
		}
		before := c
		if err := f(&c); err != nil {
			return err
		}
		if c == before {
			return nil
		}
		return write(b.file(), c)
	})
}

// decide opens a breaker that is held when nothing is under way any more.
func (b *breaker) decide(c *count) error {
	if c.Opened != nil || !c.held() {
		return nil
	}
	names, err := living(b.folder())
	if err != nil || len(names) > 0 {
		return err
	}
	o := Opened{}
	if c.Last != nil {
		o = *c.Last
	}
	o.Errors, o.Since = c.Row, time.Now()
	c.Opened = &o
	return nil
}

// Opened looks whether the breaker of key is open, and begins nothing: nil when it is not.
func (s *State) Opened(key string) (o *Opened, err error) {
	b := s.breaker(key)
	var c count
	if err := read(b.file(), &c); err != nil { // replaced as a whole: it needs no lock
		return nil, wrap("look at the breaker", err)
	}
	return c.Opened, nil
}

// Enter begins a trial on the agent and the provider that key names. While errors in a row have trials held it waits, and
// calls waiting, when not nil, once. A non-nil Opened says that nothing was begun, and why. The error is ctx's, or one of
// the folder.
func (s *State) Enter(ctx context.Context, key string, waiting func()) (*Trial, *Opened, error) {
	b := s.breaker(key)
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		var t *Trial
		var o *Opened
		err := b.change(func(c *count) error {
			if err := b.decide(c); err != nil {
				return err
			}
			if o = c.Opened; o != nil || c.held() {
				return nil
			}
			if err := os.MkdirAll(b.folder(), 0o777); err != nil {
				return err
			}
			k, err := take(filepath.Join(b.folder(), unique()))
			t = &Trial{breaker: b, ticket: k}
			return err
		})
		switch {
		case err != nil:
			return nil, nil, wrap("begin a trial", err)
		case o != nil:
			return nil, o, nil
		case t != nil:
			return t, nil, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// Done says what the trial came to; later calls do nothing.
func (t *Trial) Done(r Result) {
	t.once.Do(func() {
		// What cannot be written is not counted: the breaker is there to save money, and decides no verdict.
		_ = t.breaker.change(func(c *count) error {
			t.ticket.drop()
			c.add(r)
			return t.breaker.decide(c)
		})
		t.ticket.drop()
	})
}

func (c *count) add(r Result) {
	switch {
	case c.Opened != nil:
	case r.Measured:
		c.Row, c.Lost, c.Last = 0, 0, nil
	case r.Err != nil:
		c.Row++
		if c.Lost++; !lost(r.Err.Kind) {
			c.Lost = 0
		}
		message, _, _ := strings.Cut(r.Err.Message(), "\n")
		c.Last = &Opened{Kind: r.Err.Kind, Source: r.Err.Source, Message: message}
	}
}

// unique is a name that no other ticket has.
func unique() string {
	return time.Now().UTC().Format("150405.000000000") + "-" + randomText()
}
