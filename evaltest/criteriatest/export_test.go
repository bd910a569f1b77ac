package criteriatest

import (
	"reflect"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Violations is what Run would report, in a test of the package that declares the criterion, by rule.
func Violations(t *testing.T, newCriterion func() evaltest.LiveCriterion, constructs bool, opts ...Option) map[string]*Violation {
	t.Helper()
	declared := reflect.TypeOf(newCriterion())
	if declared.Kind() == reflect.Pointer {
		declared = declared.Elem()
	}
	s, err := newSession(newCriterion, constructs, opts, callSite{pkg: declared.PkgPath()})
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

// Explanation is what a rule says.
func Explanation(rule string) string { return explanation(rule) }

// RaceEnabled says that the race detector is at work.
const RaceEnabled = raceEnabled
