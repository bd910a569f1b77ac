package agents

// chunk is a run of events. Long trajectories are made of many, so that appending never moves what is there.
type chunk [chunkSize]Event

const chunkSize = 64

// events is a list of events that only grows. Whoever has a copy of it sees what was there when it was made, and may read
// that while more is appended: the events that it sees are never written to again.
type events struct {
	chunks []*chunk
	n      int
}

func (es *events) append(e Event) {
	if es.n == len(es.chunks)*chunkSize {
		es.chunks = append(es.chunks, new(chunk))
	}
	*es.at(es.n) = e
	es.n++
}

// at is the i-th event. It panics when there is none.
func (es *events) at(i int) *Event { return &es.chunks[i/chunkSize][i%chunkSize] }

// first is the first n events.
func (es events) first(n int) events { return events{es.chunks, n} }
