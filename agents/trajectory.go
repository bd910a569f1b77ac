package agents

import (
	"fmt"
	"iter"
	"sync"
	"time"
)

// A Trajectory is what an agent did, in order. It only ever grows, and a prefix of it is a length: events and calls are
// values that never change, and the status of a call is asked at a length.
//
// Memory belongs to the trajectory (see Fold), so that criteria keep no state of their own and judging the next event
// costs the same however many came before. The zero value is empty and ready for use; it must not be copied. All methods
// are safe for concurrent use.
type Trajectory struct {
	once sync.Once
	log  *log
	// n is the length; -1: all that the log holds, now and later.
	n   int
	mem memory
}

// log is what a trajectory and its prefixes share. Events and calls are only ever appended.
type log struct {
	mu     sync.RWMutex
	events events
	calls  []*call
	byID   map[string]*call
	spare  []call // memory for the next calls, taken a batch at a time
}

func (l *log) newCall() *call {
	if len(l.spare) == 0 {
		l.spare = make([]call, min(max(len(l.calls), 4), 64))
	}
	c := &l.spare[0]
	l.spare = l.spare[1:]
	c.statuses = c.room[:0]
	return c
}

// call is a call with its whole history; the trajectories that share it look at it at their own lengths.
type call struct {
	ToolCall
	message  string
	index    int
	began    int
	statuses []change // by event index, ascending; nearly always one or two
	room     [2]change
}

type change struct {
	at     int
	status Status
}

// at is the status and the index of the event that settled the call (-1: not settled), looking at n events.
func (c *call) at(n int) (s Status, ended int) {
	s, ended = Pending, -1
	for _, ch := range c.statuses {
		if ch.at >= n {
			break
		}
		if s = ch.status; s.Settled() {
			ended = ch.at
		}
	}
	return s, ended
}

// A Call is a tool call as seen at some length of a trajectory.
type Call struct {
	ToolCall
	Message string // id of the answer that it was dispatched in, "" where the agent gives none
	Index   int    // among all calls, by dispatch, from 0
	Began   int    // index of the event that dispatched it
	Ended   int    // index of the event that settled it; -1: not settled
	Status  Status
}

// NewTrajectory is a trajectory of these events. It panics where Append would refuse one: it is for events that the
// caller wrote.
func NewTrajectory(events ...Event) *Trajectory {
	tr := new(Trajectory)
	for _, e := range events {
		if err := tr.Append(e); err != nil {
			panic(err)
		}
	}
	return tr
}

func (tr *Trajectory) init() *log {
	tr.once.Do(func() {
		if tr.log == nil {
			tr.log, tr.n = &log{byID: map[string]*call{}}, -1
		}
	})
	return tr.log
}

// Append adds an event. It stamps a zero Time with the present, and moves a time that lies before the last event's up to
// it, so that times never run backwards. An event that contradicts what is there is refused, and nothing is added: a call
// without an id or with one that was used before, a status of an unknown call, a status of a call that is settled, one
// that it has already, and an empty one. A prefix refuses everything.
func (tr *Trajectory) Append(e Event) error {
	l := tr.init()
	if tr.n >= 0 {
		return fmt.Errorf("agents: append to trajectory: it is a prefix of another one")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case EventCall:
		switch {
		case e.Call.ID == "":
			return fmt.Errorf("agents: append to trajectory: call of %s has no id", e.Call.Name)
		case l.byID[e.Call.ID] != nil:
			return fmt.Errorf("agents: append to trajectory: a second call has the id %s", e.Call.ID)
		}
		c := l.newCall()
		c.ToolCall, c.message, c.index, c.began = e.Call, e.Message, len(l.calls), l.events.n
		l.calls = append(l.calls, c)
		l.byID[c.ID] = c
	case EventStatus:
		c := l.byID[e.CallID]
		if c == nil {
			return fmt.Errorf("agents: append to trajectory: status %s of an unknown call %q", e.Status, e.CallID)
		}
		switch s, _ := c.at(l.events.n); {
		case e.Status == "":
			return fmt.Errorf("agents: append to trajectory: a status event of call %s has no status", e.CallID)
		case s.Settled():
			return fmt.Errorf("agents: append to trajectory: status %s of call %s, which is %s already", e.Status, e.CallID, s)
		case s == e.Status:
			return fmt.Errorf("agents: append to trajectory: call %s is %s already", e.CallID, s)
		}
		c.statuses = append(c.statuses, change{l.events.n, e.Status})
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if n := l.events.n; n > 0 {
		if last := l.events.at(n - 1).Time; e.Time.Before(last) {
			e.Time = last
		}
	}
	l.events.append(e)
	return nil
}

// Len is the number of events.
func (tr *Trajectory) Len() int {
	l := tr.init()
	if tr.n >= 0 {
		return tr.n
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.events.n
}

// Event is the i-th event, from 0. It panics when there is none.
func (tr *Trajectory) Event(i int) Event {
	es := tr.view()
	if i < 0 || i >= es.n {
		panic(fmt.Sprintf("agents: event %d of a trajectory of length %d", i, es.n))
	}
	return *es.at(i)
}

// Events yields all events in order, as of now, with their indexes.
func (tr *Trajectory) Events() iter.Seq2[int, Event] {
	return func(yield func(int, Event) bool) {
		es := tr.view()
		for i := range es.n {
			if !yield(i, *es.at(i)) {
				return
			}
		}
	}
}

// view is the events as of now.
func (tr *Trajectory) view() events {
	l := tr.init()
	l.mu.RLock()
	defer l.mu.RUnlock()
	if tr.n >= 0 {
		return l.events.first(tr.n)
	}
	return l.events
}

// Prefix is the first n events, with a memory of its own. It shares the events and costs the same at every length. It
// panics when n is negative or beyond the end.
func (tr *Trajectory) Prefix(n int) *Trajectory {
	if have := tr.Len(); n < 0 || n > have {
		panic(fmt.Sprintf("agents: prefix of length %d of a trajectory of length %d", n, have))
	}
	return &Trajectory{log: tr.log, n: n}
}

// With is a new trajectory of tr's events and, after them, further ones: what would be if they came. An event that Append
// would refuse is left out. It copies tr.
func (tr *Trajectory) With(events ...Event) *Trajectory {
	out := new(Trajectory)
	for _, e := range tr.Events() {
		_ = out.Append(e)
	}
	for _, e := range events {
		_ = out.Append(e)
	}
	return out
}

// Calls yields all calls in the order of their dispatch.
func (tr *Trajectory) Calls() iter.Seq[Call] {
	return func(yield func(Call) bool) {
		l := tr.init()
		n := tr.Len()
		l.mu.RLock()
		calls := l.calls[:len(l.calls):len(l.calls)]
		l.mu.RUnlock()
		for _, c := range calls {
			if c.began >= n || !yield(l.snapshot(c, n)) {
				return
			}
		}
	}
}

// Call is the call with this id, if it was dispatched.
func (tr *Trajectory) Call(id string) (Call, bool) {
	l := tr.init()
	n := tr.Len()
	l.mu.RLock()
	c := l.byID[id]
	l.mu.RUnlock()
	if c == nil || c.began >= n {
		return Call{}, false
	}
	return l.snapshot(c, n), true
}

func (l *log) snapshot(c *call, n int) Call {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s, ended := c.at(n)
	return Call{c.ToolCall, c.message, c.index, c.began, ended, s}
}

// Output is what the tool of the call with this id answered, "" when it has not or was not known.
func (tr *Trajectory) Output(id string) string {
	c, ok := tr.Call(id)
	if !ok || c.Ended < 0 {
		return ""
	}
	return tr.Event(c.Ended).Output
}
