package journal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// The test binary is also the test processes that the tests start.
func TestMain(m *testing.M) {
	switch os.Getenv("JOURNAL_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "trial":
		childTrial()
	case "endless":
		childEndless()
	case "exit":
		childExit()
	case "wait":
		childWait()
	}
}

// childExit ends its process while a criterion is being graded.
func childExit() {
	j, err := Default()
	if err == nil {
		var t *Trial
		if t, err = j.Begin(Intent{ID: idOf(os.Getenv("JOURNAL_TEST_NAME"))}); err == nil {
			err = errors.Join(t.Grading("c1"), t.Criterion(result(1)), t.Grading("ends it all"))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(7)
}

// childWait begins a trial, says so, and lives on until it is killed.
func childWait() {
	j, err := Default()
	if err == nil {
		_, err = j.Begin(Intent{ID: idOf(os.Getenv("JOURNAL_TEST_NAME"))})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("begun")
	time.Sleep(time.Minute) // whatever becomes of the test
	os.Exit(3)
}

// childTrial writes one trial to the journal of its run and prints the run directory.
func childTrial() {
	j, err := Default()
	if err == nil {
		var t *Trial
		if t, err = j.Begin(Intent{ID: idOf(os.Getenv("JOURNAL_TEST_NAME"))}); err == nil {
			if err = t.Criterion(result(1)); err == nil {
				err = t.Verdict(Verdict{Outcome: verdict.OutcomePassed})
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(j.Dir())
}

// childEndless writes trials until it is killed, and prints a dot for each verdict that is on disk.
func childEndless() {
	go func() {
		time.Sleep(time.Minute) // whatever becomes of the test
		os.Exit(3)
	}()
	j, err := Default()
	for n := 0; err == nil; n++ {
		var t *Trial
		if t, err = j.Begin(Intent{ID: idOf(fmt.Sprintf("TestEndless/%d", n))}); err != nil {
			break
		}
		fmt.Fprintln(t.Raw(), "a line of the agent")
		if err = t.Criterion(result(1)); err != nil {
			break
		}
		if err = t.Verdict(Verdict{Outcome: verdict.OutcomePassed}); err == nil {
			fmt.Print(".")
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// child is a test process whose binary lies at binary and whose working directory is dir.
func child(tb testing.TB, what, binary, dir string, env ...string) *exec.Cmd {
	tb.Helper()
	exe, err := os.Executable()
	require.NoError(tb, err)
	require.NoError(tb, os.MkdirAll(filepath.Dir(binary), 0o755))
	if _, err := os.Lstat(binary); err != nil {
		if os.Link(exe, binary) != nil { // another file system
			data, err := os.ReadFile(exe)
			require.NoError(tb, err)
			require.NoError(tb, os.WriteFile(binary, data, 0o755))
		}
	}
	cmd := exec.Command(binary)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "EVALTEST_DIR=", "JOURNAL_TEST_CHILD="+what)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// module makes a module with two packages and answers its root.
func module(tb testing.TB) string {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/m\n"), 0o644))
	for _, p := range []string{"a", "b"} {
		require.NoError(tb, os.Mkdir(filepath.Join(root, p), 0o755))
	}
	return root
}
