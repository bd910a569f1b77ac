package agenttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// act is a call as it is compared: without ids, names, inputs and outputs, which agents have of their own, and within
// the call that it happened in, so that it does not matter how sub-agents interleave.
type act struct {
	Kind     agents.Kind
	Commands []string
	Paths    []string
	Skill    string
	Status   agents.Status
	Inside   []act
}

// Same is nil when two trajectories are the same in structure: their calls, in the order of dispatch within each thread,
// have the same kinds, commands, paths, skills and statuses, and happened within the same calls. Else it says where they
// differ.
func Same(a, b *agents.Trajectory) error {
	if d := cmp.Diff(acts(a, ""), acts(b, "")); d != "" {
		return fmt.Errorf("agenttest: the trajectories differ (-first +second):\n%s", d)
	}
	return nil
}

func acts(tr *agents.Trajectory, parent string) []act {
	var out []act
	for c := range tr.Calls() {
		if c.Parent != parent {
			continue
		}
		// Appending makes empty and nil lists the same.
		out = append(out, act{c.Kind, append([]string(nil), c.Commands...), append([]string(nil), c.Paths...), c.Skill, c.Status, acts(tr, c.ID)})
	}
	return out
}

// describe is a call on one line.
func describe(c agents.Call) string {
	what := strings.Join(append(append([]string{}, c.Commands...), c.Paths...), " ") + c.Skill
	return fmt.Sprintf("%3d %s %s (%s, id %s, parent %q, answer %q): %s", c.Index, c.Kind, what, c.Name, c.ID, c.Parent, c.Message, c.Status)
}

// A Case is a script of the set that every agent carries out in the same way.
type Case struct {
	Name    string
	Steps   []script.Step
	Prompts []string
}

// Cases is the set. Its scripts are for a session that was given the skill agenttest-skill (see Play).
func Cases() []Case {
	one := []string{"Work."}
	return []Case{
		{"nothing", []script.Step{script.Say("Nothing to do.")}, one},
		{"files and commands", []script.Step{
			script.Write("a/b.txt", "x\n"), script.Run("wc -l a/b.txt"), script.Read("a/b.txt"), script.Say("One line."),
		}, one},
		{"failures", []script.Step{
			script.Run("echo partly >p.txt; exit 1"), script.Read("missing.txt"), script.Run("cat p.txt"),
		}, one},
		{"one answer", []script.Step{
			script.Together(script.Skill("agenttest-skill"), script.Write("w.txt", "w\n"), script.Run("echo r")), script.Say("Done."),
		}, one},
		{"sub-agents", []script.Step{
			script.Together(
				script.Agent("Do A.", script.Write("a.txt", "a\n"), script.Run("cat a.txt"), script.Say("A.")),
				script.Agent("Do B.", script.Run("exit 2"), script.Write("b.txt", "b\n"), script.Say("B.")),
			),
			script.Run("cat a.txt b.txt"),
			script.Say("Both."),
		}, one},
		{"two turns", []script.Step{
			script.Run("echo 1"), script.HandBack(), script.Run("echo 2"), script.Say("Twice."),
		}, []string{"One.", "Two."}},
	}
}

// Play has the agent of h carry out c in a fresh workspace, to its end.
func Play(t testing.TB, h Harness, c Case) *agents.Trajectory {
	t.Helper()
	if h.Timeout == 0 {
		h.Timeout = defaultTimeout
	}
	x := newExam(t, h)
	x.setup.Skills = append(x.setup.Skills, skillFS)
	x.open(c.Steps...)
	for _, p := range c.Prompts {
		x.finish(p)
	}
	x.close()
	return x.tr
}

// Compare runs one subtest a case: both agents carry it out, and their trajectories are the same in structure.
func Compare(t *testing.T, a, b Harness) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if err := Same(Play(t, a, c), Play(t, b, c)); err != nil {
				t.Errorf("%s and %s: %v", a.Info.Name, b.Info.Name, err)
			}
		})
	}
}
