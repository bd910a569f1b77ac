package journal

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// ends runs a child of the run with the number build that ends its process while TestExit is under way.
func ends(tb testing.TB, root, build, test string, env ...string) {
	tb.Helper()
	cmd := child(tb, "exit", filepath.Join(tb.TempDir(), "go-build"+build, "b001", "a.test"), filepath.Join(root, "a"), append(env, "JOURNAL_TEST_NAME="+test)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(tb, err, &exit, "%s", out)
	require.Equal(tb, 7, exit.ExitCode(), "%s", out)
}

func leftOpen(tb testing.TB, j *Journal) (tests []string) {
	tb.Helper()
	ts, err := j.LeftOpen()
	require.NoError(tb, err)
	for _, t := range ts {
		tests = append(tests, t.Intent.ID.Test)
	}
	return tests
}

func TestTheNextRunSaysWhatWasLeftOpen(t *testing.T) {
	t.Parallel()
	root := module(t)
	ends(t, root, "1", "TestExit")
	j := runOf(t, root, "", 2)
	ts, err := j.LeftOpen()
	require.NoError(t, err)
	require.Len(t, ts, 1)
	assert.Equal(t, "TestExit", ts[0].Intent.ID.Test)
	assert.Equal(t, "ends it all", ts[0].Grading)
	assert.Equal(t, agents.Interrupted, ts[0].Err().Kind)
	assert.Contains(t, ts[0].Err().Error(), "the test process ended before the verdict, while grading ends it all")
	assert.Len(t, ts[0].Criteria, 1)
	assert.DirExists(t, ts[0].Dir)
	attempt(t, j, "TestExit", 1, verdict.OutcomePassed)
	assert.Empty(t, leftOpen(t, runOf(t, root, "", 3)), "only the run before is looked at")

	other := runOf(t, root, "", 3)
	other.process.Package = "example.com/other"
	assert.Empty(t, leftOpen(t, other), "it is another package's")
}

func TestWhatIsUnderWayIsNotLeftOpen(t *testing.T) {
	t.Parallel()
	root := module(t)
	cmd := child(t, "wait", filepath.Join(t.TempDir(), "go-build1", "b001", "a.test"), filepath.Join(root, "a"), "JOURNAL_TEST_NAME=TestLong")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	j := runOf(t, root, "", 2)
	assert.Empty(t, leftOpen(t, j))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	assert.Equal(t, []string{"TestLong"}, leftOpen(t, j))
}

func TestWhatIsRunAgainInADirectoryIsNotLeftOpen(t *testing.T) {
	t.Parallel()
	root := module(t)
	dir := "EVALTEST_DIR=" + filepath.Join(root, "results")
	ends(t, root, "1", "TestA", dir)
	ends(t, root, "2", "TestB", dir)
	assert.Equal(t, []string{"TestA", "TestB"}, leftOpen(t, runOf(t, root, "results", 3)))
	attempt(t, runOf(t, root, "results", 4), "TestA", 1, verdict.OutcomePassed)
	assert.Equal(t, []string{"TestB"}, leftOpen(t, runOf(t, root, "results", 5)))
}

func TestAProcessThatIsCertainlyGone(t *testing.T) {
	t.Parallel()
	me := process("1", "")
	assert.False(t, me.gone())
	assert.Equal(t, owner.Self(), me.Owner)
	exited := exec.Command("go", "version")
	if err := exited.Run(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go command")
	}
	old := Process{PID: exited.Process.Pid, Host: me.Host} // of schema 1, which had no more
	assert.True(t, old.gone())
	old.Host = "elsewhere"
	assert.False(t, old.gone(), "it cannot be looked for")
}
