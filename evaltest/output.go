package evaltest

import (
	"fmt"
	"math/big"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// lastActs is how many of the agent's last acts a report shows.
const lastActs = 6

// headline is the outcome in one line.
func (a *attempt) headline() string {
	t := a.trial
	score := t.Score.String()
	switch t.Outcome {
	case OutcomePassed:
		if t.Smoke {
			return fmt.Sprintf("PASSED (armed; open: %s): score %s", strings.Join(t.Stop.Open, ", "), score)
		}
		return fmt.Sprintf("PASSED: score %s, gate: %s", score, a.e.gate)
	case OutcomeFailed:
		return fmt.Sprintf("FAILED: score %s, gate: %s", score, a.e.gate)
	case OutcomeUndecided:
		return fmt.Sprintf("UNDECIDED (no verdict on the agent): the armed criteria had no answer within the %s; a larger StepBudget gives them more", t.Limit)
	case OutcomeNotRun:
		return fmt.Sprintf("ERROR (no verdict on the agent): not run: %s", t.Err.Message())
	}
	return fmt.Sprintf("ERROR (no verdict on the agent): %s (%s): %s", t.Err.Kind, t.Err.Source, firstLine(t.Err.Message()))
}

// text is the report of the attempt, for people. brief leaves out what only a failure is looked at for.
func (a *attempt) text(brief bool) string {
	a = a.shown() // before anything is shortened or folded
	t := a.trial
	var b strings.Builder
	b.WriteString("evaltest: " + a.headline() + "\n")
	field := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	for i, p := range t.Prompts {
		name := "asked"
		if i > 0 {
			name = "then"
		}
		field(name, "%s", printable.Short(p, 200))
	}
	field("agent", "%s", a.describeAgent())
	if r := a.reused; r != nil && r.Regraded {
		field("regraded", "from the record of run %s (%s): the agent did not run again", r.Run, r.Folder)
	} else if r != nil {
		field("reused", "from run %s (%s): nothing has changed since", r.Run, r.Folder)
	}
	for _, b := range t.Earlier {
		field("attempt", "%d ended in an error: %s (%s): %s; %s, tried again after %v", b.Number, b.Err.Kind, b.Err.Source,
			printable.Short(b.Err.Message(), 200), count(int(b.Usage.Tokens()), "token"), b.Waited.Round(time.Millisecond))
	}
	if r := a.requests; r != nil {
		for _, f := range r.Failures {
			if f.Overcome {
				field("overcome", "request %d to the model failed (%s: %s); the agent asked again", f.N, f.Kind, printable.Short(f.Message, 160))
			}
		}
	}
	if s := t.Stop; s != nil {
		saved := ""
		if s.TurnsLeft > 0 {
			saved = fmt.Sprintf("; %s left of the limit", count(s.TurnsLeft, "turn"))
		}
		field("stopped", "at turn %d, call %d, after %v (%s): %s%s", s.Turn, s.ToolCall, s.Elapsed.Round(time.Millisecond), s.Mode, s.Reason, saved)
	}
	if t.Limit != "" {
		field("limit", "%s", t.Limit)
	}
	for _, s := range a.shadow {
		said := "the full run agrees"
		switch {
		case len(s.Broken) > 0 && s.Mode == verdict.Armed:
			said = "assumption broken: " + strings.Join(s.Broken, ", ") + " failed in the full run"
		case !s.Held:
			said = fmt.Sprintf("the full run differs: %s", t.Outcome)
		}
		field("shadow", "%s would have stopped at turn %d, call %d with %v: %s", s.Mode, s.Turn, s.ToolCall, s.Verdict, said)
	}
	// What came of a criterion is said with it, and what fits the headline is said there.
	if a.err != nil && !a.notRun && (t.Outcome != OutcomeErrored || strings.Contains(strings.TrimSpace(a.err.Message()), "\n")) {
		field("error", "%s (%s): %s", a.err.Kind, a.err.Source, indent(a.err.Message()))
	}
	if len(a.results) > 0 {
		b.WriteString(a.table())
	}
	for i, r := range a.results {
		a.details(&b, a.watch.judged[i], r)
	}
	for _, n := range a.notes {
		field("note", "%s", indent(n))
	}
	if !brief {
		a.acts(&b)
		if t.Record != "" {
			field("transcript", "%s", filepath.Join(t.Record, "transcript.jsonl"))
		}
		if a.kept != "" {
			field("workspace", "%s", t.Dir)
		}
		field("reproduce", "%s", a.e.reproduce())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (a *attempt) describeAgent() string {
	s := printable.Line(a.info.Name)
	if a.info.Version != "" {
		s += " " + printable.Line(a.info.Version)
	}
	if m := a.e.mask(a.model()); m != "" {
		s += ", model " + printable.Line(m)
	}
	if a.e.scripted {
		s += ", its model played by the script"
	}
	t := a.trial
	s += fmt.Sprintf("; %s, %s, %s", count(t.Trajectory.Turns(), "turn"), count(t.Trajectory.MainCalls().Dispatched(), "call"),
		count(int(t.Usage.Tokens()), "token"))
	if t.Usage.Cost > 0 && !a.e.scripted {
		s += fmt.Sprintf(", $%.4f", t.Usage.Cost)
	}
	return s + fmt.Sprintf(", %v", a.agent.Round(time.Millisecond))
}

// table is what each criterion came to.
func (a *attempt) table() string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  criterion\tscore\tneeds\tweight\tverdict\t")
	for i, r := range a.results {
		j := a.watch.judged[i]
		fmt.Fprintf(tw, "  %s\t%v\t%s\t%s\t%s\t\n", printable.Short(r.Name, 60), r.Score, number(j.passAt), number(j.weight), word(j, r))
	}
	_ = tw.Flush() // a strings.Builder takes everything
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

func number(r *big.Rat) string {
	if r == nil {
		return "1"
	}
	f, _ := r.Float64()
	return fmt.Sprintf("%.4g", f)
}

// word is the verdict of a criterion, failures standing out.
func word(j *judged, r CriterionResult) string {
	var s string
	switch {
	case r.Violation != "":
		s = "CONTRACT"
	case r.Err != nil:
		s = "error"
	case r.Verdict == Passed:
		s = "pass"
	case r.Verdict == Failed:
		s = "FAIL"
	default:
		s = "open"
	}
	if r.Violated {
		s += ", broken after the cut"
	}
	if j.advisory {
		s += " (advisory)"
	}
	if j.required {
		s += " (required)"
	}
	if p := j.part().Armed; p != 0 {
		s += fmt.Sprintf(" (armed for %v)", p)
	}
	return s
}

// details says of a criterion what does not fit the table.
func (a *attempt) details(b *strings.Builder, j *judged, r CriterionResult) {
	name := printable.Short(r.Name, 60)
	switch {
	case r.Violation != "":
		fmt.Fprintf(b, "  %s: %s broke its contract: %s\n", j.source, name, indent(r.Violation))
	case r.Err != nil:
		fmt.Fprintf(b, "  %s: %s: %s (%s): %s\n", j.source, name, r.Err.Kind, r.Err.Source, indent(r.Err.Message()))
	case r.Score.Lo.Reason != "" && (r.Verdict != Passed || r.Score.Lo.Cmp(PassIf(true)) != 0):
		fmt.Fprintf(b, "  %s: %s\n", name, indent(r.Score.Lo.Reason))
	}
}

// acts lists the last few things that the agent did.
func (a *attempt) acts(b *strings.Builder) {
	tr, mask := a.trial.Trajectory, a.e.masker()
	var lines []string
	for i := tr.Len() - 1; i >= 0 && len(lines) < lastActs; i-- {
		switch e := tr.Event(i); e.Kind {
		case agents.EventMessage:
			lines = append(lines, fmt.Sprintf("%q", printable.Short(mask.text(e.Text), 100)))
		case agents.EventCall:
			c, _ := tr.Call(e.Call.ID)
			lines = append(lines, fmt.Sprintf("%s: %s", mask.describe(e.Call), c.Status))
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		name := ""
		if i == len(lines)-1 {
			name = "last acts"
		}
		fmt.Fprintf(b, "  %-10s %s\n", name, lines[i])
	}
}

// describe is a call in a few words, on one line. What it shortens has to be masked before.
func describe(c agents.ToolCall) string {
	name := printable.Short(c.Name, 60)
	switch {
	case len(c.Commands) > 0:
		return fmt.Sprintf("%s %s", name, printable.Short(strings.Join(c.Commands, "; "), 100))
	case len(c.Paths) > 0:
		return fmt.Sprintf("%s %s", name, printable.Short(strings.Join(c.Paths, ", "), 100))
	case c.Skill != "":
		return fmt.Sprintf("%s %s", name, printable.Short(c.Skill, 100))
	case len(c.Input) > 0:
		return fmt.Sprintf("%s %s", name, printable.Short(string(c.Input), 100))
	}
	return name
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// indent has the further lines of a block stand below its first.
func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n      ")
}

// runPattern is the argument of -run that runs exactly the named test.
func runPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// quoteShell is s as a word of a shell.
func quoteShell(s string) string {
	if q, err := syntax.Quote(s, syntax.LangBash); err == nil {
		return q
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
