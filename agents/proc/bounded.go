package proc

import (
	"fmt"
	"sync"
)

// bounded keeps the beginning and the end of what is written to it: of a long output, what was asked and how it
// ended are worth more than the middle.
type bounded struct {
	mu         sync.Mutex
	half       int
	head, tail []byte // tail holds up to 2*half bytes between cuts
	total      int64
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	b.total += int64(n)
	if room := b.half - len(b.head); room > 0 {
		k := min(room, len(p))
		b.head = append(b.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > b.half {
		p = p[len(p)-b.half:]
	}
	b.tail = append(b.tail, p...)
	if len(b.tail) > 2*b.half {
		b.tail = append(b.tail[:0], b.tail[len(b.tail)-b.half:]...)
	}
	return n, nil
}

// bytes is what was written; with a line in the place of what was left out.
func (b *bounded) bytes() (text []byte, truncated bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tail := b.tail
	if len(tail) > b.half {
		tail = tail[len(tail)-b.half:]
	}
	text = append([]byte(nil), b.head...)
	if left := b.total - int64(len(b.head)+len(tail)); left > 0 {
		text = fmt.Appendf(text, "\n[... %d bytes left out ...]\n", left)
		truncated = true
	}
	return append(text, tail...), truncated
}
