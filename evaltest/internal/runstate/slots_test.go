package runstate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
)

func acquire(t testing.TB, s *runstate.State, most int) (release func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	release, err := s.Acquire(ctx, most, nil)
	require.NoError(t, err)
	return release
}

// full is that no place of most is to be had.
func full(t testing.TB, s *runstate.State, most int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	_, err := s.Acquire(ctx, most, cancel)
	require.ErrorIs(t, err, context.Canceled)
}

func TestPlacesAreGivenBack(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	one, two := acquire(t, s, 2), acquire(t, s, 2)
	full(t, s, 2)
	full(t, open(t, s.Dir()), 2) // another handle on the same folder
	one()
	one()
	three := acquire(t, s, 2)
	full(t, s, 2)
	one() // not three's
	full(t, s, 2)
	two()
	three()
	for _, most := range []int{1, 0, -3} { // below one is one
		release := acquire(t, s, most)
		full(t, s, most)
		release()
	}
}

func TestWaitingIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	calls := 0
	release, err := s.Acquire(context.Background(), 1, func() { calls++ })
	require.NoError(t, err)
	assert.Zero(t, calls, "nobody was there")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = s.Acquire(ctx, 1, func() { calls++ })
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 1, calls)
	release()
	_, err = s.Acquire(ctx, 1, func() { calls++ })
	assert.ErrorIs(t, err, context.DeadlineExceeded, "a ctx that has ended takes no place")
	acquire(t, s, 1)()
}

// First come, first served; who gives up is not waited for.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	other := open(t, s.Dir()) // nothing in s wakes it: it looks, as another process does
	release := acquire(t, s, 1)
	order := make(chan int, 20)
	var working sync.WaitGroup
	defer working.Wait() // they write to the folder
	for i := range cap(order) {
		ctx, cancel := context.WithCancel(t.Context())
		queued := make(chan struct{})
		working.Go(func() {
			defer cancel()
			release, err := []*runstate.State{s, other}[i/2%2].Acquire(ctx, 1, func() { close(queued) })
			if err != nil {
				order <- -1
				return
			}
			order <- i // before the next can have it
			release()
		})
		receive(t, queued)
		if i%5 == 4 {
			cancel()
			assert.Equal(t, -1, receive(t, order))
		}
	}
	assert.Empty(t, order)
	release()
	var got, want []int
	for i := range cap(order) {
		if i%5 != 4 {
			want, got = append(want, i), append(got, receive(t, order))
		}
	}
	assert.Equal(t, want, got)
}

// Each waits for its own.
func TestDifferentMax(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	one, two := acquire(t, s, 3), acquire(t, s, 3)
	full(t, s, 1)
	full(t, s, 2)
	three := acquire(t, s, 3)
	full(t, s, 3)
	four := acquire(t, s, 4)
	one()
	full(t, s, 3)
	two()
	three()
	full(t, s, 1)
	acquire(t, s, 2)()
	four()
	acquire(t, s, 1)()
}

// A witness of its own sees that never more than three are at work: three files, each of which one holds.
func TestNeverMoreThanMax(t *testing.T) {
	t.Parallel()
	const most = 3
	dir, witness := t.TempDir(), t.TempDir()
	var all sync.WaitGroup
	for i := range 4 { // handles, as four processes
		s := open(t, dir)
		for range 4 {
			all.Go(func() {
				for range 25 {
					release := acquire(t, s, most)
					l := holdOne(witness, most)
					assert.NotNil(t, l, "a fourth is at work")
					time.Sleep(rand.N(400 * time.Microsecond))
					if l != nil {
						assert.NoError(t, l.Close())
					}
					release()
					if i == 0 {
						release()
					}
				}
			})
		}
	}
	all.Wait()
}

// holdOne locks one of n files, nil when all are locked.
func holdOne(dir string, n int) *flock.Flock {
	for i := range n {
		l := flock.New(filepath.Join(dir, fmt.Sprint(i)))
		if ok, err := l.TryLock(); ok && err == nil {
			return l
		}
		_ = l.Close()
	}
	return nil
}
