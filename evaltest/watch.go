package evaltest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// watch follows one trajectory, judges it event by event, and knows when it may be cut. Events come from the loop over
// Session.Send, requests from the gateway, permission requests and timers from goroutines of their own: all meet here.
//
// A stop is decided at an event and falls at a boundary: where the thread of the deciding answer asks its model for the
// next one. By then all calls of the deciding answer have settled, announced late or not, and no effect of them is lost.
type watch struct {
	mu   sync.Mutex
	news chan struct{} // closed, and made anew, whenever something changed

	tr     *agents.Trajectory
	judged []*judged
	gate   verdict.Gate
	rules  []*rule
	limits journal.Limits
	drain  time.Duration
	prices *Prices
	tally  bool // costs are those of the prices alone
	gated  bool // every request of the agent is admitted by this watch

	last     map[string]string       // id of the last answer, by thread
	marked   bool                    // the stream shows where answers end: by their ids, or by the requests for the next
	open     map[answer]int          // number of its open calls
	detached map[string]bool         // threads that went on after their sub-agent's call had settled: in the background
	ended    *ending                 // set once; from then on nothing changes what is recorded
	tail     []agents.Event          // what came after that
	complete bool                    // the session is over: an agent that was left behind says nothing more
	notes    []string                // facts that changed nothing
	looking  atomic.Pointer[judged]  // the criterion that is looking at the trajectory right now
	fault    *agents.Error           // what came from the agent, or from a criterion, that nothing sound can be made of
	leave    context.CancelCauseFunc // leaves the Send under way; nil between Sends
	mask     *masker
	record   func(agents.Event) // takes each event that enters the trajectory
	started  time.Time

	before      agents.Usage  // what earlier attempts have cost
	timeBefore  time.Duration // and taken
	maxRequests int           // that a prompt may take; 0: any number
	requests    int           // since the last prompt
	signs       atomic.Int64  // Unix time in nanoseconds of the last sign of life
	heard       atomic.Bool   // there was one
}

// ending is why a trajectory was cut. One of the two is set.
type ending struct {
	stop   *Stop
	limit  string
	budget bool // the limit is the step budget of a smoke check
}

// rule is one rule for stopping.
type rule struct {
	mode    verdict.Mode
	decide  func(verdict.Gate, []verdict.Criterion) Verdict
	dry     bool // it records where it would have stopped, and stops nothing
	pending *pending
	would   *Stop // what a dry rule has recorded
}

// pending is a stop that is decided and has not fallen.
type pending struct {
	stop            Stop
	thread, message string // those of the deciding answer
	refuse          bool   // a prevented call has decided it: until it falls or is released nothing further is permitted
	timer           *time.Timer
}

func rulesOf(mode verdict.Mode) []*rule {
	sound := &rule{mode: verdict.Sound, decide: verdict.Gate.StopSound}
	armed := &rule{mode: verdict.Armed, decide: verdict.Gate.StopArmed}
	switch mode {
	case verdict.Sound:
		return []*rule{sound}
	case verdict.Armed:
		return []*rule{armed}
	case verdict.Shadow:
		sound.dry, armed.dry = true, true
		return []*rule{sound, armed}
	}
	return nil
}

// parts are the criteria as the gate sees them now.
func (w *watch) parts() []verdict.Criterion {
	cs := make([]verdict.Criterion, len(w.judged))
	for i, j := range w.judged {
		cs[i] = j.part()
	}
	return cs
}

// changed wakes whoever waits for the trajectory to grow.
func (w *watch) changed() {
	close(w.news)
	w.news = make(chan struct{})
}

// observe takes an event of the session and reports whether to leave the loop.
func (w *watch) observe(e agents.Event) (leave bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	w.alive()
	if w.complete {
		return true
	}
	if w.ended != nil {
		w.tail = append(w.tail, e)
		return true
	}
	if !w.gated && w.begins(e) && w.settled(e.Parent, w.last[e.Parent]) && w.boundary(e.Parent) {
		w.tail = append(w.tail, e)
		return true
	}
	if e.Kind == agents.EventRequest && !w.gated {
		w.asks()
	}
	if !w.take(e) || w.fault != nil {
		return w.fault != nil
	}
	if w.overspent() {
		return true
	}
	// An agent that does not say what belongs to one answer: where all calls have settled, one ends.
	if thread, _ := w.place(e); !w.gated && !w.marked && w.settled(thread, "") && w.falls(thread) {
		return true
	}
	return false
}

// take adds an event to the trajectory and has it judged. An event that makes no sense is noted.
func (w *watch) take(e agents.Event) bool {
	if w.prices != nil && e.Kind == agents.EventUsage && e.Usage.Cost == 0 {
		e.Usage.Cost = w.prices.cost(e.Usage)
	}
	if err := w.tr.Append(e); err != nil {
		w.refuse(e, err)
		return false
	}
	e = w.tr.Event(w.tr.Len() - 1)
	w.marked = w.marked || e.Message != "" || e.Kind == agents.EventRequest
	if (e.Kind == agents.EventMessage || e.Kind == agents.EventCall) && e.Message != "" {
		w.last[e.Parent] = e.Message
	}
	w.count(e)
	if c, ok := w.tr.Call(e.Parent); ok && !c.Status.Open() {
		w.detached[e.Parent] = true
	}
	if w.record != nil {
		w.record(e)
	}
	for _, j := range w.judged {
		j.add(e)
	}
	thread, message := w.place(e)
	w.judge(e.Time, thread, message)
	return true
}

// refuse deals with an event that contradicts the trajectory. What is only said again is noted; anything else may hide what
// the agent did, and is an error of the agent.
func (w *watch) refuse(e agents.Event, why error) {
	again := false
	switch c, ok := w.tr.Call(cmp.Or(e.CallID, e.Call.ID)); {
	case !ok:
	case e.Kind == agents.EventCall:
		again = reflect.DeepEqual(c.ToolCall, e.Call)
	default:
		again = c.Status == e.Status
	}
	w.note("%v", why)
	if !again && w.fault == nil && w.ended == nil {
		w.fault = agents.Errorf(agents.Protocol, agents.FromAgent, "the agent contradicts itself: %w", why)
	}
}

// judge has every criterion look, and decides the rules when that changed anything. The place is the answer in which it
// happened.
func (w *watch) judge(at time.Time, thread, message string) {
	var first *judged
	defer func() {
		for _, j := range w.judged {
			if j.goexit && w.fault == nil {
				w.fault = agents.Errorf(agents.Contract, agents.FromAuthor, "%s: %s", j.name, j.violation)
			}
		}
	}()
	defer w.looking.Store(nil)
	for _, j := range w.judged {
		w.looking.Store(j)
		if j.look(w.tr) && (first == nil || first.armed == 0 && j.armed != 0) {
			first = j
		}
	}
	if first == nil || w.ended != nil {
		return
	}
	cs := w.parts()
	for _, r := range w.rules {
		if r.pending != nil || r.would != nil {
			continue
		}
		v := r.decide(w.gate, cs)
		if v == Undecided {
			continue
		}
		p := &pending{stop: w.stop(r.mode, v, first, at), thread: thread, message: message}
		r.pending = p
		p.timer = time.AfterFunc(w.drain, func() { w.drained(r, p) })
	}
}

// stop describes a stop that was decided at this moment.
func (w *watch) stop(mode verdict.Mode, v Verdict, by *judged, at time.Time) Stop {
	s := Stop{
		Criterion: by.name, Mode: mode, Verdict: v, Length: w.tr.Len(),
		Turn: w.tr.Turns(), ToolCall: w.tr.MainCalls().Dispatched(), Elapsed: at.Sub(w.started),
	}
	if w.limits.Turns > 0 {
		s.TurnsLeft = max(w.limits.Turns-s.Turn, 0)
	}
	switch {
	case mode == verdict.Armed && v == Passed:
		s.Reason = fmt.Sprintf("%s: what was armed has answered", by.name)
	case v == Passed:
		s.Reason = fmt.Sprintf("%s: nothing can keep the eval from passing", by.name)
	default:
		s.Reason = fmt.Sprintf("%s: nothing can make the eval pass", by.name)
	}
	return s
}

// place is the thread and the answer that an event belongs to.
func (w *watch) place(e agents.Event) (thread, message string) {
	if e.Kind == agents.EventStatus {
		if c, ok := w.tr.Call(e.CallID); ok {
			return c.Parent, c.Message
		}
	}
	return e.Parent, e.Message
}

// begins reports whether e shows that its thread has asked, or is about to ask, its model for the next answer.
func (w *watch) begins(e agents.Event) bool {
	switch e.Kind {
	case agents.EventRequest:
		return true
	case agents.EventMessage, agents.EventCall:
		last, ok := w.last[e.Parent]
		return ok && e.Message != "" && e.Message != last || !w.marked && e.Message == ""
	}
	return false
}

// settled reports whether no call of an answer is open; of "", whether none of the thread is.
func (w *watch) settled(thread, message string) bool { return w.open[answer{thread, message}] == 0 }

// answer names an answer of the model by its thread and its id; without an id, all of the thread's.
type answer struct{ thread, message string }

// count keeps the number of open calls of each answer, so that asking costs the same however many calls there were.
func (w *watch) count(e agents.Event) {
	d := 1
	switch {
	case e.Kind == agents.EventCall:
	case e.Kind == agents.EventStatus && e.Status.Settled():
		d = -1
	default:
		return
	}
	thread, message := w.place(e)
	w.open[answer{thread, ""}] += d
	if message == "" {
		return
	}
	if w.open[answer{thread, message}] += d; w.open[answer{thread, message}] == 0 {
		delete(w.open, answer{thread, message})
	}
}

// living is the thread itself, or, where its sub-agent is done, the one that goes on in its place.
func (w *watch) living(thread string) string {
	for thread != "" && !w.detached[thread] {
		c, ok := w.tr.Call(thread)
		if !ok || c.Status.Open() {
			break
		}
		thread = c.Parent
	}
	return thread
}

// boundary is where thread asks for its next answer. It looks again at what was decided: a stop that still holds falls
// here, else the run goes on as if nothing had been decided. Then the limits that fall at a boundary. It reports whether
// the trajectory ends.
func (w *watch) boundary(thread string) bool {
	if w.falls(thread) || thread != "" {
		return w.ended != nil
	}
	turns, calls := w.tr.Turns(), w.tr.MainCalls()
	switch l := w.limits; {
	case l.Turns > 0 && turns >= l.Turns:
		w.end(&ending{limit: fmt.Sprintf("turns: %d of %d", turns, l.Turns)})
	case l.ToolCalls > 0 && calls.Dispatched() >= l.ToolCalls:
		w.end(&ending{limit: fmt.Sprintf("tool calls: %d of %d", calls.Dispatched(), l.ToolCalls)})
	case l.StepBudget > 0 && calls.Ran()+calls.Denied >= l.StepBudget && w.smoking():
		w.end(&ending{limit: fmt.Sprintf("step budget: %d of %d calls", calls.Ran()+calls.Denied, l.StepBudget), budget: true})
	}
	return w.ended != nil
}

// falls reports whether a stop falls at this boundary of thread.
func (w *watch) falls(thread string) bool {
	for _, r := range w.rules {
		if p := r.pending; p != nil && w.living(p.thread) == thread && w.settled(p.thread, p.message) && w.look(r) {
			return true
		}
	}
	return false
}

// smoking reports whether the rule of smoke checks is in force, and has not decided.
func (w *watch) smoking() bool {
	return len(w.rules) == 1 && w.rules[0].mode == verdict.Armed && w.rules[0].pending == nil
}

// look is the second look at a pending stop, once what was under way is drained. It reports whether the trajectory ends.
func (w *watch) look(r *rule) bool {
	p := r.pending
	r.pending = nil
	p.timer.Stop()
	cs := w.parts()
	v := r.decide(w.gate, cs)
	if v == Undecided {
		return false // released
	}
	if v != p.stop.Verdict {
		p.stop.Verdict = v
		p.stop.Reason = "what came while the last calls were let finish: nothing can make the eval pass"
	}
	for _, i := range verdict.Open(cs) {
		p.stop.Open = append(p.stop.Open, w.judged[i].name)
	}
	if r.dry {
		r.would = &p.stop
		return false
	}
	w.end(&ending{stop: &p.stop})
	return true
}

// drained is called when the calls of the deciding answer have had their time.
func (w *watch) drained(r *rule, p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil || r.pending != p {
		return
	}
	if w.look(r) {
		w.note("calls of the deciding answer were still open after %v", w.drain)
	}
	w.changed()
}

// end cuts the trajectory here.
func (w *watch) end(e *ending) {
	w.ended = e
	for _, r := range w.rules {
		if r.pending != nil {
			r.pending.timer.Stop()
			r.pending = nil
		}
	}
	if w.leave != nil {
		w.leave(errCut)
	}
}

// errCut is the cause with which a Send is cancelled when its trajectory was cut.
var errCut = fmt.Errorf("evaltest: the trajectory was cut")

// overspent ends the trajectory when it has cost more than it may. A stop that is pending and holds goes first.
func (w *watch) overspent() bool {
	if w.limits.Tokens == 0 && w.limits.Cost == 0 {
		return false
	}
	u := w.before.Add(w.tr.Usage())
	if w.tally {
		u.Cost = w.prices.cost(u) // of all tokens at once: a sum of rounded costs drifts
	}
	switch l := w.limits; {
	case l.Tokens > 0 && u.Tokens() > l.Tokens:
		return w.limit(fmt.Sprintf("tokens: %d of %d", u.Tokens(), l.Tokens))
	case l.Cost > 0 && u.Cost > l.Cost:
		return w.limit(fmt.Sprintf("cost: $%.4g of $%.4g", u.Cost, l.Cost))
	}
	return false
}

// limit ends the trajectory by a limit that does not wait for a boundary. Met while draining it ends the drain.
func (w *watch) limit(what string) bool {
	if w.interrupted() {
		w.note("limit met while draining: %s", what)
		return true
	}
	w.end(&ending{limit: what})
	return true
}

// interrupted ends a drain early: it reports whether a stop was pending, and falls now.
func (w *watch) interrupted() bool {
	for _, r := range w.rules {
		if r.pending != nil && w.look(r) {
			return true
		}
	}
	return false
}

// outOfTime is called when the limit on duration is reached.
func (w *watch) outOfTime() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended == nil {
		w.limit(fmt.Sprintf("duration: %v", w.limits.Duration))
	}
	w.changed()
}

func (w *watch) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}
