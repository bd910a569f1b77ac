package criteria

import (
	"reflect"

	"github.com/evaltest-go/evaltest/evaltest"
)

// A composite is a criterion that is made of others.
type composite interface {
	components() []evaltest.Criterion
}

// isNil reports whether c is no criterion: nil, or a nil pointer.
func isNil(c evaltest.Criterion) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// partsMisuse is the first thing that is wrong with the parts that a constructor was given.
func partsMisuse(constructor string, parts ...evaltest.Criterion) error {
	for _, p := range parts {
		if isNil(p) {
			return misuse(constructor, "a part is nil; leave it out")
		}
		if m, ok := p.(evaltest.Misuse); ok {
			if err := m.Misuse(); err != nil {
				return err
			}
		}
	}
	return nil
}

// livePartsMisuse is partsMisuse for a constructor whose parts have to be live throughout.
func livePartsMisuse(constructor string, parts ...evaltest.Criterion) error {
	if err := partsMisuse(constructor, parts...); err != nil {
		return err
	}
	for _, p := range parts {
		if end := endState(p); end != nil {
			return misuse(constructor, "its part %s looks at the workspace when the agent is done, and cannot be judged at a moment in between; "+
				"combine such criteria outside of %s, with AllOf or AnyOf", end, constructor)
		}
	}
	return nil
}

// endState is a criterion within c that is not live; nil: there is none.
func endState(c evaltest.Criterion) evaltest.Criterion {
	if _, ok := c.(evaltest.LiveCriterion); !ok {
		return c
	}
	if c, ok := c.(composite); ok {
		for _, p := range c.components() {
			if end := endState(p); end != nil {
				return end
			}
		}
	}
	return nil
}

// reach is what c's live verdict can reach: nothing for one that is not live.
func reach(c evaltest.Criterion) evaltest.Polarity {
	if l, ok := c.(evaltest.LiveCriterion); ok && !isNil(c) {
		return l.StopPolarities()
	}
	return 0
}

// nameOf is how c is called within the name of a combination.
func nameOf(c evaltest.Criterion) string {
	if isNil(c) {
		return "nothing"
	}
	return c.String()
}
