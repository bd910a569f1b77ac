package agents

// Tally is a number of calls by status; Pending includes those in progress.
type Tally struct{ Completed, Failed, Denied, Unresolved, Pending int }

// Ran is the number of calls that have run, well or badly.
func (t Tally) Ran() int { return t.Completed + t.Failed }

// Open is the number of calls that may have run, or may yet.
func (t Tally) Open() int { return t.Pending + t.Unresolved }

func (t *Tally) add(s Status, n int) {
	switch s {
	case Completed:
		t.Completed += n
	case Failed:
		t.Failed += n
	case Denied:
		t.Denied += n
	case Unresolved:
		t.Unresolved += n
	default:
		t.Pending += n
	}
}

// Tally counts the calls for which match holds, by status. match sees each call as it was dispatched, once per key, and
// must depend on nothing but the call and the key, which is as in Fold.
func (tr *Trajectory) Tally(key any, match func(ToolCall) bool) Tally {
	return tr.Weigh(key, func(c ToolCall) int {
		if match(c) {
			return 1
		}
		return 0
	})
}

// Weigh is as Tally, but each call counts as often as weight says: a call may hold several commands.
func (tr *Trajectory) Weigh(key any, weight func(ToolCall) int) Tally {
	c := tr.mem.get(cellKey{key: key})
	c.mu.Lock()
	defer c.mu.Unlock()
	s := stateOf[tally](c)
	for es := tr.view(); c.n < es.n; c.n++ {
		switch e := es.at(c.n); e.Kind {
		case EventCall:
			w := weight(e.Call)
			s.weights = append(s.weights, w)
			s.Pending += w
		case EventStatus:
			if i, before := tr.before(e.CallID, c.n); s.weights[i] != 0 {
				s.add(before, -s.weights[i])
				s.add(e.Status, s.weights[i])
			}
		}
	}
	return s.Tally
}

type tally struct {
	Tally
	weights []int // of each call, by its index
}

// before is the index of a call and its status just before the event with index n.
func (tr *Trajectory) before(id string, n int) (index int, s Status) {
	l := tr.log
	l.mu.RLock()
	defer l.mu.RUnlock()
	c := l.byID[id]
	s, _ = c.at(n)
	return c.index, s
}
