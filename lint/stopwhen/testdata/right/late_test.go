package right

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/stopwhen/testdata/helpers"
)

// An eval for each part, made by one function.
func TestReset(t *testing.T) {
	var e *evaltest.T
	reset := func() { e = evaltest.New(t) }
	reset()
	e.Expect(criteria.FileExists("a"))
	e.Run("Go.")
	reset()
	e.Expect(criteria.FileExists("b"))
	e.Run("Go.")
}

type suite struct{ e *evaltest.T }

func (s *suite) setup(t *testing.T) { s.e = evaltest.New(t) }

func (s *suite) both(t *testing.T, other *suite) {
	s.e.Run("Go.")
	other.e.Expect(criteria.FileExists("a"))
	s.setup(t)
	s.e.Expect(criteria.FileExists("b"))
	s.e.Run("Go on.")
	s.e = evaltest.New(t)
	s.e.Expect(criteria.FileExists("c"))
	s.e.Run("Go on.")
	*s = suite{evaltest.New(t)}
	s.e.Expect(criteria.FileExists("d"))
	s.e.Run("Go on.")
	*s = *other
	s.e.Expect(criteria.FileExists("x"))
	s.e.Run("Go on.")
	t.Run("subtest", func(t *testing.T) { s.setup(t) })
	s.e.Expect(criteria.FileExists("e"))
	s.e.Run("Go on.")
	func() { s.setup(t) }()
	s.e.Expect(criteria.FileExists("f"))
}

// A helper that may run it, a function that is called later, and one that was made before.
func TestPerhaps(t *testing.T) {
	e := evaltest.New(t)
	defer e.Run("Go.")
	helpers.Perhaps(e, testing.Short())
	e.Expect(criteria.FileExists("a"))
	run := func() { e.Run("Go.") }
	e.Expect(criteria.FileExists("b"))
	if testing.Verbose() {
		run()
	}
	e.Expect(criteria.FileExists("c"))
}

// What is asked for stands below in the file, and comes before.
func TestBelow(t *testing.T) {
	e := evaltest.New(t)
	expect := func() { e.Expect(criteria.FileExists("a")) }
	for i := range 2 {
		if i == 1 {
			e.Run("Go.")
			break
		}
		expect()
		e.Expect(criteria.FileExists("b"))
	}
}

// A function that is kept asks something of the eval of the next round.
func TestHooks(t *testing.T) {
	var e *evaltest.T
	var hooks []func()
	for range 3 {
		e = evaltest.New(t)
		for _, h := range hooks {
			h()
		}
		e.Run("Go.")
		hooks = append(hooks, func() { e.Expect(criteria.FileExists("a")) })
	}
}

// The eval before this one.
func TestPrevious(t *testing.T) {
	var last *evaltest.T
	for range 3 {
		e := evaltest.New(t)
		e.Expect(criteria.FileExists("a"))
		if last != nil {
			last.Log("it was run")
		}
		e.Run("Go.")
		last = e
	}
}

// Helpers that ask, and run, one after the other.
func TestInOrder(t *testing.T) {
	for range 2 {
		e := evaltest.New(t)
		helpers.Output(e, "a")
		helpers.Check(t, e)
		helpers.Output(evaltest.New(t), "b")
	}
}
