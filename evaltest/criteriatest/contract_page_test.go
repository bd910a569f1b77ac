package criteriatest_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/right"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// What docs/contract.md says beside its tables.
const (
	aboutContract = `# The contract of live criteria, and who holds it

A run may be cut short because a criterion has answered, so what it answers must be true of every way in which the run could have
gone on. That is its contract, which stands on ` + "[`evaltest.LiveCriterion`](../evaltest/criterion.go)" + `: LiveVerdict is *pure*, what it
says is *declared*, stays (*monotone*), and is what Grade says in the end (*sound*), and Grade reads the trajectory alone.

Three look for what breaks it, each where it costs the least:

1. **The analyzers**, in the editor and in CI, see what code shows: that a type is not live at all, that a verdict is not declared, that
   it depends on a clock, or on what was seen before. They say nothing where they cannot know: see [linting](linting.md).
2. **criteriatest**, in a test of one line, sees what only running shows: it makes trajectories of what the criterion looks at, and
   holds every prefix against every way in which it may end.
3. **The watcher** sees every run of every eval: a criterion that says what it has not declared, takes back what it said, or is not what
   Grade says is disarmed, stops nothing more, and makes the test red as an error, never as a failure of the agent. It judges what
   happens in that run, so it comes last; and what a smoke check stops for is not seen to be taken back later.

The tables are written by a test that has all three look at [wrong criteria](../evaltest/criteriatest/testdata/wrong), each with one
plausible mistake, and at [right ones](../evaltest/criteriatest/testdata/right) that look suspicious.
`
	aboutWatcher = `
What the watcher notices, in a full run and in a smoke check (` + "`EVALTEST_STOP=armed`" + `), or in one of them alone:

| | |
|---|---|
| refused | StopPolarities makes no sense: the eval does not begin |
| declared | LiveVerdict gives a verdict that StopPolarities does not have |
| monotone | LiveVerdict takes a verdict back |
| bounds | LiveBounds widen, are no scores, or do not fit the verdict |
| agreement | Grade gives another score than was said while the agent worked |
| score | Grade gives no score, though nothing keeps it from that |
| returns | a method panics, hangs, or ends its goroutine |
`
	aboutWrong = `
## Wrong criteria

%d mistakes: %d are found by an analyzer, %d by a rule of criteriatest, %d by the watcher, and none by nothing. The rules are those that
always find it. Where chance has a part (†), so is what the watcher notices: what a full run always shows.

| mistake | analyzer | criteriatest | watcher |
|---|---|---|---|
`
	aboutRight = `
## Right criteria that look suspicious

%d, and no finding by any of the three.

| criterion | looks like |
|---|---|
`
)

// page is docs/contract.md.
func page(t *testing.T, rows []*row, rights []right.Case, trials map[string]*journal.TrialRecord) string {
	t.Helper()
	var b, table strings.Builder
	b.WriteString(aboutContract)
	b.WriteString("\n| analyzer | reports |\n|---|---|\n")
	for _, a := range analyzers() {
		if slices.ContainsFunc(rows, func(r *row) bool { return slices.Contains(r.analyzers, a.Name) }) { // others are about evals
			first, _, _ := strings.Cut(a.Doc, "\n")
			fmt.Fprintf(&b, "| [%s](lint/%[1]s.md) | %s |\n", a.Name, strings.TrimPrefix(first, "reports "))
		}
	}
	b.WriteString("\n| rule of [criteriatest](../evaltest/criteriatest/criteriatest.go) | says |\n|---|---|\n")
	for _, rule := range criteriatest.Rules() {
		fmt.Fprintf(&b, "| %s | %s |\n", rule, criteriatest.Explanation(rule))
	}
	b.WriteString(aboutWatcher)

	byAnalyzer, byRule, byWatcher := 0, 0, 0
	broken := map[string]bool{}
	for _, r := range rows {
		name, rules, run := strings.ReplaceAll(r.Name, "|", `\|`), strings.Fields(r.Rules), r.noticed(t, trials)
		if r.Chance {
			name += " †"
		}
		assert.NotZero(t, len(r.analyzers)+len(rules)+len(run), "nothing finds %s", r.Name)
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", name, cell(strings.Join(r.analyzers, ", ")), cell(strings.Join(rules, ", ")), cell(run))
		byAnalyzer += min(len(r.analyzers), 1)
		byRule += min(len(rules), 1)
		byWatcher += min(len(run), 1)
		if len(rules) > 0 {
			broken[rules[0]] = true
		}
	}
	for _, rule := range criteriatest.Rules() {
		assert.True(t, broken[rule], "no mistake breaks the rule %s", rule)
	}
	fmt.Fprintf(&b, aboutWrong, len(rows), byAnalyzer, byRule, byWatcher)
	b.WriteString(table.String())
	fmt.Fprintf(&b, aboutRight, len(rights))
	for _, c := range rights {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Name, c.Looks)
	}
	return b.String()
}

// cell is what is in a cell of a table.
func cell(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// golden holds text against a file, or writes that.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))), text, "%s is out of date: run the test with -update", file)
}
