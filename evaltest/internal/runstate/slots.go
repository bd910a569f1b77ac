package runstate

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

const placesDir = "places"

// How often is looked for a place, from the first look to the last.
const (
	shortPoll = 2 * time.Millisecond
	longPoll  = 40 * time.Millisecond
)

// Acquire waits for one of max places, first come, first served. It returns ctx's error if ctx ends first. waiting, when not
// nil, is called once if it has to wait at all. release may be called twice. Processes may differ in max: each minds its own.
func (s *State) Acquire(ctx context.Context, max int, waiting func()) (release func(), err error) {
	t, n, err := s.queue()
	if err != nil {
		return nil, wrap("queue for a place", err)
	}
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		before, err := s.before(n)
		if err != nil {
			t.drop()
			return nil, wrap("wait for a place", err)
		}
		if before < max {
			return t.drop, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			t.drop()
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// queue draws the next number.
func (s *State) queue() (t *ticket, n int64, err error) {
	err = s.exclusively(placesDir, func() error {
		counter := filepath.Join(s.dir, "places.json")
		if err := read(counter, &n); err != nil {
			return err
		}
		// The counter can be lost; the numbers that are out cannot.
		names, err := living(filepath.Join(s.dir, placesDir))
		if err != nil {
			return err
		}
		if len(names) > 0 {
			n = max(n, number(names[len(names)-1]))
		}
		n++
		if err := write(counter, n); err != nil {
			return err
		}
		t, err = take(filepath.Join(s.dir, placesDir, fmt.Sprintf("%016d", n)))
		return err
	})
	return t, n, err
}

// before is how many live before the number n: those that are at work, and those that wait.
func (s *State) before(n int64) (before int, err error) {
	err = s.exclusively(placesDir, func() error {
		names, err := living(filepath.Join(s.dir, placesDir))
		for _, name := range names {
			if number(name) < n {
				before++
			}
		}
		return err
	})
	return before, err
}

func number(name string) (n int64) {
	_, _ = fmt.Sscanf(name, "%d", &n) // another file has none, and is before nobody
	if n == 0 {
		return 1 << 62
	}
	return n
}
