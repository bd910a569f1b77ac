package wrong

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/livepure/testdata/helpers"
)

type tooSlow struct {
	base
	started time.Time
	limit   time.Duration
}

func (c *tooSlow) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(time.Since(c.started) > c.limit) // want `tooSlow.LiveVerdict is not pure: it calls time.Since; use the times of the trajectory's events`
}

type untilNoon struct{ base }

func (c *untilNoon) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	now := time.Now() // want `calls time.Now`
	return failIf(now.Hour() >= 12)
}

type overdue struct {
	base
	deadline time.Time
}

func (c *overdue) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(helpers.Late(c.deadline)) // want `it calls helpers.Late, which calls late, which calls time.Now`
}

type patient struct{ base }

func (c *patient) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // want `calls context.WithTimeout`
	defer cancel()
	return failIf(ctx.Err() != nil)
}

type sampled struct{ base }

func (c *sampled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if rand.Float64() < 0.1 { // want `calls rand.Float64; decide by what the trajectory shows`
		return evaltest.Failed
	}
	return evaltest.Undecided
}

type jittery struct{ base }

func (c *jittery) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(calls(tr) > helpers.Jitter(3)) // want `calls helpers.Jitter, which calls rand.IntN`
}

type fileThere struct {
	base
	path string
}

func (c *fileThere) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if _, err := os.Stat(c.path); err == nil { // want `calls os.Stat; judge by the trajectory, or look when the trial is over`
		return evaltest.Passed
	}
	return evaltest.Undecided
}

type globbed struct{ base }

func (c *globbed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	found, _ := filepath.Glob("*.csv") // want `calls filepath.Glob`
	return failIf(len(found) > 3)
}

type builds struct{ base }

func (c *builds) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(exec.Command("go", "build", "./...").Run() != nil) // want `calls exec.Cmd.Run`
}

type judged struct{ base }

func (c *judged) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return c.ask(tr) // want `judged.LiveVerdict is not pure: it calls judged.ask, which calls http.Get`
}

func (c *judged) ask(tr *agents.Trajectory) evaltest.Verdict {
	resp, err := http.Get("http://127.0.0.1/judge")
	if err != nil {
		return evaltest.Undecided
	}
	defer resp.Body.Close()
	return evaltest.Passed
}

type configured struct{ base }

func (c *configured) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	strict := os.Getenv("STRICT") != "" // want `calls os.Getenv; read it where the criterion is made`
	return failIf(strict && calls(tr) > 3)
}

type allowed struct{ base }

func (c *allowed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for call := range tr.Calls() {
		if !helpers.Allowed(call.Name) { // want `calls helpers.Allowed, which calls os.Getenv`
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}

type chatty struct{ base }

func (c *chatty) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	fmt.Println("judging", tr.Len())       // want `calls fmt.Println; say it in the reason`
	fmt.Fprintf(os.Stderr, "%d", tr.Len()) // want `calls fmt.Fprintf on the variable Stderr`
	log.Printf("judging %d", tr.Len())     // want `calls log.Printf`
	slog.Info("judging")                   // want `calls slog.Info`
	return evaltest.Undecided
}

type busy struct{ base }

func (c *busy) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(runtime.NumGoroutine() > 100) // want `calls runtime.NumGoroutine`
}

type parallel struct{ base }

func (c *parallel) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	done := make(chan bool)
	go func() { done <- calls(tr) > 3 }() // want `starts a goroutine; judge in the goroutine that asks`
	return failIf(<-done)                 // want `receives from a channel`
}

type signalled struct {
	base
	stop chan struct{}
}

func (c *signalled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	select { // want `waits for channels`
	case <-c.stop:
		return evaltest.Failed
	default:
	}
	return evaltest.Undecided
}

type bounded struct{ base }

func (c *bounded) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

func (c *bounded) LiveBounds(tr *agents.Trajectory) (lo, hi evaltest.Score) {
	if strings.Contains(os.Getenv("CI"), "true") { // want `bounded.LiveBounds is not pure: it calls os.Getenv`
		return evaltest.PassIf(false), evaltest.Points(0.5)
	}
	return evaltest.PassIf(false), evaltest.PassIf(true)
}

type declaring struct{ base }

func (c *declaring) StopPolarities() evaltest.Polarity {
	if os.Getenv("SMOKE") != "" { // want `declaring.StopPolarities is not pure: it calls os.Getenv`
		return evaltest.Pass
	}
	return evaltest.Fail
}

func (c *declaring) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }
