package criteriatest_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/wrong"
)

var update = flag.Bool("update", false, "write the golden files")

// What is printed of a violation is the rule, what was seen, the trajectory, and a test that reproduces it.
func TestViolationsAreReadable(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"pending.golden":  criteriatest.Check(wrong.PendingPass{}),
		"reopened.golden": criteriatest.Check(wrong.LastTest{}),
	} {
		require.Error(t, err)
		golden(t, filepath.Join("testdata", name), err.Error()+"\n")
	}
}

// Each violation can be had as a value.
func TestErrorHoldsViolations(t *testing.T) {
	t.Parallel()
	err := criteriatest.Check(wrong.PendingPass{})
	var v *criteriatest.Violation
	require.ErrorAs(t, err, &v)
	assert.Equal(t, "sound", v.Rule)
	assert.Equal(t, "go test is run", v.Criterion)
	require.NotNil(t, v.Trajectory)
	assert.Equal(t, evaltest.Passed, wrong.PendingPass{}.LiveVerdict(v.Trajectory.Prefix(v.At)))
	s, err := wrong.PendingPass{}.Grade(t.Context(), &evaltest.Trial{Trajectory: v.Trajectory})
	assert.True(t, err != nil || s.Cmp(evaltest.PassIf(true)) != 0)
}

// The child is this test, in a process of its own, with a criterion that fails it.
func TestChild(t *testing.T) {
	switch os.Getenv("CRITERIATEST_CHILD") {
	case "concurrent":
		criteriatest.Run(t, &wrong.HeldInField{})
	case "sound":
		criteriatest.RunFunc(t, func() evaltest.LiveCriterion { return wrong.PendingPass{} })
	case "pure":
		criteriatest.Run(t, wrong.MapOrder{})
	default:
		t.Skip("it is run by other tests")
	}
}

// child runs TestChild; failed has its subtests, and whether they failed.
func child(t *testing.T, what string) (output string, failed map[string]bool) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), "CRITERIATEST_CHILD="+what)
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	failed = map[string]bool{}
	for line := range strings.Lines(string(out)) {
		for _, state := range []string{"FAIL", "PASS", "SKIP"} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- "+state+": TestChild/"); ok {
				name, _, _ = strings.Cut(name, " ")
				failed[name] = state == "FAIL"
			}
		}
	}
	return string(out), failed
}

// Run has a subtest for each rule; what is broken fails its own.
func TestRunHasASubtestForEachRule(t *testing.T) {
	t.Parallel()
	out, failed := child(t, "sound")
	for _, rule := range criteriatest.Rules() {
		assert.Contains(t, failed, rule)
		assert.Equal(t, rule == "sound", failed[rule], "%s\n%s", rule, out)
	}
	assert.Contains(t, out, "func TestPendingPassSound(t *testing.T) {")
	assert.Contains(t, out, "(func() evaltest.LiveCriterion")
}

// What is not pure is not held against rules that mean nothing then.
func TestRunSkipsWhatItCannotJudge(t *testing.T) {
	t.Parallel()
	out, failed := child(t, "pure")
	assert.True(t, failed["pure"])
	assert.Contains(t, out, "--- SKIP: TestChild/sound")
	assert.Contains(t, out, "not judged")
}

// A data race is one of the subtest concurrent; without the detector, the wrong verdicts are.
func TestRace(t *testing.T) {
	t.Parallel()
	out, failed := child(t, "concurrent")
	assert.True(t, failed["concurrent"], "%s", out)
	assert.Equal(t, criteriatest.RaceEnabled, strings.Contains(out, "DATA RACE"))
}

// secret is decided by what nobody could guess.
type secret struct{}

type secretKey struct{}

func (secret) hidden(c agents.ToolCall) bool {
	sum := 0
	for _, b := range []byte(c.Name) {
		sum = (sum*31 + int(b)) % 1_000_003
	}
	return sum == 550_200
}

func (secret) String() string                    { return "the door is opened" }
func (secret) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c secret) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(tr.Tally(secretKey{}, c.hidden).Ran() > 0)
}
func (c secret) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(trial.Trajectory.Tally(secretKey{}, c.hidden))
}

// Where the generator does not find what a criterion looks at, it says so, and the author can give it: calls, or transcripts.
func TestWhatCannotBeGuessedIsGiven(t *testing.T) {
	t.Parallel()
	call := agents.ToolCall{ID: "x", Kind: agents.Other, Name: "open_" + strings.Repeat("sesame", 2)}
	require.True(t, secret{}.hidden(call))
	err := criteriatest.Check(secret{}, criteriatest.Cases(20))
	require.ErrorContains(t, err, "breaks the rule reachable")
	require.ErrorContains(t, err, "criteriatest.Calls")
	assert.NoError(t, criteriatest.Check(secret{}, criteriatest.Cases(20), criteriatest.Calls(call)))

	tr := agents.NewTrajectory(agents.Prompt("Do it."), agents.Begin(call), agents.End("x", agents.Completed, ""))
	assert.NoError(t, criteriatest.Check(secret{}, criteriatest.Cases(20), criteriatest.Trajectories(tr)))
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "transcript.jsonl"))
	require.NoError(t, err)
	require.NoError(t, transcript.Write(f, tr, transcript.Header{}))
	require.NoError(t, f.Close())
	assert.NoError(t, criteriatest.Check(secret{}, criteriatest.Cases(20), criteriatest.Transcripts(os.DirFS(dir))))
}

// What cannot be checked is an error that says why.
func TestMisuse(t *testing.T) {
	t.Parallel()
	var missing *wrong.CounterInField
	assert.ErrorContains(t, criteriatest.Check(nil), "it is nil")
	assert.ErrorContains(t, criteriatest.Check(missing), "it is nil")
	assert.ErrorContains(t, criteriatest.CheckFunc(nil), "the constructor is nil")
	assert.ErrorContains(t, criteriatest.Check(criteria.CommandMatches("(")), "missing closing")
	assert.ErrorContains(t, criteriatest.Check(secret{}, criteriatest.Cases(0)), "one at least")
	assert.ErrorContains(t, criteriatest.Check(secret{}, criteriatest.Limit(-1)), "give them some time")
	assert.ErrorContains(t, criteriatest.Check(secret{}, criteriatest.Transcripts(os.DirFS(t.TempDir()))), "no file *.jsonl")
	bad := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bad, "a.jsonl"), []byte("nothing\n"), 0o600))
	assert.ErrorContains(t, criteriatest.Check(secret{}, criteriatest.Transcripts(os.DirFS(bad))), "a.jsonl")
}

// A check with the same seed finds the same.
func TestChecksAreRepeatable(t *testing.T) {
	t.Parallel()
	for _, c := range []evaltest.LiveCriterion{wrong.LastTest{}, wrong.Share{}, wrong.OpenIsZero{}} {
		a, b := criteriatest.Check(c, criteriatest.Seed(5)), criteriatest.Check(c, criteriatest.Seed(5))
		require.Error(t, a)
		assert.Equal(t, a.Error(), b.Error())
	}
}
