package criteriatest

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Violations is what Run would report, by rule.
func Violations(t *testing.T, newCriterion func() evaltest.LiveCriterion, constructs bool, opts ...Option) map[string]*Violation {
	t.Helper()
	s, err := newSession(newCriterion, constructs, opts, callSite{pkg: "github.com/evaltest-go/evaltest/evaltest/criteriatest_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.explore()
	s.letTimePass(t)
	s.concurrent()
	return s.found
}

// Rules is the names of all rules.
func Rules() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

const RaceEnabled = raceEnabled
