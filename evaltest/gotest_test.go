package evaltest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/internal/outside"
)

// Life inside the real `go test`: each script is a small module of evals, run as its author would.
func TestInsideGoTest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds test binaries")
	}

	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "gotest"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup:               outside.Script,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"run":       printRun,
			"gotestsum": runGotestsum,
		},
	})
}

// printRun prints what is on disk of the runs in a directory, for stdout and cmp: `run DIR`, or with `run -all DIR` those in all folders of it.
func printRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: run [-all] DIR")
	}
	dirs := []string{ts.MkAbs(args[len(args)-1])}
	if args[0] == "-all" {
		entries, err := os.ReadDir(dirs[0])
		ts.Check(err)
		base := dirs[0]
		dirs = nil
		for _, e := range entries {
			if e.IsDir() {
				dirs = append(dirs, filepath.Join(base, e.Name()))
			}
		}
	}
	fmt.Fprintf(ts.Stdout(), "runs: %d\n", len(dirs))
	for _, dir := range dirs {
		r, err := journal.Read(dir)
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "processes: %d, trials: %d, problems: %d\n", len(r.Processes), len(r.Trials), len(r.Problems))
		for _, t := range r.Trials {
			fmt.Fprintf(ts.Stdout(), "%v: %v, %d criteria, %d failures\n", t.Intent.ID, t.Outcome(), len(t.Criteria), len(t.Failures))
		}
	}
}

// gotestsum is where gotestsum is: where make puts it, else built once from the module of tools.
var gotestsum = sync.OnceValues(func() (string, error) {
	if path, err := filepath.Abs(filepath.Join("..", "bin", "gotestsum")); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	path := filepath.Join(os.Getenv("EVALTEST_DIR"), "gotestsum") // removed with it
	cmd := exec.Command("go", "build", "-o", path, "gotest.tools/gotestsum")
	cmd.Dir = filepath.Join("..", "tools")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build gotestsum: %w\n%s", err, out)
	}
	return path, nil
})

// runGotestsum runs gotestsum as in CI.
func runGotestsum(ts *testscript.TestScript, neg bool, args []string) {
	path, err := gotestsum()
	ts.Check(err)
	if err := ts.Exec(path, args...); (err != nil) != neg {
		ts.Fatalf("gotestsum: %v", err)
	}
}
