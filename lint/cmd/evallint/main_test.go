package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/internal/outside"
)

// Each script is a module of an author, with this command run in it: alone, and by go vet.
func TestScripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("type-checks the standard library from source")
	}
	// The command as its users have it: under the race detector each of the hundreds of processes that go vet starts takes a second.
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))

	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("EVALLINT", filepath.Join(bin, "evallint"))
			return outside.Script(env)
		},
	})
}
