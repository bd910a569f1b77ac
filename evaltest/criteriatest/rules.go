package criteriatest

import (
	"fmt"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// A Violation is a rule that a criterion breaks.
type Violation struct {
	Rule      string // its name, as in the documentation of the package
	Criterion string // as String names it
	Saw       string // what was seen, in one line
	// Trajectory shows it, where it takes one, and At is the length of the prefix that was judged first; nil and 0 else.
	Trajectory *agents.Trajectory
	At         int
	// Reproduction is the source of a test that fails for the same reason; "" where none can be given.
	Reproduction string

	says []string // what the criterion says of each prefix of it
}

// Error shows all of it, on many lines.
func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "criteriatest: %s: breaks the rule %s: %s\n", v.Criterion, v.Rule, explanation(v.Rule))
	fmt.Fprintf(&b, "    saw: %s\n", strings.ReplaceAll(v.Saw, "\n", "\n         "))
	if v.Trajectory != nil {
		b.WriteString("    on the trajectory:\n")
		b.WriteString(indent(show(v.Trajectory, v.At, v.says), "        "))
	}
	if v.Reproduction != "" {
		b.WriteString("    to reproduce:\n")
		b.WriteString(indent(v.Reproduction, "        "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// rule is a rule of the contract.
type rule struct {
	name        string
	explanation string
	alone       bool // it means something for a criterion that is not pure
}

// rules in the order in which they are reported.
var rules = []rule{
	{"returns", "its methods return: they do not panic, hang, or end their goroutine", true},
	{"string", "String is one line, not empty, and always the same", true},
	{"declared", "StopPolarities has every verdict that LiveVerdict gives, and is always the same", true},
	{"pure", "the same events give the same verdict, whatever was judged before, whenever, by whichever value", true},
	{"concurrent", "one value judges in several goroutines as it does in one", false},
	{"incremental", "a trajectory that was watched as it grew is judged as one that is seen for the first time", false},
	{"monotone", "once decided, the verdict stays on every longer prefix", false},
	{"bounds", "LiveBounds are scores, only ever narrow, fit the verdict, and hold the grade of every completion", false},
	{"sound", "Passed means that Grade of every completion is 1, Failed that it is 0", false},
	{"trajectory", "Grade reads the trajectory only, and answers ErrOpen where open calls leave its score open, and nowhere else", false},
	{"reachable", "each verdict that StopPolarities declares is reached, and Grade gives scores", false},
}

func explanation(name string) string {
	for _, r := range rules {
		if r.name == name {
			return r.explanation
		}
	}
	return ""
}

func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}
