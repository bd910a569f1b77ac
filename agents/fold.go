package agents

import (
	"sync"
)

// memory is what has been computed from a trajectory so far, by key.
type memory struct {
	mu    sync.Mutex
	cells map[cellKey]*cell
}

// cellKey is a caller's key; what is folded over prefixes is apart from what is folded over events. It is no key inside a
// key, so that looking it up needs no memory.
type cellKey struct {
	key      any
	prefixes bool
}

// cell is one fold: how many events it has seen, and its state (a *S of Fold).
type cell struct {
	mu    sync.Mutex
	n     int
	state any
}

// get is the cell of key; made is true for the first to ask.
func (m *memory) get(key cellKey) *cell {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cells[key]
	if c == nil {
		if m.cells == nil {
			m.cells = map[cellKey]*cell{}
		}
		c = new(cell)
		m.cells[key] = c
	}
	return c
}

// Fold is step over all events of tr so far, starting from the zero S; each event is looked at once per key, so that
// asking again after one more event costs one step. step may keep what it needs in S, maps and slices included, and must
// depend on nothing but its arguments and the key: equal keys, equal steps. The key is a comparable value of a type of the
// caller's own, as with context keys: two packages that use plain strings may meet.
//
// The result is the state itself: do not change what it refers to. step must not fold tr under the same key.
func Fold[S any](tr *Trajectory, key any, step func(S, Event) S) S {
	c := tr.mem.get(cellKey{key: key})
	c.mu.Lock()
	defer c.mu.Unlock()
	s := stateOf[S](c)
	for es := tr.view(); c.n < es.n; c.n++ {
		*s = step(*s, *es.at(c.n))
	}
	return *s
}

// FoldPrefixes is as Fold, but step sees each prefix, from length 1, instead of each event: the last event of the prefix
// is the new one. It is for what depends on how something else was decided earlier. All prefixes are one trajectory that
// grows from step to step, so that what is folded over it costs the same at every length: it must not be kept.
func FoldPrefixes[S any](tr *Trajectory, key any, step func(S, *Trajectory) S) S {
	c := tr.mem.get(cellKey{key, true})
	c.mu.Lock()
	defer c.mu.Unlock()
	s := stateOf[prefixes[S]](c)
	if s.tr == nil {
		s.tr = tr.Prefix(0)
	}
	for n := tr.Len(); c.n < n; c.n++ {
		s.tr.n = c.n + 1
		s.state = step(s.state, s.tr)
	}
	return s.state
}

type prefixes[S any] struct {
	tr    *Trajectory
	state S
}

// stateOf is the state of c, made when c is new. Its type is part of the key's meaning.
func stateOf[S any](c *cell) *S {
	if c.state == nil {
		c.state = new(S)
	}
	return c.state.(*S)
}

// View is a trajectory derived from tr: what step emits for tr's events, looked at one after the other, once per key. It
// is kept up to date at each call and has a memory of its own; start makes the step with its state. An event that Append
// would refuse is left out. The key is as in Fold.
func (tr *Trajectory) View(key any, start func() (step func(e Event, emit func(Event)))) *Trajectory {
	c := tr.mem.get(cellKey{key: key})
	c.mu.Lock()
	defer c.mu.Unlock()
	v := stateOf[view](c)
	if v.tr == nil {
		v.tr = new(Trajectory)
		v.step = start()
		v.emit = func(e Event) { _ = v.tr.Append(e) }
	}
	for es := tr.view(); c.n < es.n; c.n++ {
		v.step(*es.at(c.n), v.emit)
	}
	return v.tr
}

type view struct {
	tr   *Trajectory
	step func(Event, func(Event))
	emit func(Event)
}
