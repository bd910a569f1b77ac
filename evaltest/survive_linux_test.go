package evaltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/proc"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/internal/outside"
)

// These tests run an eval in the real `go test`, end it in every way that people and CI systems do while its agent is at work,
// and look for what is left: no process, no port, and a record of what was paid for.

// An ending is a way in which `go test` ends while the agent's last command holds.
type ending struct {
	name string
	// end brings it about. It returns when the promise begins to run.
	end func(t *testing.T, r *goTest)
	// args are further ones of `go test`.
	args []string
	// kind of the error that the trial ends with; "": it passes.
	kind agents.ErrorKind
	// dies: the test binary is gone at once, so that there is no verdict.
	dies bool
	// goDies: the go command is gone at once. Else it has to return by itself, and soon.
	goDies bool
}

var (
	killedBinary = ending{name: "kill -9 of the test binary", kind: agents.Interrupted, dies: true, end: func(t *testing.T, r *goTest) {
		require.NoError(t, syscall.Kill(r.binary, syscall.SIGKILL))
	}}
	killedGo = ending{name: "kill -9 of go test", kind: agents.Interrupted, goDies: true, end: func(t *testing.T, r *goTest) {
		require.NoError(t, r.cmd.Process.Kill())
	}}
	endings = []ending{
		killedBinary,
		killedGo,
		{name: "kill -9 of the process group", kind: agents.Interrupted, dies: true, goDies: true, end: func(t *testing.T, r *goTest) {
			group, err := syscall.Getpgid(r.binary)
			require.NoError(t, err)
			require.Equal(t, r.cmd.Process.Pid, group, "the test binary shares the group of go test")
			require.NoError(t, syscall.Kill(-group, syscall.SIGKILL))
		}},
		{name: "kill -9 of the supervisor", kind: agents.Crash, end: func(t *testing.T, r *goTest) {
			require.NoError(t, syscall.Kill(r.supervisor(t), syscall.SIGKILL))
		}},
		{name: "SIGTERM of go test", kind: agents.Interrupted, goDies: true, end: func(t *testing.T, r *goTest) {
			require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
		}},
		{name: "Ctrl-C", kind: agents.Interrupted, dies: true, end: func(t *testing.T, r *goTest) {
			require.NoError(t, syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT))
		}},
		{name: "a -timeout that nobody foresees", kind: agents.Interrupted, dies: true, end: func(t *testing.T, r *goTest) {
			require.Eventually(t, func() bool { return cmdline(r.binary) == nil }, time.Minute, 5*time.Millisecond)
		}},
		{name: "a normal end", end: func(t *testing.T, r *goTest) {
			r.release(t)
			require.NoError(t, r.wait(time.Minute), r.output())
		}},
	}
)

func TestNothingSurvivesAnEval(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	module := t.TempDir()
	require.NoError(t, outside.Module(module, "example.com/m"))
	require.NoError(t, os.CopyFS(module, os.DirFS(filepath.Join("testdata", "survive"))))
	environ, err := outside.Env()
	require.NoError(t, err)
	build := exec.Command("go", "test", "-run=NONE", ".") // or each run would compile the same packages
	build.Dir, build.Env = module, append(os.Environ(), environ...)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	slots := make(chan struct{}, 2) // linkers are hungry
	try := func(name string, e ending, noNamespace bool, prepare func(t *testing.T) []string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e.name == "Ctrl-C" && signal.Ignored(syscall.SIGINT) {
				t.Skip("interrupts are ignored here, as below nohup")
			}
			if !noNamespace {
				if os.Getenv("EVALTEST_NAMESPACE") == "off" || proc.Containment() != "pid namespace" {
					t.Skip("PID namespaces are not allowed here")
				}
			}
			env := environ
			if prepare != nil {
				env = append(prepare(t), env...)
			}
			if noNamespace {
				env = append([]string{"EVALTEST_NAMESPACE=off"}, env...)
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			survive(t, e, module, env)
		})
	}
	for _, e := range endings {
		try(e.name+"/namespace", e, false, nil)
		try(e.name+"/no namespace", e, true, nil)
	}
	raced := killedBinary
	raced.args = []string{"-race"}
	try("under the race detector", raced, true, func(t *testing.T) []string {
		if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
			t.Skip("the race detector needs cgo")
		}
		return nil
	})
	onClaude := func(t *testing.T) []string {
		return []string{"EVALTEST_AGENT=claude", "EVALTEST_GATEWAY=script", "EVALTEST_CLAUDE=" + claudePath(t)}
	}
	try("claude/"+killedBinary.name, killedBinary, false, onClaude)
	try("claude/"+killedGo.name, killedGo, true, onClaude)
}

// patience is how long a descendant may live on before the test fails. The promise is two seconds, on a machine that has time.
const patience = 10 * time.Second

// survive runs the eval, ends it, and looks for what is left.
func survive(t *testing.T, e ending, module string, env []string) {
	r := startAndHold(t, e, module, env)
	ports := listeners(r.binary)
	if strings.Contains(t.Name(), "claude") {
		require.NotEmpty(t, ports, "the gateway listens")
	}
	e.end(t, r)
	begin := time.Now()
	if e.kind == "" {
		assert.Empty(t, r.running(), "go test has passed, and something is running")
	}
	if !e.goDies {
		err := r.wait(patience)
		assert.NotErrorIs(t, err, context.DeadlineExceeded, "go test does not end")
		t.Logf("go test: %v after %v", err, time.Since(begin).Round(time.Millisecond))
	}
	for left := r.running(); len(left) > 0; left = r.running() {
		require.Less(t, time.Since(begin), patience, "survivors: %v", left)
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("nothing left after %v", time.Since(begin).Round(time.Millisecond))
	assert.NotContains(t, r.output(), "I/O incomplete")
	for inode, address := range ports {
		assert.NotContains(t, listeningSockets(), inode, "%s is still open", address)
	}
	r.recorded(t, e)
}

// startAndHold starts `go test`, and returns when the agent's last command holds and each leftover is running. An alarm that
// rings before that is set anew.
func startAndHold(t *testing.T, e ending, module string, env []string) *goTest {
	if !strings.HasPrefix(e.name, "a -timeout") {
		r := startGoTest(t, module, env, append(e.args, "-run=^TestEval$"))
		require.True(t, r.holds(t), "go test has ended: %s", r.output())
		return r
	}
	for timeout := 4 * time.Second; timeout < 3*time.Minute; timeout *= 3 {
		r := startGoTest(t, module, env, append(e.args, "-run=^TestEvalWithoutDeadline$", fmt.Sprintf("-timeout=%v", timeout)))
		if r.holds(t) {
			return r
		}
	}
	t.Fatal("the alarm always rings before the agent has come so far")
	return nil
}

// recorded checks what is on disk: that the trial was begun, how it ended, and what the agent did until then.
func (r *goTest) recorded(t *testing.T, e ending) {
	run, err := journal.Read(r.records())
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	require.Len(t, run.Trials, 1)
	trial := run.Trials[0]
	assert.Equal(t, r.binary, trial.Intent.PID)
	if e.dies {
		assert.Nil(t, trial.Verdict, "nobody was left to write one")
		assert.DirExists(t, trial.Intent.Workspace, "what the agent did is kept for a look")
	}
	if e.kind == "" {
		assert.Equal(t, evaltest.OutcomePassed, trial.Outcome())
		assert.NoDirExists(t, trial.Intent.Workspace)
	} else if assert.Equal(t, evaltest.OutcomeErrored, trial.Outcome(), "an end from outside is no verdict") && assert.NotNil(t, trial.Err()) {
		assert.Equal(t, e.kind, trial.Err().Kind, "%v", trial.Err())
	}

	f, err := os.Open(filepath.Join(trial.Dir, "transcript.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	tr, header, err := transcript.Read(f)
	if !errors.Is(err, transcript.ErrTorn) {
		require.NoError(t, err)
	}
	assert.Equal(t, trial.Intent.Agent.Name, header.Agent)
	status := map[agents.Status]int{}
	for call := range tr.Calls() {
		status[call.Status]++
	}
	if e.kind == "" {
		assert.Equal(t, map[agents.Status]int{agents.Completed: len(leftovers) + 1}, status)
		return
	}
	assert.Equal(t, len(leftovers), status[agents.Completed], "the commands that had ended: %v", status)
	assert.Equal(t, len(leftovers)+1, tr.MainCalls().Dispatched(), "and the one that held: %v", status)
}
