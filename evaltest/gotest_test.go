package evaltest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// Life inside the real `go test`: each script is a small module of evals, run as its author would.
func TestInsideGoTest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	environ, err := moduleEnv()
	require.NoError(t, err)

	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "gotest"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			for _, kv := range environ {
				name, value, _ := strings.Cut(kv, "=")
				env.Setenv(name, value)
			}
			env.Cd = filepath.Join(env.WorkDir, "m")
			return writeModule(env.Cd)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"run":       printRun,
			"gotestsum": runGotestsum,
		},
	})
}

// writeModule begins the module of an author in dir: its go.mod requires this very tree.
func writeModule(dir string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	requires := regexp.MustCompile(`(?s)\nrequire \(.*?\n\)`).FindAllString(string(mod), -1)
	text := fmt.Sprintf("module example.com/m\n\ngo 1.26.0\n\nrequire github.com/evaltest-go/evaltest v0.0.0\n\nreplace github.com/evaltest-go/evaltest => %s\n%s\n",
		root, strings.Join(requires, "\n"))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
}

// moduleEnv is the environment that the go command needs in such a module: what is built and downloaded already serves it.
func moduleEnv() ([]string, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	caches := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []string{
		"GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1],
		"GOPROXY=off", "GOFLAGS=-mod=mod -buildvcs=false", "GONOSUMDB=*", "GOTOOLCHAIN=local",
	}, nil
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
