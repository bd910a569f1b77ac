package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// mostLines is how many lines of one name a text has; what is more is counted.
const mostLines = 8

// text is what Text writes: a line for each thing there is to say.
type text struct {
	b    strings.Builder
	only string // the one package, which then need not be named again; "" when there are several
}

func (t *text) line(name, format string, args ...any) {
	fmt.Fprintf(&t.b, "  %-10s %s\n", name, printable.Line(fmt.Sprintf(format, args...)))
}

// Text is the summary for a terminal, without an end of line: what there is to say, and no more. Control characters in it are
// shown as pictures.
func (s *Summary) Text() string {
	t := &text{}
	if len(s.Packages) == 1 {
		t.only = printable.Line(s.Packages[0])
	}
	t.header(s)
	t.rates(s)
	t.unmeasured(s)
	t.wrong(s)
	t.saved(s)
	t.totals(s)
	return strings.TrimSuffix(t.b.String(), "\n")
}

func (t *text) header(s *Summary) {
	n := s.Full.Trials() + s.Smoke.Trials()
	of := t.only
	if of == "" {
		of = number(len(s.Packages), "package")
	}
	fmt.Fprintf(&t.b, "evaltest: %s of %s, run %s\n", number(n, "trial"), of, printable.Line(s.Run))
}

func (t *text) rates(s *Summary) {
	if s.Full.Trials() > 0 || s.Smoke.Trials() == 0 {
		t.line("full", "%s", s.Full)
		t.leaning(s.Full)
	}
	if s.Smoke.Trials() == 0 {
		return
	}
	armed := ""
	if s.ArmedPasses > 0 {
		armed = fmt.Sprintf("; %d passed what is armed, and nothing more was asked of them", s.ArmedPasses)
	}
	t.line("smoke", "%s%s", s.Smoke, armed)
	t.leaning(s.Smoke)
}

// leaning says what a rate would be with the verdicts that kept trials from being tried again, as others were.
func (t *text) leaning(r Rate) {
	passed, all := r.withSpared()
	if n := all - r.Measured(); n > 0 {
		t.line("leaning", "%s known before an error, so not tried again as others, and not among the measured; with these it would be %d of %d (%s)",
			number(n, "verdict"), passed, all, percent(passed, all, nearest))
	}
}

// unmeasured says why trials are not among the measured.
func (t *text) unmeasured(s *Summary) {
	f, m := s.Full, s.Smoke
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{f.Errored + m.Errored, "errored"},
		{f.NotRun + m.NotRun, "not run"},
		{f.Undecided + m.Undecided, "undecided"},
		{f.Known() + m.Known(), "with a verdict that an error had a part in"},
		{f.UnderWay + m.UnderWay, "under way"},
	} {
		if c.n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", c.n, c.what)
		if c.what == "errored" && s.LeftOpen > 0 {
			part += fmt.Sprintf(" (%d left open by a process that ended)", s.LeftOpen)
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		t.line("unmeasured", "%s", strings.Join(parts, ", "))
	}
	t.counts("error", slices.DeleteFunc(slices.Clone(s.Errors), func(c Count) bool { return c.N == c.NotRun }))
	t.counts("not run", s.NotRun)
}

// counts says what went wrong, by kind and source.
func (t *text) counts(name string, cs []Count) {
	for i, c := range cs {
		if i == mostLines {
			n := 0
			for _, c := range cs[i:] {
				n += c.N
			}
			t.line(name, "… and %d more, of %s", n, number(len(cs)-i, "kind"))
			return
		}
		notRun := ""
		if c.NotRun > 0 {
			notRun = fmt.Sprintf(" (%d not run)", c.NotRun)
		}
		t.line(name, "%d × %s (%s)%s: %s", c.N, c.Kind, c.Source, notRun, t.example(c.Mishap))
	}
}

func (t *text) example(m Mishap) string {
	trial := m.Trial
	if t.only != "" {
		trial = strings.TrimPrefix(trial, t.only+".")
	}
	return trial + ": " + printable.Short(m.Message, 200)
}

// wrong says what somebody has to mend, though no verdict hangs on it.
func (t *text) wrong(s *Summary) {
	if c := s.Contracts; c.N > 0 {
		t.line("contract", "%s broke the contract: %s", number(c.N, "criterion"), t.example(c.Mishap))
	}
	if c := s.Asserted; c.N > 0 {
		t.line("asserted", "%s on results failed: %s", number(c.N, "assertion"), t.example(c.Mishap))
	}
	if c := s.AfterCut; c.N > 0 {
		t.line("after cut", "%s left open, and lost by what still came: %s", number(c.N, "criterion"), t.example(c.Mishap))
	}
}

// saved says what retries and the agents' own have brought, and what stops and earlier runs have saved.
func (t *text) saved(s *Summary) {
	if r := s.Retries; r.Attempts > 0 {
		t.line("retries", "%s beyond the first, after %s, healed %s and cost %s, %v at work and %v waiting before",
			number(r.Attempts, "attempt"), kinds(r.After), number(r.Healed, "trial"), used(r.Usage), round(r.Took), round(r.Waited))
	}
	if n := total(s.Overcome); n > 0 {
		t.line("overcome", "%s to models failed (%s), which the agents' own retries overcame", number(n, "request"), kinds(s.Overcome))
	}
	if st := s.Stops; st.Trials > 0 {
		left := ""
		if st.Limited > 0 {
			left = fmt.Sprintf("; at most %s saved, by the limits of %d of them", number(st.TurnsLeft, "turn"), st.Limited)
		}
		t.line("stopped", "%s early%s", number(st.Trials, "trial"), left)
	}
	if r := s.Reused; r.Trials > 0 {
		t.line("reused", "%s of earlier runs, %d graded anew; saved %s", number(r.Trials, "trial"), r.Regraded, used(r.Usage))
	}
}

// totals says what the run has cost, who worked, and by which rules.
func (t *text) totals(s *Summary) {
	if s.Full.Trials()+s.Smoke.Trials() > 0 {
		t.line("cost", "%s; trials took %v, added up, within %v", used(s.Usage), round(s.Took), round(s.Elapsed))
	}
	t.some("agent", len(s.Agents), func(i int) string { return agentText(s.Agents[i]) })
	policies := policyTexts(s.Policies)
	t.some("policy", len(policies), func(i int) string { return policies[i] })
	t.some("problem", len(s.Problems), func(i int) string { return s.Problems[i] })
}

// some has a line for each of n things, but for those that are too many.
func (t *text) some(name string, n int, of func(i int) string) {
	for i := range n {
		if i == mostLines {
			t.line(name, "… and %d more", n-i)
			return
		}
		t.line(name, "%s", of(i))
	}
}

func agentText(a Agent) string {
	parts := []string{strings.TrimSpace(a.Name + " " + a.Version)}
	if parts[0] == "" {
		parts[0] = "an agent without a name"
	}
	if a.Model != "" {
		parts = append(parts, "model "+a.Model)
	}
	if others := slices.DeleteFunc(slices.Clone(a.Answered), func(m string) bool { return m == a.Model }); len(others) > 0 {
		parts = append(parts, "answered by "+strings.Join(others, ", "))
	}
	switch why, direct := strings.CutPrefix(a.Upstream, "direct"); {
	case direct:
		parts = append(parts, "provider not observed"+why)
	case a.Upstream == "script":
		parts = append(parts, "a script in the model's place")
	case a.Upstream != "":
		parts = append(parts, "at "+a.Upstream)
	}
	return strings.Join(parts, ", ") + "; " + number(a.Trials, "trial")
}

// policyTexts says what was in force, where it bears on what the numbers mean.
func policyTexts(ps []Policy) []string {
	type shown struct {
		Policy
		n int
	}
	var all []shown
	for _, p := range ps {
		k := Policy{Policy: journal.Policy{OnError: p.OnError, Retries: p.Retries, Resumes: p.Resumes}, Mode: p.Mode}
		i := slices.IndexFunc(all, func(s shown) bool { return s.Policy == k })
		if i < 0 {
			i = len(all)
			all = append(all, shown{Policy: k})
		}
		all[i].n += p.Trials
	}
	var out []string
	for _, p := range all {
		parts := []string{"what is done about errors is not on record"}
		if p.OnError != "" {
			parts = []string{map[bool]string{true: "errors skip the test", false: "errors fail the test"}[p.OnError == "skip"], retries(p.Retries)}
		}
		if p.Mode != "" {
			parts = append(parts, "stops: "+string(p.Mode))
		}
		if p.Resumes != "" {
			parts = append(parts, "resumes "+p.Resumes)
		}
		out = append(out, strings.Join(parts, ", ")+"; "+number(p.n, "trial"))
	}
	return out
}

func retries(n int) string {
	switch n {
	case 0:
		return "no retries"
	case 1:
		return "at most 1 retry"
	}
	return fmt.Sprintf("at most %d retries", n)
}

// kinds is "3 × rate_limit, 1 × network".
func kinds(cs []Count) string {
	var parts []string
	for _, c := range cs {
		parts = append(parts, fmt.Sprintf("%d × %s", c.N, c.Kind))
	}
	if len(parts) == 0 {
		return "what is not on record"
	}
	return strings.Join(parts, ", ")
}

func total(cs []Count) (n int) {
	for _, c := range cs {
		n += c.N
	}
	return n
}

// used is tokens, by kind where there are several, and money.
func used(u agents.Usage) string {
	var of []string
	for _, k := range []struct {
		n    int64
		what string
	}{{u.InputTokens, "input"}, {u.CachedTokens, "cached"}, {u.CacheWriteTokens, "cache writes"}, {u.OutputTokens, "output"}} {
		if k.n > 0 {
			of = append(of, fmt.Sprintf("%d %s", k.n, k.what))
		}
	}
	s := fmt.Sprintf("%d tokens", u.Tokens())
	if len(of) > 0 {
		s += " (" + strings.Join(of, ", ") + ")"
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

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "criterion"); ok {
		return fmt.Sprintf("%d %scriteria", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
