package agents

type turnsKey struct{}

// turns counts answers of the model on the main thread.
type turns struct {
	n         int
	answer    string // id of the last one
	requests  bool   // the agent shows its requests
	requested bool   // one came after the last answer
}

// Turns is the number of turns begun: answers of the model on the main thread, told apart by their message ids. An agent
// that gives no ids begins a turn with what follows each request that it shows, and one that shows neither with each text
// and each call.
func (tr *Trajectory) Turns() int {
	return Fold(tr, turnsKey{}, func(t turns, e Event) turns {
		if e.Parent != "" {
			return t
		}
		switch e.Kind {
		case EventRequest:
			t.requests, t.requested = true, true
		case EventMessage, EventCall:
			if e.Message != "" && e.Message != t.answer || e.Message == "" && (t.requested || !t.requests) {
				t.n++
			}
			t.answer, t.requested = e.Message, false
		}
		return t
	}).n
}

type mainCallsKey struct{}

// MainCalls counts the calls of the main thread by status.
func (tr *Trajectory) MainCalls() Tally {
	return tr.Tally(mainCallsKey{}, func(c ToolCall) bool { return c.Parent == "" })
}

// Dispatched is the number of calls of any status.
func (t Tally) Dispatched() int { return t.Ran() + t.Denied + t.Open() }

type usageKey struct{}

// Usage is the sum of all usage events.
func (tr *Trajectory) Usage() Usage {
	return Fold(tr, usageKey{}, func(u Usage, e Event) Usage { return u.Add(e.Usage) })
}

type replyKey struct{}

// Reply is the model's last words on the main thread since the last prompt: the texts of the last answer that has any.
func (tr *Trajectory) Reply() string {
	type reply struct{ answer, text string }
	return Fold(tr, replyKey{}, func(r reply, e Event) reply {
		switch {
		case e.Kind == EventPrompt:
			return reply{}
		case e.Kind != EventMessage || e.Parent != "":
			return r
		case e.Message != "" && e.Message == r.answer:
			r.text += e.Text
			return r
		}
		return reply{e.Message, e.Text}
	}).text
}
