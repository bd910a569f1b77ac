package agenttest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

var stopRules = []rule{
	{"break", "leaving the loop interrupts the agent: it does not go on to the end, and nothing happens after Close", breaks},
	{"break-at-request", "where requests are shown, leaving the loop at one means that nothing of the next answer happens", breakAtRequest},
	{"cancel", "cancelling the context of Send interrupts a call under way and yields one *Error of kind Interrupted, and no more", cancels},
	{"cancelled-before", "with a context that is done, Send sends nothing and yields one *Error of kind Interrupted", cancelledBefore},
	{"close-twice", "Close may be called twice, and from several goroutines, with the same result", closeTwice},
	{"close-unused", "a session that was never used can be closed", closeUnused},
	{"close-during-send", "Close from another goroutine ends a Send under way with one *Error", closeDuringSend},
	{"send-after-close", "after Close, Send yields one *Error and does nothing", sendAfterClose},
	{"no-survivors", "no process is left after Close: none in the background, none in a session of its own, none that ignores signals", survivors},
}

// many is a script of n commands that each add a line to log.txt.
func many(n int) []script.Step {
	var steps []script.Step
	for i := range n {
		steps = append(steps, script.Run(fmt.Sprintf("echo %d >>log.txt", i)))
	}
	return steps
}

func breaks(x *exam) {
	const n = 30
	x.shows(agents.Execute)
	x.open(many(n)...)
	err := x.send(x.ctx, "Work.", func(e agents.Event) bool { return e.Kind != agents.EventStatus })
	require.Nil(x, err)
	x.tailFits(x.close())
	x.effects()
	log := x.file("log.txt")
	require.Less(x, strings.Count(log, "\n"), n, "the agent went on to the end")
	time.Sleep(200 * time.Millisecond)
	require.Equal(x, log, x.file("log.txt"), "the agent went on after Close")
}

// tailFits checks that the tail continues the trajectory without a contradiction.
func (x *exam) tailFits(f agents.Final) {
	x.Helper()
	for _, e := range f.Tail {
		x.append(e)
	}
}

func breakAtRequest(x *exam) {
	x.open(many(5)...)
	requests := 0
	err := x.send(x.ctx, "Work.", func(e agents.Event) bool {
		if e.Kind == agents.EventRequest {
			requests++
		}
		return requests < 3
	})
	if requests == 0 {
		x.Skip("the agent shows no requests")
	}
	require.Nil(x, err)
	x.close()
	x.holds("log.txt", "0\n1\n")
}

func cancels(x *exam) {
	x.effects()
	x.open(script.Run("echo begun >begun.txt; "+beats("beat.txt")), script.Run("echo 2 >second.txt"))
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	go func() {
		x.until("the call to begin", func() bool { return x.file("beat.txt") != "" })
		cancel()
	}()
	late := false
	err := x.send(ctx, "Work.", func(agents.Event) bool {
		late = late || ctx.Err() != nil
		return true
	})
	require.NotNil(x, err, "Send ended without an error")
	require.Equal(x, agents.Interrupted, err.Kind, "%v", err)
	require.False(x, late, "an event was yielded after the cancellation")
	x.tailFits(x.close())
	x.quiet("beat.txt")
	require.Empty(x, x.file("second.txt"))
}

func cancelledBefore(x *exam) {
	x.open(script.Write("sent.txt", "yes\n"))
	ctx, cancel := context.WithCancel(x.ctx)
	cancel()
	err := x.send(ctx, "Work.", func(e agents.Event) bool {
		x.Errorf("yielded an event: %v", e.Kind)
		return true
	})
	require.NotNil(x, err, "Send ended without an error")
	require.Equal(x, agents.Interrupted, err.Kind, "%v", err)
	x.close()
	if !x.h.NoEffects {
		require.Empty(x, x.file("sent.txt"))
	}
}

func closeTwice(x *exam) {
	x.open(script.Run("echo 1"), script.Say("Done."))
	x.finish("Work.")
	first := x.close()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			again, err := x.session.Close()
			if err != nil {
				x.Errorf("a later Close: %v", err)
			}
			if again.Usage != first.Usage || len(again.Tail) != len(first.Tail) {
				x.Errorf("a later Close returns %+v, the first %+v", again, first)
			}
		})
	}
	all.Wait()
}

func closeUnused(x *exam) {
	x.open(script.Write("never.txt", "x\n"))
	f := x.close()
	require.Zero(x, f.Usage)
	if !x.h.NoEffects {
		require.Empty(x, x.file("never.txt"))
	}
}

func closeDuringSend(x *exam) {
	x.effects()
	x.open(script.Run(beats("beat.txt")), script.Run("echo 2 >second.txt"))
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		x.until("the call to begin", func() bool { return x.file("beat.txt") != "" })
		if _, err := x.session.Close(); err != nil {
			x.Errorf("Close: %v", err)
		}
	}()
	err := x.send(x.ctx, "Work.", nil)
	require.NotNil(x, err, "Send ended without an error")
	<-closed
	x.quiet("beat.txt")
	require.Empty(x, x.file("second.txt"))
}

func sendAfterClose(x *exam) {
	x.open(script.Write("never.txt", "x\n"))
	x.close()
	err := x.send(x.ctx, "Work.", func(e agents.Event) bool {
		x.Errorf("yielded an event: %v", e.Kind)
		return true
	})
	require.NotNil(x, err, "Send ended without an error")
	if !x.h.NoEffects {
		require.Empty(x, x.file("never.txt"))
	}
}

func survivors(x *exam) {
	x.effects()
	files := []string{"plain", "hup", "session", "deaf"}
	x.open(
		script.Run("("+beats("plain")+") >/dev/null 2>&1 & nohup sh -c '"+beats("hup")+"' >/dev/null 2>&1 & until test -s plain -a -s hup; do sleep 0.01; done"),
		script.Run("S=; command -v setsid >/dev/null && S=setsid; $S sh -c '"+beats("session")+"' >/dev/null 2>&1 & until test -s session; do sleep 0.01; done"),
		script.Run("sh -c 'trap \"\" HUP INT TERM; "+beats("deaf")+"' >/dev/null 2>&1 & until test -s deaf; do sleep 0.01; done"),
		script.Say("Left."),
	)
	x.finish("Work.")
	for _, f := range files {
		require.NotEmpty(x, x.file(f), "the process %s has not run", f)
	}
	x.close()
	for _, f := range files {
		x.quiet(f)
	}
}

// recorder is a writer that is safe for concurrent use.
type recorder struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(b)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}
