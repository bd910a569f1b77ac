package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

func nameOf(run *journal.Run) string { return filepath.Base(run.Dir) }

// Text is the summary for a terminal, without an end of line: what there is to say, and no more.
func (s *Summary) Text() string {
	var b strings.Builder
	field := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-10s %s\n", name, oneLine(fmt.Sprintf(format, args...)))
	}
	n := s.Full.Trials() + s.Smoke.Trials()
	fmt.Fprintf(&b, "evaltest: %s of %s, run %s\n", count(n, "trial"), packages(s.Packages), s.Run)
	if s.Full.Trials() > 0 || n == 0 {
		field("full", "%s", s.Full)
	}
	if s.Smoke.Trials() > 0 {
		field("smoke", "%s; these passed what was armed alone, and are in no other rate", s.Smoke)
	}
	s.faults(field)
	for _, e := range s.Errors {
		notRun := ""
		if e.NotRun > 0 {
			notRun = fmt.Sprintf(" (%d not run)", e.NotRun)
		}
		field("error", "%d × %s (%s)%s: %s: %s", e.N, e.Kind, e.Source, notRun, e.Trial, shorten(e.Example))
	}
	if r := s.Retries; r.Attempts > 0 {
		field("retries", "%s made again, which healed %s and cost %s, %v of work and %v of waiting",
			count(r.Attempts, "attempt"), count(r.Healed, "trial"), spent(r.Usage), round(r.Took), round(r.Waited))
	}
	if s.Overcome > 0 {
		field("overcome", "%s to models failed, and the agents' own retries overcame it", count(s.Overcome, "request"))
	}
	if st := s.Stops; st.Trials > 0 {
		left := ""
		if st.Limited > 0 {
			left = fmt.Sprintf("; at most %s saved, by the limits of %d of them", count(st.TurnsLeft, "turn"), st.Limited)
		}
		field("stopped", "%s early%s", count(st.Trials, "trial"), left)
	}
	if r := s.Reused; r.Trials > 0 {
		field("reused", "%s of an earlier run, %d of them graded anew; they had cost %s", count(r.Trials, "trial"), r.Regraded, spent(r.Usage))
	}
	if s.Unobserved > 0 {
		field("direct", "%s of agents whose provider was not observed", count(s.Unobserved, "trial"))
	}
	field("cost", "%s; %v of work in %v", spent(s.Usage), round(s.Took), round(s.Elapsed))
	for _, p := range s.Problems {
		field("problem", "%s", p)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// faults says what has to be mended by somebody.
func (s *Summary) faults(field func(name, format string, args ...any)) {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Full.Undecided + s.Smoke.Undecided, "undecided"}, {s.Full.Errored + s.Smoke.Errored, "errored"}, {s.Full.NotRun + s.Smoke.NotRun, "not run"},
		{s.Full.KnownPassed + s.Full.KnownFailed + s.Smoke.KnownPassed, "with a verdict that an error had a part in"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if len(parts) > 0 {
		field("unmeasured", "%s", strings.Join(parts, ", "))
	}
	if s.Violations > 0 {
		field("contract", "%s that broke the contract", count(s.Violations, "criterion result"))
	}
	if s.Assertions > 0 {
		field("asserted", "%s on results failed", count(s.Assertions, "assertion"))
	}
}

func packages(names []string) string {
	if len(names) == 1 {
		return oneLine(names[0])
	}
	return count(len(names), "package")
}

func spent(u agents.Usage) string {
	s := fmt.Sprintf("%d tokens", u.Tokens())
	if u.CachedTokens > 0 {
		s += fmt.Sprintf(" (%d cached)", u.CachedTokens)
	}
	if u.Cost > 0 {
		s += fmt.Sprintf(", $%.4f", u.Cost)
	}
	return s
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func shorten(s string) string {
	const most = 200
	rs := []rune(oneLine(s))
	if len(rs) <= most {
		return string(rs)
	}
	return string(rs[:most-1]) + "…"
}

// oneLine is s on one line and without control characters: it may quote an agent, which could forge events of the test log.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
