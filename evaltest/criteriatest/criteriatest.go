// Package criteriatest checks that a live criterion keeps its contract (see [evaltest.LiveCriterion]): a verdict that it gives
// while the agent works must be the one that it gives in the end, or the runs that it stops are stopped wrongly.
//
//	func TestNoForcePush(t *testing.T) {
//		criteriatest.Run(t, NoForcePush{})
//	}
//
// A test of one line, then, for each live criterion of your own. Trajectories are generated from what the criterion looks at:
// the words in its name, its fields and its source are tried as commands, paths, skills, tools, inputs, texts and numbers until
// some change what it says. Those are woven into trajectories with calls side by side, pending, denied, failed, unresolved and
// nested in sub-agents; every prefix is judged, completed in many ways, and held against Grade.
//
// What is found is shrunk to the shortest trajectory that still shows it, and printed with the rule, with what was seen, and
// with a test in Go that reproduces it.
//
// # Rules
//
// Each is a subtest of Run, and the Rule of a [Violation]:
//
//	returns      LiveVerdict, LiveBounds, StopPolarities, String and Grade return: no panic, no FailNow, no hanging
//	string       String is one line, not empty, and always the same
//	declared     StopPolarities has the verdicts that LiveVerdict gives, and is always the same
//	pure         the same events give the same verdict: whatever was judged before, whenever, by whichever value
//	concurrent   one value judges in several goroutines as it does in one
//	incremental  a trajectory that was watched as it grew is judged as one that is seen for the first time
//	monotone     once decided, the verdict stays on every longer prefix
//	bounds       LiveBounds are scores, only ever narrow, fit the verdict, and hold the grade of every completion
//	sound        Passed means that Grade of every completion is 1, Failed that it is 0
//	trajectory   Grade reads the trajectory only, and answers ErrOpen where open calls leave its score open, and nowhere else
//	reachable    each verdict that is declared is reached, and Grade gives scores
//
// A criterion that is not pure is held against the first four only: it gives nothing to hold the others against.
//
// Data races are found where the test runs with -race; without, only what they lead to. Nothing is said of what a look costs:
// memory belongs to the trajectory, see [agents.Fold].
//
// When a rule says that a verdict is not reached, that may be the fault of the generator, which does not guess what the criterion
// looks at. Give it the calls, with [Calls], or what else decides, with [Texts] and [Transcripts].
package criteriatest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Check holds c against the contract of live criteria. The error lists every rule that it breaks, each as a [*Violation]; nil:
// none was seen to be broken. It takes about a second.
//
// c is used as it is, again and again. Where what a constructor does matters (it seeds a hash, starts a clock, fills a map), use
// [CheckFunc].
func Check(c evaltest.LiveCriterion, opts ...Option) error {
	return check(func() evaltest.LiveCriterion { return c }, false, opts)
}

// CheckFunc is [Check] for what a constructor makes: it is called many times, and all values that it gives must judge alike.
func CheckFunc(newCriterion func() evaltest.LiveCriterion, opts ...Option) error {
	return check(newCriterion, true, opts)
}

// Run is [Check] with one subtest of t for each rule. It also lets time pass (see testing/synctest), so that a criterion that reads
// a clock is found whatever it does with it.
func Run(t *testing.T, c evaltest.LiveCriterion, opts ...Option) {
	t.Helper()
	run(t, func() evaltest.LiveCriterion { return c }, false, opts)
}

// RunFunc is [CheckFunc] with one subtest of t for each rule, as [Run].
func RunFunc(t *testing.T, newCriterion func() evaltest.LiveCriterion, opts ...Option) {
	t.Helper()
	run(t, newCriterion, true, opts)
}

func check(newCriterion func() evaltest.LiveCriterion, constructs bool, opts []Option) error {
	s, err := newSession(newCriterion, constructs, opts, callOf("Check"))
	if err != nil {
		return err
	}
	defer s.close()
	s.explore()
	s.concurrent()
	var errs []error
	for _, r := range rules {
		if v := s.violation(r.name); v != nil {
			errs = append(errs, v)
		}
	}
	return errors.Join(errs...)
}

func run(t *testing.T, newCriterion func() evaltest.LiveCriterion, constructs bool, opts []Option) {
	t.Helper()
	s, err := newSession(newCriterion, constructs, opts, callOf("Run"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.explore()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Helper()
			switch r.name {
			case "pure":
				s.letTimePass(t)
			case "concurrent":
				s.concurrent() // here, so that a race is one of this subtest
			}
			if v := s.violation(r.name); v != nil {
				t.Error(v)
			} else if s.blocked(r) {
				t.Skip("not judged: other rules are broken, see there")
			}
		})
	}
}

// newCriterionOf calls the constructor, and refuses what cannot be checked.
func newCriterionOf(newCriterion func() evaltest.LiveCriterion) (evaltest.LiveCriterion, error) {
	if newCriterion == nil {
		return nil, errors.New("criteriatest: check criterion: the constructor is nil")
	}
	c := newCriterion()
	if v := reflect.ValueOf(c); c == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("criteriatest: check criterion: it is nil")
	}
	if m, ok := c.(evaltest.Misuse); ok {
		if err := m.Misuse(); err != nil {
			return nil, fmt.Errorf("criteriatest: check criterion: it was built from what does not fit: %w", err)
		}
	}
	return c, nil
}
