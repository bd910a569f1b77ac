package runstate

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const placesDir = "places"

// Acquire waits for one of max places, first come, first served. It returns ctx's error if ctx ends first. release may be
// called twice, from any goroutine. waiting, when not nil, is called once if it has to wait at all.
//
// Processes may differ in max: each waits until fewer than its own max of those who came before it are left, whether they are
// at work or wait in their turn. So nobody is overtaken for ever, and with one max in all of them never more than max are at
// work. A max below one is one.
func (s *State) Acquire(ctx context.Context, max int, waiting func()) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := s.line(ctx, max)
	if err != nil {
		return nil, wrap("queue for a place", err)
	}
	if !w.due() {
		s.wait(w)
		defer s.waitNoMore(w)
		if waiting != nil {
			waiting()
		}
		for !w.due() {
			if err := sleep(ctx, w.poll(), w.woken); err != nil {
				w.ticket.drop()
				return nil, err
			}
		}
	}
	return func() {
		w.ticket.drop()
		s.wake()
	}, nil
}

// waiter is one who has drawn a number.
type waiter struct {
	ticket *ticket
	number int64
	max    int
	before []string      // the tickets that were drawn earlier, those not known to be dead: it only shrinks
	woken  chan struct{} // of one: it may be due
}

// line draws the next number: one more than any that is out. Numbers begin anew when none is; no file has to remember them.
func (s *State) line(ctx context.Context, most int) (*waiter, error) {
	w := &waiter{max: max(most, 1), woken: make(chan struct{}, 1)}
	err := s.exclusively(ctx, placesDir, func() error {
		dir := filepath.Join(s.dir, placesDir)
		list, err := names(dir)
		if err != nil {
			return err
		}
		for _, name := range list {
			if n, ok := number(name); ok {
				w.number = max(w.number, n)
				w.before = append(w.before, filepath.Join(dir, name))
			}
		}
		slices.Sort(w.before) // by number: the earliest first
		w.number++
		w.ticket, err = take(filepath.Join(dir, fmt.Sprintf("%016d-%s", w.number, rand.Text())))
		return err
	})
	return w, err
}

// number is that of a ticket's name: none of another file's.
func number(name string) (int64, bool) {
	digits, _, ok := strings.Cut(name, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0 && len(digits) == 16
}

// due reports whether fewer than max of those before live. It asks no more of them than it has to, the earliest first: who
// is at work is among these.
func (w *waiter) due() bool {
	living := 0
	for i := 0; len(w.before)-i+living >= w.max; i++ {
		if living == w.max {
			w.before = append(w.before[:living], w.before[i:]...)
			return false
		}
		if alive(w.before[i]) {
			w.before[living] = w.before[i]
			living++
		}
	}
	return true
}

// How often a waiter looks whether one of another process has given its place back. The next in line looks often; less so
// where places are many, since a look asks after the holder of each, and since one place free for a moment is then a small
// part. The others look the more seldom, the more have to end before them: a long line costs little more than a short one.
const (
	shortPoll = 2 * time.Millisecond
	longPoll  = 50 * time.Millisecond
)

func (w *waiter) poll() time.Duration {
	d := max(shortPoll, time.Duration(w.max)*500*time.Microsecond)
	return min(longPoll, d*time.Duration(len(w.before)-w.max+1))
}

// wait has the waiter woken when it may be due because of what happens in this process.
func (s *State) wait(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue[w] = struct{}{}
}

func (s *State) waitNoMore(w *waiter) {
	s.mu.Lock()
	delete(s.queue, w)
	s.mu.Unlock()
	s.wake() // the next may be due as well: it was not woken for what this one was woken for
}

// wake wakes the first of this process's waiters.
func (s *State) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *waiter
	for w := range s.queue {
		if first == nil || w.number < first.number {
			first = w
		}
	}
	if first == nil {
		return
	}
	select {
	case first.woken <- struct{}{}:
	default:
	}
}
