package evaltest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/internal/outside"
)

// suite is three packages of evals, built, as the go command would run them.
type suite struct {
	dir      string   // of the module
	binaries []string // in a folder like the go command's, so that they are one run
}

const evalsOfSuite = 3 * 8

func buildSuite(t *testing.T) *suite {
	t.Helper()
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	s, err := suiteOnce()
	require.NoError(t, err)
	return s
}

// suiteOnce builds the suite, in the folder of this process's records, which goes with it.
var suiteOnce = sync.OnceValues(func() (*suite, error) {
	dir, err := os.MkdirTemp(os.Getenv("EVALTEST_DIR"), "suite-")
	if err != nil {
		return nil, err
	}
	s := &suite{dir: dir}
	environ, err := outside.Env()
	if err == nil {
		err = errors.Join(outside.Module(s.dir, "example.com/m"), os.CopyFS(s.dir, os.DirFS(filepath.Join("testdata", "crash"))))
	}
	if err != nil {
		return nil, err
	}
	for i, pkg := range []string{"a", "b", "c"} {
		path := filepath.Join(s.dir, fmt.Sprintf("b%03d", i), pkg+".test")
		cmd := exec.Command("go", "test", "-c", "-o", path, "./"+pkg)
		cmd.Dir, cmd.Env = s.dir, append(os.Environ(), environ...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
		s.binaries = append(s.binaries, path)
	}
	return s, nil
})

// flight is a run of the suite under way: three processes of one process group.
type flight struct {
	t       *testing.T
	record  string // run directory
	witness string // a line for each agent that was at work
	cmds    []*exec.Cmd
	logs    []string
	group   int
}

// fly starts the suite.
func (s *suite) fly(t *testing.T, record, witness string, env ...string) *flight {
	t.Helper()
	f := &flight{t: t, record: record, witness: witness}
	build := filepath.Join(t.TempDir(), fmt.Sprintf("go-build%d", rand.Uint32()))
	for i, binary := range s.binaries {
		path := filepath.Join(build, fmt.Sprintf("b%03d", i), filepath.Base(binary))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.Symlink(binary, path))
		log, err := os.CreateTemp(t.TempDir(), "log")
		require.NoError(t, err)
		cmd := exec.Command(path, "-test.v", "-test.parallel=4")
		cmd.Dir = filepath.Join(s.dir, strings.TrimSuffix(filepath.Base(binary), ".test"))
		cmd.Env = append(os.Environ(), "EVALTEST_DIR="+record, "WITNESS="+witness, "CRASH_SUITE="+witness)
		cmd.Env = append(cmd.Env, env...)
		cmd.Stdout, cmd.Stderr = log, log // a file of its own: what was written before a kill is there
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: f.group}
		require.NoError(t, cmd.Start())
		require.NoError(t, log.Close())
		if f.group == 0 {
			f.group = cmd.Process.Pid
		}
		f.cmds, f.logs = append(f.cmds, cmd), append(f.logs, log.Name())
	}
	return f
}

// land waits for the end of all.
func (f *flight) land() {
	for _, cmd := range f.cmds {
		_ = cmd.Wait() // some were killed
	}
}

func (f *flight) output() string {
	var b strings.Builder
	for _, l := range f.logs {
		data, err := os.ReadFile(l)
		require.NoError(f.t, err)
		b.Write(data)
	}
	return b.String()
}

var outcomeLine = regexp.MustCompile(`(?m)^=== ATTR  (\S+) evaltest\.outcome (\w+)$`)

// check holds what is on disk against what was said: every reader works, each verdict that was told is there once, and each
// intent is accounted for. It returns the run.
func (f *flight) check() *journal.Run {
	t := f.t
	t.Helper()
	run, err := journal.Read(f.record)
	require.NoError(t, err)
	require.Empty(t, run.Problems)
	verdicts := map[string]int{}
	for _, r := range run.Trials {
		if r.Verdict == nil {
			require.Equal(t, evaltest.OutcomeErrored, r.Outcome())
			require.NotNil(t, r.Err())
			continue
		}
		verdicts[r.Intent.ID.Package+"."+r.Intent.ID.Test+" "+string(r.Verdict.Outcome)]++
	}
	for i, log := range f.logs {
		data, err := os.ReadFile(log)
		require.NoError(t, err)
		for _, m := range outcomeLine.FindAllStringSubmatch(string(data), -1) {
			key := fmt.Sprintf("example.com/m/%c.%s %s", 'a'+i, m[1], m[2])
			require.Equal(t, 1, verdicts[key], "told, and not on disk once: %s", key)
		}
	}
	require.NotEmpty(t, report.Summarize(run).Text())
	_ = report.NewManifest(run)
	return run
}

// settled counts the trials that need no further run.
func settled(run *journal.Run) (n int) {
	for _, r := range run.Final() {
		if r.Settled() {
			n++
		}
	}
	return n
}

func (f *flight) worked() int {
	data, err := os.ReadFile(f.witness)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(f.t, err)
	return bytes.Count(data, []byte("\n"))
}

// requireGone requires that no process of the suite is left.
func requireGone(t *testing.T, witness string) {
	t.Helper()
	require.Eventually(t, func() bool {
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("="+witness+"\x00")) {
				return false
			}
		}
		return true
	}, 20*time.Second, 20*time.Millisecond, "a process is left")
}

// A suite is killed at points spread over its life. Whatever is left can be read, nothing that was told is lost, and a run that
// resumes it does what is missing and no more, and comes to what an undisturbed run comes to.
func TestCrashes(t *testing.T) {
	t.Parallel()
	s := buildSuite(t)
	points := 20
	if os.Getenv("EVALTEST_SOAK") != "" {
		points = 200
	}
	begin := time.Now()
	dir := t.TempDir()
	whole := s.fly(t, filepath.Join(dir, "whole"), filepath.Join(dir, "whole.txt"))
	whole.land()
	life := time.Since(begin)
	want := report.Summarize(whole.check()).Full
	require.Equal(t, report.Rate{Passed: 18, Failed: 6}, want, whole.output())
	require.Equal(t, evalsOfSuite, whole.worked())

	slots := make(chan struct{}, 2)
	for i := range points {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			at := life * time.Duration(i) / time.Duration(points)
			s.crash(t, i, at, want)
		})
	}
}

// crash kills the suite after some time: all of it, or one process; every third time the resumed run is killed, too; every
// fifth time the last line of a journal is torn, as by a machine that stopped.
func (s *suite) crash(t *testing.T, i int, after time.Duration, want report.Rate) {
	dir := t.TempDir()
	witness := filepath.Join(dir, "witness.txt")
	kill := func(f *flight, after time.Duration) {
		time.Sleep(after)
		if i%2 == 0 {
			_ = syscall.Kill(-f.group, syscall.SIGKILL)
		} else {
			_ = f.cmds[i/2%3].Process.Kill()
		}
		f.land()
		requireGone(t, witness)
	}
	first := filepath.Join(dir, "first")
	f := s.fly(t, first, witness)
	kill(f, after)
	var run *journal.Run
	if _, err := os.Stat(first); err != nil {
		require.NoError(t, os.Mkdir(first, 0o755)) // it was killed before it began
	}
	run = f.check()
	if i%5 == 4 {
		tear(t, first)
		run, _ = journal.Read(first)
	}
	base := first
	if len(run.Processes) == 0 {
		base = ""
	}
	if base != "" && i%3 == 2 {
		second := filepath.Join(dir, "second")
		f = s.fly(t, second, witness, "EVALTEST_RESUME="+base)
		kill(f, after)
		if _, err := os.Stat(second); err == nil {
			if again := f.check(); len(again.Processes) > 0 && resumes(again) {
				base = second
			}
		}
	}
	// What the run that is resumed has settled, and what it resumes itself.
	done := map[string]bool{}
	for _, d := range []string{first, base} {
		if d == "" {
			continue
		}
		r, err := journal.Read(d)
		require.NoError(t, err)
		for _, rec := range r.Final() {
			if rec.Settled() {
				done[rec.Intent.ID.String()] = true
			}
		}
	}
	if base == "" {
		done = nil
	}
	worked := f.worked()
	t.Logf("killed after %v: %d trials begun, %d settled", after.Round(time.Millisecond), len(run.Trials), len(done))
	env := []string{}
	if base != "" {
		env = append(env, "EVALTEST_RESUME="+base)
	}
	last := s.fly(t, filepath.Join(dir, "last"), witness, env...)
	last.land()
	run = last.check()
	got := report.Summarize(run)
	assert.Equal(t, want, got.Full, last.output())
	assert.Equal(t, len(done), got.Reused.Trials, "what was settled is taken over")
	assert.Equal(t, evalsOfSuite-len(done), last.worked()-worked, "and the agent works for the rest alone")
	requireGone(t, witness)
}

// resumes reports whether a run came far enough to say what it resumes.
func resumes(run *journal.Run) bool {
	for _, p := range run.Processes {
		if p.Resumes != "" {
			return true
		}
	}
	return false
}

// tear cuts the journals in the middle of their last lines.
func tear(t *testing.T, dir string) {
	journals, err := filepath.Glob(filepath.Join(dir, "journal-*"))
	require.NoError(t, err)
	for _, j := range journals {
		data, err := os.ReadFile(j)
		require.NoError(t, err)
		if n := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n'); n > 0 {
			require.NoError(t, os.Truncate(j, int64(n+1+(len(data)-n)/2)))
		}
	}
}

// mount makes a file system of its own in a new folder, where that is allowed.
func mount(t *testing.T, options string) string {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// On a disk that is full nothing is told that is not recorded, no agent runs whose trial is not on disk, and the test is red.
// With room again the rest is done.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := buildSuite(t)
	disk, dir := mount(t, "size=160k"), t.TempDir()
	witness := filepath.Join(dir, "witness.txt")
	f := s.fly(t, filepath.Join(disk, "run"), witness)
	f.land()
	run, err := journal.Read(filepath.Join(disk, "run"))
	require.NoError(t, err)
	assert.Less(t, settled(run), evalsOfSuite, f.output())
	told := 0
	verdicts := map[string]bool{}
	for _, r := range run.Trials {
		if r.Verdict != nil {
			verdicts[r.Intent.ID.Package+"."+r.Intent.ID.Test] = true
		}
	}
	for i, log := range f.logs {
		data, err := os.ReadFile(log)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^\s+--- PASS: (\S+)`).FindAllStringSubmatch(string(data), -1) {
			told++
			assert.True(t, verdicts[fmt.Sprintf("example.com/m/%c.%s", 'a'+i, m[1])], "%s is green, and its verdict is not on disk", m[1])
		}
	}
	assert.Contains(t, f.output(), "no space left on device")
	assert.NotZero(t, f.cmds[0].ProcessState.ExitCode()+f.cmds[1].ProcessState.ExitCode()+f.cmds[2].ProcessState.ExitCode())

	last := s.fly(t, filepath.Join(dir, "last"), witness, "EVALTEST_RESUME="+filepath.Join(disk, "run"))
	last.land()
	assert.Equal(t, report.Rate{Passed: 18, Failed: 6}, report.Summarize(last.check()).Full, last.output())
	requireGone(t, witness)
}

// Where no record can be written no agent runs, and the test says what to do.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	s := buildSuite(t)
	disk, witness := mount(t, "ro"), filepath.Join(t.TempDir(), "witness.txt")
	f := s.fly(t, filepath.Join(disk, "run"), witness)
	f.land()
	assert.Zero(t, f.worked(), f.output())
	assert.Contains(t, f.output(), "read-only file system")
	assert.Contains(t, f.output(), "EVALTEST_DIR must name a directory that can be made and written")
	for _, cmd := range f.cmds {
		assert.NotZero(t, cmd.ProcessState.ExitCode(), "red, though errors are skipped: no agent is to blame")
	}
}
