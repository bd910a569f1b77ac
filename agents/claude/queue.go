package claude

import (
	"slices"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
)

// item is what the reader hands over: an event, or the end of a turn, or the end of the stream.
type item struct {
	event agents.Event
	end   *end
	eof   bool
}

// queue is unbounded: the CLI must never wait for whoever looks at the events.
type queue struct {
	mu    sync.Mutex
	items []item
	wake  chan struct{} // has one element when something came
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) push(items ...item) {
	if len(items) == 0 {
		return
	}
	q.mu.Lock()
	q.items = append(q.items, items...)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// pop is the next item, if there is one. The end of the stream stays.
func (q *queue) pop() (item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item{}, false
	}
	i := q.items[0]
	if i.eof {
		return i, true
	}
	q.items[0] = item{} // let go of it
	q.items = q.items[1:]
	return i, true
}

// forgetEnds drops the ends of turns that nobody asked for: a shell in the background that ended makes the CLI take one.
func (q *queue) forgetEnds() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.DeleteFunc(q.items, func(i item) bool { return i.end != nil })
}
