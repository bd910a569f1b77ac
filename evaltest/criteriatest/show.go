package criteriatest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evaltest-go/evaltest/agents"
)

// show is a trajectory, one event a line, with what is said of each prefix where that changes, and a mark after the first at events if
// that is not all.
func show(tr *agents.Trajectory, at int, says []string) string {
	var b strings.Builder
	said := ""
	remark := func(n int) string {
		if n >= len(says) || says[n] == said {
			return ""
		}
		said = says[n]
		return "  → " + said
	}
	fmt.Fprintf(&b, "%3d  (nothing yet)%s\n", 0, remark(0))
	width := 0
	for _, e := range tr.Events() {
		width = min(max(width, utf8.RuneCountInString(line(e))), 60)
	}
	start := 0
	for i, e := range tr.Events() {
		if i == at {
			fmt.Fprintf(&b, "     ---- the prefix that was judged ends here\n")
		}
		r := remark(i + 1)
		text := line(e)
		if d := e.Time.Sub(tr.Event(start).Time); i > 0 && d >= 1e9 {
			text += fmt.Sprintf("  (%v later)", d)
			start = i
		}
		if r != "" {
			text += strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
		}
		fmt.Fprintf(&b, "%3d  %s%s\n", i+1, text, r)
	}
	return b.String()
}

// line is an event in one line.
func line(e agents.Event) string {
	var b strings.Builder
	switch e.Kind {
	case agents.EventPrompt:
		fmt.Fprintf(&b, "user: %s", quoted(e.Text))
	case agents.EventMessage:
		fmt.Fprintf(&b, "model: %s", quoted(e.Text))
	case agents.EventRequest:
		b.WriteString("the agent asks its model")
	case agents.EventCall:
		fmt.Fprintf(&b, "call %s: %s", e.Call.ID, what(e.Call))
	case agents.EventStatus:
		fmt.Fprintf(&b, "%s %s", e.CallID, e.Status)
		if e.Output != "" {
			fmt.Fprintf(&b, ": %s", quoted(e.Output))
		}
	case agents.EventUsage:
		fmt.Fprintf(&b, "usage: %d tokens, $%v", e.Usage.Tokens(), e.Usage.Cost)
	case agents.EventDone:
		b.WriteString("the agent hands back")
	default:
		b.WriteString(string(e.Kind))
	}
	if e.Parent != "" {
		fmt.Fprintf(&b, " [in %s]", e.Parent)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, " [answer %s]", e.Message)
	}
	return b.String()
}

// what says what a call does.
func what(c agents.ToolCall) string {
	parts := []string{string(c.Kind)}
	if c.Name != "" && c.Name != toolNames[c.Kind] {
		parts = append(parts, "by "+c.Name)
	}
	for _, x := range c.Commands {
		parts = append(parts, quoted(x))
	}
	for _, x := range c.Paths {
		parts = append(parts, quoted(x))
	}
	if c.Skill != "" {
		parts = append(parts, quoted(c.Skill))
	}
	if len(c.Input) > 0 && len(c.Commands)+len(c.Paths) == 0 && c.Skill == "" {
		parts = append(parts, clip(string(c.Input), 80))
	}
	return strings.Join(parts, " ")
}

func quoted(s string) string { return strconv.Quote(clip(s, 70)) }

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
