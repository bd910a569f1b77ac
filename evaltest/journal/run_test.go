package journal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// output runs a child and answers what it printed.
func output(tb testing.TB, cmd *exec.Cmd) string {
	tb.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(tb, err, stderr.String())
	return string(out)
}

func runsIn(tb testing.TB, root string) (runs []string) {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join(root, Home))
	require.NoError(tb, err)
	for _, e := range entries {
		if e.IsDir() {
			runs = append(runs, e.Name())
		}
	}
	return runs
}

func TestProcessesOfOneGoTestShareARun(t *testing.T) {
	t.Parallel()
	root, build := module(t), filepath.Join(t.TempDir(), "go-build3141592653")
	const n = 20
	dirs := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		pkg := []string{"a", "b"}[i%2]
		cmd := child(t, "trial", filepath.Join(build, fmt.Sprintf("b%03d", i), pkg+".test"), filepath.Join(root, pkg),
			fmt.Sprintf("JOURNAL_TEST_NAME=Test%d", i))
		wg.Go(func() {
			out, err := cmd.Output()
			if assert.NoError(t, err) {
				dirs[i] = string(out)
			}
		})
	}
	wg.Wait()
	runs := runsIn(t, root)
	require.Len(t, runs, 1)
	assert.Regexp(t, `^\d{8}T\d{6}-3141592653$`, runs[0])
	for _, d := range dirs {
		assert.Equal(t, filepath.Join(root, Home, runs[0]), d)
	}
	run, err := Read(dirs[0])
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	assert.Len(t, run.Processes, n)
	seen := map[string]bool{}
	for _, tr := range run.Trials {
		seen[tr.Intent.ID.Test] = true
		assert.Equal(t, verdict.OutcomePassed, tr.Outcome())
		assert.Equal(t, runs[0], tr.Process.Run)
		assert.Equal(t, tr.Intent.PID, tr.Process.PID)
		assert.DirExists(t, tr.Dir)
	}
	assert.Len(t, seen, n)

	latest, err := os.ReadFile(filepath.Join(root, Home, "latest"))
	require.NoError(t, err)
	assert.Equal(t, runs[0], strings.TrimSpace(string(latest)))
	ignored, err := os.ReadFile(filepath.Join(root, Home, ".gitignore"))
	require.NoError(t, err)
	assert.Equal(t, "*\n", string(ignored))
	left, err := filepath.Glob(filepath.Join(root, Home, ".*-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files are left")
}

// TestFirstToComeNamesTheRun has all come at once, each with another time on its clock.
func TestFirstToComeNamesTheRun(t *testing.T) {
	t.Parallel()
	root := module(t)
	for round := range 5 {
		id := identity{build: fmt.Sprint(1000 + round), root: root}
		dirs := make([]string, 20)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range dirs {
			wg.Go(func() {
				<-start
				var err error
				dirs[i], _, err = locate(id, time.Now().Add(time.Duration(i)*time.Second))
				assert.NoError(t, err)
			})
		}
		close(start)
		wg.Wait()
		slices.Sort(dirs)
		assert.Len(t, slices.Compact(dirs), 1)
	}
	assert.Len(t, runsIn(t, root), 5)
}

func TestBinaryOfItsOwnIsARunOfItsOwn(t *testing.T) {
	t.Parallel()
	root, bin := module(t), filepath.Join(t.TempDir(), "evals.test")
	if strings.Contains(bin, "go-build") {
		t.Skip("the folder for temporary files lies in a go command's own")
	}
	first := output(t, child(t, "trial", bin, filepath.Join(root, "a")))
	second := output(t, child(t, "trial", bin, filepath.Join(root, "a")))
	assert.NotEqual(t, first, second)
	assert.Len(t, runsIn(t, root), 2)
	latest, err := os.ReadFile(filepath.Join(root, Home, "latest"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Base(second), strings.TrimSpace(string(latest)))
}

func TestGivenDirectory(t *testing.T) {
	t.Parallel()
	root, build := module(t), filepath.Join(t.TempDir(), "go-build27182")
	for _, pkg := range []string{"a", "b"} {
		dir := output(t, child(t, "trial", filepath.Join(build, "b001", pkg+".test"), filepath.Join(root, pkg), "EVALTEST_DIR=out/evals"))
		assert.Equal(t, filepath.Join(root, "out", "evals"), dir, "a relative one is meant from the module's root")
	}
	other := child(t, "trial", filepath.Join(t.TempDir(), "go-build161803", "b001", "a.test"), root, "EVALTEST_DIR="+filepath.Join(root, "out", "evals"))
	run, err := Read(output(t, other))
	require.NoError(t, err)
	require.Len(t, run.Processes, 3)
	runs := map[string]int{}
	for _, p := range run.Processes {
		runs[p.Run]++
	}
	assert.Equal(t, map[string]int{"27182": 2, "161803": 1}, runs)
	assert.Len(t, run.Trials, 3)
	assert.NoDirExists(t, filepath.Join(root, Home))
}

func TestHomeThatCannotBeWrittenNamesTheWayOut(t *testing.T) {
	t.Parallel()
	root := module(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, Home), nil, 0o644)) // a file in its place: it fails for root too
	_, err := open("", identity{build: "1", root: root})
	assert.ErrorContains(t, err, "journal: open run directory: ")
	assert.ErrorContains(t, err, "set EVALTEST_DIR")
}

func TestADirectoryThatCannotBeWrittenNamesTheWayOut(t *testing.T) {
	t.Parallel()
	root := module(t)
	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	readOnly := filepath.Join(root, "read-only")
	require.NoError(t, os.Mkdir(readOnly, 0o555))
	dirs := []string{file, file + "/below", "/proc/self"} // the last one is read-only for root, too
	if os.Geteuid() > 0 {
		dirs = append(dirs, readOnly, readOnly+"/below")
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); dir == "/proc/self" && err != nil {
			continue
		}
		_, err := open(dir, identity{build: "1", root: root})
		assert.ErrorContains(t, err, "journal: open", dir)
		assert.ErrorContains(t, err, "EVALTEST_DIR must name a directory that can be made and written", dir)
		assert.ErrorContains(t, err, strings.TrimSuffix(dir, "/below"), dir)
	}
}

func TestWhatIsThereStays(t *testing.T) {
	t.Parallel()
	root := module(t)
	home := filepath.Join(root, Home)
	require.NoError(t, os.MkdirAll(filepath.Join(home, "20200101T000000-77"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".gitignore"), []byte("mine\n"), 0o644))
	j, err := open("", identity{build: "7", alone: "p1-x", root: root})
	require.NoError(t, err)
	defer j.Close()
	assert.Regexp(t, `-7$`, j.Dir())
	assert.DirExists(t, filepath.Join(home, "20200101T000000-77"))
	data, err := os.ReadFile(filepath.Join(home, ".gitignore"))
	require.NoError(t, err)
	assert.Equal(t, "mine\n", string(data))
}

func TestBuildNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		paths      []string
	}{
		{"of go test", "123", []string{"/tmp/go-build123/b001/pkg.test"}},
		{"under an interpreter", "123", []string{"/tmp/go-build123/b001/pkg.test", "/usr/bin/qemu"}},
		{"started by another name", "123", []string{"pkg.test", "/tmp/go-build123/b001/pkg.test"}},
		{"in the folder of another go command", "9", []string{"/tmp/go-build123/b001/x/go-build9/b004/pkg.test"}},
		{"a compiled test", "", []string{"./pkg.test", "/home/me/pkg.test"}},
		{"a name that is like it", "", []string{"/tmp/go-builder/go-build/pkg.test", "/tmp/go-build12"}},
	} {
		assert.Equal(t, c.want, buildNumber(c.paths...), c.name)
	}
}

func TestModuleRoot(t *testing.T) {
	t.Parallel()
	root := module(t)
	deep := filepath.Join(root, "a", "testdata", "deep")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	assert.Equal(t, root, moduleRoot(deep))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "go.mod"), nil, 0o644))
	assert.Equal(t, filepath.Join(root, "a"), moduleRoot(deep), "the nearest one counts")
	if none := t.TempDir(); moduleRoot(filepath.Dir(none)) == filepath.Dir(none) {
		assert.Equal(t, none, moduleRoot(none))
	}
}
