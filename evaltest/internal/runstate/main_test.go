package runstate_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// childEnv makes the test binary one of the processes of a run: see child_test.go.
const childEnv = "RUNSTATE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
	case "command":
		obey(os.Stdin, os.Stdout)
		os.Exit(0)
	case "work":
		work()
		os.Exit(0)
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	code := m.Run()
	if code == 0 && (left(goroutines, runtime.NumGoroutine) || left(files, openFiles)) {
		fmt.Fprintf(os.Stderr, "FAIL: left behind: %d goroutines (%d before), %d files (%d before)\n",
			runtime.NumGoroutine(), goroutines, openFiles(), files)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	os.Exit(code)
}

// left reports whether there is more now than before, and stays.
func left(before int, now func() int) bool {
	for range 100 {
		if now() <= before {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// openFiles is 0 where nobody tells, and leaves out what the runtime opens for itself.
func openFiles() (n int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if len(to) > 0 && to[0] == '/' && to[:min(6, len(to))] != "/proc/" && to[:min(5, len(to))] != "/sys/" {
			n++
		}
	}
	return n
}
