package criteriatest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Evals of these tests keep their records in a folder of their own, and what the developer has set for evals does not reach them.
func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "EVALTEST_") {
			os.Unsetenv(name)
		}
	}
	dir, err := os.MkdirTemp("", "criteriatest-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Setenv("EVALTEST_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
