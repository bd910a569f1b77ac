package evaltest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tests keep their records in a folder of their own, and what the developer has set for evals does not reach them.
func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "EVALTEST_") && !ours[name] {
			os.Unsetenv(name)
		}
	}
	dir, err := os.MkdirTemp("", "evaltest-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Setenv("EVALTEST_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// ours are variables that the tests themselves obey.
var ours = map[string]bool{
	"EVALTEST_CLAUDE": true, "EVALTEST_REQUIRE_AGENTS": true, "EVALTEST_SOAK": true, "EVALTEST_SEED": true,
	"EVALTEST_NAMESPACE": true,
}
