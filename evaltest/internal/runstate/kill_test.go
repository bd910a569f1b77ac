package runstate_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/internal/runstate"
)

const (
	places      = 3 // of the run
	workers     = 5 // processes
	eachWorkers = 3 // goroutines in each
)

// work acquires and enters without end, and says so: a line "in N NANOSECONDS" once it has a place, "out N NANOSECONDS"
// before it gives it back, of goroutine N. Anything else that it says is a fault.
func work() {
	s, err := runstate.Open(os.Args[1])
	if err != nil {
		fmt.Println("fault:", err)
		return
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	once := func(g, i int) error {
		release, err := s.Acquire(context.Background(), places, nil)
		if err != nil {
			return err
		}
		say("in %d %d", g, time.Now().UnixNano())
		// One key never meets an error, one meets nothing else, one is new every now and then and meets both.
		for key, r := range map[string]string{
			"good":                             []string{"measured", "nothing"}[rand.N(2)],
			"bad":                              "crash",
			fmt.Sprintf("key %d", i/10+g*1000): []string{"measured", "nothing", "crash", "auth"}[rand.N(4)],
		} {
			trial, o, err := s.Enter(context.Background(), key, nil)
			switch {
			case err != nil:
				return err
			case o != nil && key == "good":
				return fmt.Errorf("the good one is open: %+v", o)
			case o == nil:
				trial.Done(result(r))
			}
		}
		time.Sleep(rand.N(300 * time.Microsecond))
		say("out %d %d", g, time.Now().UnixNano())
		release()
		return nil
	}
	for g := range eachWorkers {
		go func() {
			for i := 0; ; i++ {
				if err := once(g, i); err != nil {
					say("fault: %v", err)
				}
			}
		}()
	}
	select {}
}

// worker is a process that works until it is killed.
type worker struct {
	cmd      *exec.Cmd
	mu       sync.Mutex
	at       []stay // what it held, in nanoseconds
	since    map[int]int64
	faults   []string
	began    atomic.Int64
	finished chan struct{}
}

type stay struct{ from, to int64 }

func startWorker(t *testing.T, dir string) *worker {
	t.Helper()
	w := &worker{cmd: exec.Command(os.Args[0], dir), since: map[int]int64{}, finished: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), childEnv+"=work")
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, w.cmd.Start())
	go func() {
		defer close(w.finished)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.heard(lines.Text())
		}
	}()
	return w
}

func (w *worker) heard(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var what string
	var g int
	var at int64
	if _, err := fmt.Sscan(line, &what, &g, &at); err != nil {
		w.faults = append(w.faults, line)
		return
	}
	if what == "in" {
		w.since[g] = at
		w.began.Add(1)
		return
	}
	w.at = append(w.at, stay{w.since[g], at})
	delete(w.since, g)
}

// kill kills it: what it held, it held until now at least.
func (w *worker) kill() {
	now := time.Now().UnixNano()
	w.cmd.Process.Kill()
	<-w.finished
	_ = w.cmd.Wait()
	for _, from := range w.since {
		if from < now {
			w.at = append(w.at, stay{from, now})
		}
	}
}

// most is how many stays there were at one time.
func most(stays []stay) (most int) {
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, s := range stays {
		edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.by - b.by
	})
	n := 0
	for _, e := range edges {
		n += e.by
		most = max(most, n)
	}
	return most
}

// Processes that hold places, wait for them, and write the state are killed at any point, hundreds of times. Never are more
// than three at work, the rest always goes on, and no breaker is the worse for it.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	dir := t.TempDir()
	all := make([]*worker, workers)
	for i := range all {
		all[i] = startWorker(t, dir)
	}
	t.Cleanup(func() {
		for _, w := range all {
			w.cmd.Process.Kill()
		}
	})
	goesOn := func(w *worker) {
		t.Helper()
		before := w.began.Load()
		require.Eventually(t, func() bool { return w.began.Load() >= before+2*eachWorkers }, soon, time.Millisecond, "it is wedged")
	}
	var stays []stay
	var faults []string
	bury := func(w *worker) {
		w.kill()
		stays, faults = append(stays, w.at...), append(faults, w.faults...)
	}
	for i := range rounds {
		time.Sleep(rand.N(10 * time.Millisecond))
		n := rand.N(len(all))
		bury(all[n])
		all[n] = startWorker(t, dir)
		if i%10 == 0 {
			goesOn(all[(n+1)%len(all)])
		}
	}
	for _, w := range all {
		goesOn(w)
	}
	for _, w := range all {
		bury(w)
	}
	assert.Empty(t, faults)
	assert.LessOrEqual(t, most(stays), places)
	assert.Equal(t, places, most(stays), "the places were used")
	t.Logf("%d stays", len(stays))

	s := open(t, dir)
	var releases []func()
	for range places { // the dead hold none
		releases = append(releases, acquire(t, s, places))
	}
	for _, release := range releases {
		release()
	}
	assert.Zero(t, looked(t, s, "good"))
	bad := looked(t, s, "bad")
	assert.GreaterOrEqual(t, bad, 5)
	assert.LessOrEqual(t, bad, 4+places, "no more were under way")
}
