package outside

import (
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Script sets a testscript up in a module example.com/m, whose files stand under m/ in the script.
func Script(env *testscript.Env) error {
	environ, err := Env()
	if err != nil {
		return err
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		env.Setenv(name, value)
	}
	env.Cd = filepath.Join(env.WorkDir, "m")
	return Module(env.Cd, "example.com/m")
}
