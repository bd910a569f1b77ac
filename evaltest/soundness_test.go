package evaltest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The verdict at a sound stop, and each failed of a smoke check, is that of every completion of the run: for random
// criteria, weights, thresholds, gates and limits, and random runs of simulated agents of every kind. The watch is the
// real one; the agents play on a clock of their own; the oracle is written from the rules alone.
//
// EVALTEST_SEED=n plays one case and says all of it, EVALTEST_SEED=n-m those from n to m. EVALTEST_SOAK=10m goes on with new
// ones for so long.
func TestSoundness(t *testing.T) {
	percent := debug.SetGCPercent(400) // there is next to nothing to keep
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	if seed := os.Getenv("EVALTEST_SEED"); seed != "" {
		first, last, ranged := strings.Cut(seed, "-")
		from, err := strconv.ParseUint(first, 10, 64)
		to := from
		if err == nil && ranged {
			to, err = strconv.ParseUint(last, 10, 64)
		}
		if err != nil {
			t.Fatalf("EVALTEST_SEED=%q: write a number, or two with a dash", seed)
		}
		synctest.Test(t, func(t *testing.T) {
			stats := soundCases(t, from, to+1, nil)
			t.Logf("%+v", stats)
		})
		return
	}
	if soak := os.Getenv("EVALTEST_SOAK"); soak != "" {
		d, err := time.ParseDuration(soak)
		if err != nil {
			t.Fatalf("EVALTEST_SOAK=%q: %v", soak, err)
		}
		soundSoak(t, time.Now().Add(d))
		return
	}
	cases := uint64(100_000)
	if raceEnabled || testing.Short() {
		cases = 10_000
	}
	const parts = 20
	var mu sync.Mutex
	var all simStats
	t.Cleanup(func() { reportSoundness(t, all) })
	for part := range uint64(parts) {
		t.Run(fmt.Sprintf("part %d", part), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from := 1 + part*cases/parts
				stats := soundCases(t, from, from+cases/parts, nil)
				mu.Lock()
				defer mu.Unlock()
				all.add(stats)
			})
		})
	}
}

// reportSoundness says what the cases came to, and holds that enough of them were stopped early for that to mean something.
func reportSoundness(t *testing.T, s simStats) {
	t.Logf("%d cases, %d of them in mode sound or armed; %d stopped early (%d failed, %d passed, %d smoke passes), %d drains ran out, %d limits, %d errors; %d completions",
		s.cases, s.judged, s.stopped, s.failed, s.passed, s.smoke, s.drained, s.limited, s.errored, s.completions)
	if t.Failed() {
		return
	}
	if s.stopped*100 < s.judged*30 {
		t.Errorf("%d of %d cases were stopped early, want 30 %%", s.stopped, s.judged)
	}
	for what, n := range map[string]int{"failed": s.failed, "passed": s.passed, "smoke passes": s.smoke, "drains": s.drained, "limits": s.limited} {
		if n*200 < s.judged {
			t.Errorf("%d %s among %d cases: the property says nothing about them", n, what, s.judged)
		}
	}
}

// soundCases plays the cases from seed from up to to, until one breaks a rule or over says so.
func soundCases(t *testing.T, from, to uint64, over func() bool) (stats simStats) {
	for seed := from; seed < to && (over == nil || !over()); seed++ {
		f, text := newSimCase(seed).check(&stats)
		if f != nil {
			t.Fatalf("case %d breaks a rule: %s\nagain: EVALTEST_SEED=%d go test -count=1 -run '^TestSoundness$' ./evaltest/", seed, text, seed)
		}
	}
	return stats
}

func soundSoak(t *testing.T, end time.Time) {
	var mu sync.Mutex
	var all simStats
	t.Cleanup(func() { reportSoundness(t, all) })
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprintf("worker %d", worker), func(t *testing.T) {
			t.Parallel()
			for time.Now().Before(end) && !t.Failed() {
				from := rand.Uint64() >> 8
				synctest.Test(t, func(t *testing.T) {
					stats := soundCases(t, from, from+2000, nil)
					mu.Lock()
					defer mu.Unlock()
					all.add(stats)
				})
			}
		})
	}
}

// simStats is what cases came to.
type simStats struct {
	cases, judged, stopped, failed, passed, smoke, drained, released, limited, errored, completions int
}

func (s *simStats) add(t simStats) {
	s.cases += t.cases
	s.judged += t.judged
	s.stopped += t.stopped
	s.failed += t.failed
	s.passed += t.passed
	s.smoke += t.smoke
	s.drained += t.drained
	s.released += t.released
	s.limited += t.limited
	s.errored += t.errored
	s.completions += t.completions
}
