package evaltest

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evaltest-go/evaltest/agents/proc"
)

// Counts of this test process: trials that were meant to measure something, and those that did.
var asked, measured atomic.Int64

var defaultsOfPackage = struct {
	sync.Mutex
	settings
}{settings: defaults()}

func packageSettings() settings {
	defaultsOfPackage.Lock()
	defer defaultsOfPackage.Unlock()
	return defaultsOfPackage.settings.clone()
}

// Main runs a package's tests and exits; call it from TestMain to give all evals of the package the same options:
//
//	func TestMain(m *testing.M) { evaltest.Main(m, evaltest.MaxTurns(25)) }
//
// It makes a package red that was asked to measure and measured nothing: with errors skipped, an outage would look like
// success. At the end it prints what the package and the run came to, and writes manifest.json and summary.txt in the run's
// directory. A package with a TestMain of its own may do without it.
func Main(m *testing.M, opts ...Option) {
	os.Exit(mainCode(m, opts...))
}

// mainCode is Main without the exit.
func mainCode(m interface{ Run() int }, opts ...Option) int {
	defaultsOfPackage.Lock()
	for _, o := range opts {
		if err := o.option(&defaultsOfPackage.settings); err != nil {
			defaultsOfPackage.Unlock()
			fmt.Fprintf(os.Stderr, "evaltest: MISUSE: Main: %v\n", err)
			return 2
		}
	}
	defaultsOfPackage.Unlock()
	code := m.Run()
	printSummary()
	if code == 0 && asked.Load() > 0 && measured.Load() == 0 {
		fmt.Fprintf(os.Stderr, "evaltest: ERROR: %s asked to measure something, and nothing was measured; see the skipped tests (go test -v) for why\n", count(int(asked.Load()), "eval"))
		return 1
	}
	return code
}

// sweep ends what earlier test processes left running when they were killed, once per process.
var sweep = sync.OnceFunc(proc.Sweep)

var _ interface{ Run() int } = (*testing.M)(nil)
