package runstate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlacesAcrossProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, c := start(t, dir), start(t, dir), start(t, dir)
	a.ask("a1 acquire 2", "a1 has")
	b.ask("b1 acquire 2", "b1 has")
	// In turn: a2, c1, b2, a3, c2.
	a.ask("a2 acquire 2", "a2 waiting")
	c.ask("c1 acquire 2", "c1 waiting")
	b.ask("b2 acquire 2", "b2 waiting")
	a.ask("a3 acquire 2", "a3 waiting")
	c.ask("c2 acquire 2", "c2 waiting")
	a.silent("two are at work")
	c.silent("two are at work")

	b.ask("b1 release", "b1 releases")
	a.hear("a2 has")
	c.silent("it came after")

	// One that dies with two places, and with one in the queue, frees the places and is not waited for.
	a.kill()
	c.hear("c1 has")
	b.hear("b2 has")
	c.silent("two are at work again")
	c.ask("c1 release", "c1 releases")
	c.hear("c2 has")
}

func TestADeadWaiterIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	holder, dead, next, last := start(t, dir), start(t, dir), start(t, dir), start(t, dir)
	holder.ask("h acquire 1", "h has")
	dead.ask("d acquire 1", "d waiting")
	next.ask("n acquire 1", "n waiting")
	last.ask("l acquire 1", "l waiting")
	dead.kill()
	next.silent("one is at work")
	holder.ask("h release", "h releases")
	next.hear("n has")
	last.silent("it is not its turn")
	next.kill()
	last.hear("l has")
}

func TestBreakerAcrossProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ps := []*child{start(t, dir), start(t, dir), start(t, dir)}
	for i, kind := range []string{"network", "crash", "timeout", "overloaded", "network"} {
		p := ps[i%3]
		p.ask("look look k", "look closed")
		p.ask(fmt.Sprintf("t%d enter k", i), fmt.Sprintf("t%d entered", i))
		p.ask(fmt.Sprintf("t%d done %s", i, kind), fmt.Sprintf("t%d done", i))
	}
	for _, p := range ps {
		p.ask("again enter k", "again open 5 network")
		p.ask("look look k", "look open 5 network")
		p.ask("other enter another", "other entered")
	}
}

func TestEntrantsOfAnotherProcessAreHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slow, quick, held := start(t, dir), start(t, dir), start(t, dir)
	slow.ask("s enter k", "s entered")
	quick.ask("q enter k", "q entered")
	quick.ask("r enter k", "r entered")
	quick.ask("q done auth", "q done")
	quick.ask("r done auth", "r done")
	held.ask("h enter k", "h waiting")
	held.silent("one is under way")
	held.ask("look look k", "look closed")
	slow.ask("s done measured", "s done")
	held.hear("h entered")
	held.ask("h done measured", "h done")
}

// Who is killed is not under way any more, and comes to nothing.
func TestKilledUnderWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slow, quick, held := start(t, dir), start(t, dir), start(t, dir)
	for i := range 6 {
		slow.ask(fmt.Sprintf("s%d enter k", i), fmt.Sprintf("s%d entered", i))
	}
	for i := range 5 {
		name := fmt.Sprintf("q%d", i)
		quick.ask(name+" enter k", name+" entered")
		quick.ask(name+" done crash", name+" done")
	}
	held.ask("h enter k", "h waiting")
	held.silent("six are under way")
	slow.kill()
	held.hear("h open 5 crash")
	quick.ask("look look k", "look open 5 crash")

	// Killed before the fifth error: four do not open it.
	slow = start(t, dir)
	for i := range 5 {
		name := fmt.Sprintf("s%d", i)
		slow.ask(name+" enter k2", name+" entered")
	}
	for i := range 4 {
		name := fmt.Sprintf("s%d", i)
		slow.ask(name+" done crash", name+" done")
	}
	slow.kill()
	held.ask("g enter k2", "g entered")
	held.ask("g done crash", "g done")
	quick.ask("look look k2", "look open 5 crash")
}

// One who is held and killed is nobody's hindrance.
func TestKilledWhileHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slow, held, other := start(t, dir), start(t, dir), start(t, dir)
	for _, name := range []string{"s", "q", "r"} {
		slow.ask(name+" enter k", name+" entered")
	}
	slow.ask("q done missing", "q done")
	slow.ask("r done missing", "r done")
	held.ask("h enter k", "h waiting")
	other.ask("o enter k", "o waiting")
	held.kill()
	slow.ask("s done measured", "s done")
	other.hear("o entered")
	assert.Zero(t, looked(t, open(t, dir), "k"))
}
