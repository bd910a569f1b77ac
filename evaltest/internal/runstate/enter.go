package runstate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Trial is a trial under way.
type Trial struct {
	breaker breaker
	round   int
	ticket  *ticket
	once    sync.Once
}

// Enter begins a trial on the agent and the provider that key names. While errors in a row have new trials held it waits, and
// calls waiting, when not nil, once. A non-nil Opened says that nothing was begun, and why. The error is ctx's, or one of the
// folder. A trial counts as under way until Done, or the end of its process.
func (s *State) Enter(ctx context.Context, key string, waiting func()) (*Trial, *Opened, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	b := s.breaker(key)
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		news := s.news(b.name) // before looking: what comes after it wakes
		t, o, err := b.enter(ctx)
		if err != nil {
			return nil, nil, wrap("begin a trial", err)
		}
		if t != nil || o != nil {
			return t, o, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		if err := sleep(ctx, poll, news); err != nil {
			return nil, nil, err
		}
	}
}

// Done says what the trial came to; later calls do nothing. What the folder does not take is not counted: the breaker is there
// to save money, and decides no verdict.
func (t *Trial) Done(r Result) {
	t.once.Do(func() {
		_ = t.breaker.change(context.Background(), func(c *count) error {
			c.add(r, t.round)
			return t.breaker.decide(c, t.ticket)
		})
		// After the result is there: nobody is to find that nothing is under way, and miss it.
		t.ticket.drop()
		t.breaker.state.tell(t.breaker.name)
	})
}

// Opened looks whether the breaker of key is open, and begins nothing: nil when it is not. One that is held is not open: a
// trial under way that asks is among those who are waited for.
func (s *State) Opened(key string) (*Opened, error) {
	var o *Opened
	err := s.breaker(key).change(context.Background(), func(c *count) error {
		o = c.Opened
		return nil
	})
	if err != nil {
		return nil, wrap("look at the breaker", err)
	}
	return o, nil
}

// breaker is the breaker of a key: name.json is its count, the folder name has the tickets of who is under way.
type breaker struct {
	state *State
	name  string
}

func (s *State) breaker(key string) breaker {
	h := sha256.Sum256([]byte(key)) // a key is any text
	return breaker{s, "breaker-" + hex.EncodeToString(h[:8])}
}

func (b breaker) folder() string { return filepath.Join(b.state.dir, b.name) }

// change reads the count, and writes it back if f changed it.
func (b breaker) change(ctx context.Context, f func(c *count) error) error {
	file := b.folder() + ".json"
	return b.state.exclusively(ctx, b.name, func() error {
		c, err := read[count](file)
		if err != nil {
			return err
		}
		c = c.sane()
		before := c
		if err := f(&c); err != nil {
			return err
		}
		if c == before {
			return nil
		}
		return write(file, c)
	})
}

// enter begins a trial, or says that the breaker is open, or neither: new trials are held.
func (b breaker) enter(ctx context.Context) (t *Trial, o *Opened, err error) {
	err = b.change(ctx, func(c *count) error {
		if err := b.decide(c, nil); err != nil {
			return err
		}
		if o = c.Opened; o != nil || c.held() {
			return nil
		}
		k, err := b.take()
		if err == nil {
			t = &Trial{breaker: b, round: c.Round, ticket: k}
		}
		return err
	})
	if err != nil && t != nil {
		t.ticket.drop()
	}
	return t, o, err
}

const trialPrefix = "trial-"

func (b breaker) take() (*ticket, error) {
	path := filepath.Join(b.folder(), trialPrefix+rand.Text())
	k, err := take(path)
	if os.IsNotExist(err) { // the first of this key
		if err := os.MkdirAll(b.folder(), 0o777); err != nil {
			return nil, err
		}
		k, err = take(path)
	}
	return k, err
}

// decide opens a breaker that is held once nothing but own, which is over, is under way.
func (b breaker) decide(c *count, own *ticket) error {
	if !c.held() {
		return nil
	}
	list, err := names(b.folder())
	if err != nil {
		return err
	}
	for _, name := range list {
		path := filepath.Join(b.folder(), name)
		if strings.HasPrefix(name, trialPrefix) && (own == nil || path != own.path) && alive(path) {
			return nil
		}
	}
	c.open(time.Now())
	return nil
}

// news is closed at the next tell of the name. Other processes are only found out by looking.
func (s *State) news(name string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, ok := s.held[name]
	if !ok {
		ch = make(chan struct{})
		s.held[name] = ch
	}
	return ch
}

func (s *State) tell(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch, ok := s.held[name]; ok {
		close(ch)
		delete(s.held, name)
	}
}
