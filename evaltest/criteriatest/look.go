package criteriatest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// looker calls the methods of a criterion, from one goroutine.
type looker struct {
	*session
	c evaltest.LiveCriterion
	*pulse
	crowded bool // others append to the trajectories that it looks at
}

// pulse is how a goroutine that calls a criterion is watched.
type pulse struct {
	now  atomic.Pointer[calling] // what is called right now; nil: nothing
	left atomic.Bool             // it hangs, and nobody waits for it any more
}

// with is a looker at another value of the criterion, for the same goroutine.
func (l *looker) with(c evaltest.LiveCriterion) *looker {
	return &looker{l.session, c, l.pulse, l.crowded}
}

// calling is a method being called.
type calling struct {
	method string
	tr     *agents.Trajectory // nil: it takes none
	since  time.Time
}

// look is what a criterion makes of a trajectory.
type look struct {
	v     evaltest.Verdict
	i     evaltest.Interval // of its bounds, or what v says
	fault string            // it panicked; v and i are nothing
}

func (k look) String() string {
	if k.fault != "" {
		return k.fault
	}
	if k.v == evaltest.Undecided && !k.i.Equal(verdict.Unknown) || k.i.Valid() != nil {
		return fmt.Sprintf("%v %v", nameOf(k.v), k.i)
	}
	return nameOf(k.v)
}

func nameOf(v evaltest.Verdict) string {
	switch v {
	case evaltest.Undecided, evaltest.Passed, evaltest.Failed:
		return v.String()
	}
	return fmt.Sprintf("Verdict(%d)", int(v))
}

func (k look) same(m look) bool { return k.v == m.v && k.fault == m.fault && k.i.Equal(m.i) }

// decided reports whether its score is known.
func (k look) decided() bool { return k.fault == "" && k.i.Valid() == nil && k.i.Point() }

// look judges tr.
func (l *looker) look(tr *agents.Trajectory) (k look) {
	n := tr.Len()
	k.fault = l.call("LiveVerdict", tr, func() { k.v = l.c.LiveVerdict(tr) })
	if b, ok := l.c.(evaltest.BoundedCriterion); ok && k.fault == "" {
		k.fault = l.call("LiveBounds", tr, func() { k.i.Lo, k.i.Hi = b.LiveBounds(tr) })
	} else {
		k.i = verdict.Of(k.v)
	}
	if more := tr.Len() - n; more != 0 && !l.crowded {
		l.report(&Violation{Rule: "pure", Saw: fmt.Sprintf("it appended %d events to the trajectory that it judged", more), Trajectory: tr, At: n})
	}
	return k
}

// on judges events, as a trajectory that nobody has looked at before.
func (l *looker) on(events []agents.Event) look { return l.look(reel(events)) }

// watch judges each prefix of events, as a trajectory that grows; the first look is at the empty one. An event that contradicts
// others adds no look.
func (l *looker) watch(events []agents.Event) []look {
	tr := new(agents.Trajectory)
	looks := make([]look, 1, len(events)+1)
	looks[0] = l.look(tr)
	for _, e := range events {
		if tr.Append(e) == nil {
			looks = append(looks, l.look(tr))
		}
	}
	return looks
}

// grade is what Grade says of a finished trial.
type grade struct {
	score evaltest.Score
	err   error
	fault string
}

func (g grade) open() bool  { return g.fault == "" && errors.Is(g.err, evaltest.ErrOpen) }
func (g grade) given() bool { return g.fault == "" && g.err == nil && g.score.Err() == nil }

func (g grade) String() string {
	switch {
	case g.fault != "":
		return g.fault
	case g.open():
		return "ErrOpen"
	case g.err != nil:
		return fmt.Sprintf("the error %q", firstLine(g.err.Error()))
	}
	return g.score.String()
}

// same is equality of what counts: reasons may differ, and so may the words of errors.
func (g grade) same(h grade) bool {
	if g.given() && h.given() {
		return g.score.Cmp(h.score) == 0
	}
	return g.given() == h.given() && g.open() == h.open() && (g.err == nil) == (h.err == nil)
}

// trialOf is the finished trial of a trajectory.
func trialOf(tr *agents.Trajectory, dir string) *evaltest.Trial {
	t := &evaltest.Trial{Number: 1, Attempt: 1, Dir: dir, Trajectory: tr, Reply: tr.Reply(), Usage: tr.Usage()}
	for _, e := range tr.Events() {
		if e.Kind == agents.EventPrompt {
			t.Prompts = append(t.Prompts, e.Text)
		}
	}
	return t
}

func (l *looker) grade(trial *evaltest.Trial) (g grade) {
	g.fault = l.call("Grade", trial.Trajectory, func() { g.score, g.err = l.c.Grade(context.Background(), trial) })
	return g
}

func (l *looker) stringOf() (name string) {
	_ = l.call("String", nil, func() { name = l.c.String() })
	return name
}

func (l *looker) polaritiesOf() (p evaltest.Polarity) {
	_ = l.call("StopPolarities", nil, func() { p = l.c.StopPolarities() })
	return p
}

// call calls a method. A panic is a fault, and breaks a rule.
func (l *looker) call(method string, tr *agents.Trajectory, f func()) (fault string) {
	l.now.Store(&calling{method, tr, time.Now()})
	defer func() {
		p := recover()
		if l.left.Load() {
			runtime.Goexit()
		}
		if p != nil {
			l.now.Store(nil)
			fault = fmt.Sprintf("%s panicked at %s: %s", method, panicLine(), firstLine(fmt.Sprint(p)))
			l.faulted(fault, tr)
		}
	}()
	f()
	l.now.Store(nil)
	return ""
}

// panicLine is where the panic that is being recovered from happened.
func panicLine() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	inPanic := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic" || strings.HasPrefix(f.Function, "runtime.sigpanic"):
			inPanic = true
		case inPanic && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("%s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		if !more {
			return "an unknown line"
		}
	}
}

// guarded calls f in a goroutine of its own, in which l calls the criterion, and returns when f does. If the criterion ends the
// goroutine, or does not return in time, guarded reports that and returns false.
func (l *looker) guarded(f func()) bool {
	done, ended := make(chan struct{}), false
	go func() {
		defer close(done)
		f()
		ended = true
	}()
	tick := time.NewTicker(max(l.limit/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-done:
			if ended {
				return true
			}
			l.ends("%s ended its goroutine: FailNow, SkipNow and Goexit have no place in it", l.now.Load())
			return false
		case <-tick.C:
			if now := l.now.Load(); now != nil && time.Since(now.since) > l.limit {
				l.left.Store(true)
				l.ends(fmt.Sprintf("%%s has not returned after %v", l.limit), now)
				return false
			}
		}
	}
}

// ends reports what leaves the criterion unusable.
func (l *looker) ends(format string, now *calling) {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	if now == nil {
		return
	}
	v := &Violation{Rule: "returns", Saw: fmt.Sprintf(format, now.method)}
	if now.tr != nil {
		v.Trajectory, v.At = reel(eventsOf(now.tr)), now.tr.Len()
	}
	l.report(v)
}

// faulted reports a panic.
func (l *looker) faulted(fault string, tr *agents.Trajectory) {
	v := &Violation{Rule: "returns", Saw: fault}
	if tr != nil {
		v.Trajectory, v.At = reel(eventsOf(tr)), tr.Len()
	}
	l.report(v)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
