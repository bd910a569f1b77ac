package gclplugin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/internal/outside"
	"github.com/evaltest-go/evaltest/lint"
	"github.com/evaltest-go/evaltest/lint/cmd/gclplugin"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	newPlugin, err := register.GetPlugin(gclplugin.Name)
	require.NoError(t, err)

	all := lint.Analyzers(lint.Settings{})
	for name, conf := range map[string]any{"none": nil, "empty": map[string]any{}} {
		plugin, err := newPlugin(conf)
		require.NoError(t, err, name)
		assert.Equal(t, register.LoadModeTypesInfo, plugin.GetLoadMode())
		analyzers, err := plugin.BuildAnalyzers()
		require.NoError(t, err, name)
		assert.Len(t, analyzers, len(all), name)
	}

	plugin, err := newPlugin(map[string]any{"disable": []any{"livepair"}, "livepure": map[string]any{"strict": true, "pure": []any{"example.com/clock"}}})
	require.NoError(t, err)
	analyzers, err := plugin.BuildAnalyzers()
	require.NoError(t, err)
	assert.Len(t, analyzers, len(all)-1)
	for _, a := range analyzers {
		if a.Name == "livepure" {
			assert.Equal(t, "true", a.Flags.Lookup("strict").Value.String())
			assert.Equal(t, "example.com/clock", a.Flags.Lookup("pure").Value.String())
		}
	}

	for want, conf := range map[string]any{
		`unknown field "livepured"`:        map[string]any{"livepured": map[string]any{}},
		`unknown field "strickt"`:          map[string]any{"livepure": map[string]any{"strickt": true}},
		`cannot unmarshal`:                 map[string]any{"livepure": map[string]any{"strict": "yes"}},
		`there is no analyzer "livepured"`: map[string]any{"disable": []any{"livepured"}},
	} {
		_, err := newPlugin(conf)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "evaltest: read settings: ")
	}
}

// The real golangci-lint, with the plugin in it, in modules of authors.
func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := outside.Root()
	require.NoError(t, err)
	golangci := filepath.Join(root, "bin", "golangci-lint-evaltest")
	if _, err := os.Stat(golangci); err != nil {
		if os.Getenv("EVALTEST_REQUIRE_AGENTS") == "1" {
			t.Fatalf("%v: run make test, which builds it", err)
		}
		t.Skipf("%v: make bin/golangci-lint-evaltest builds it", err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(golangci)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("GOLANGCI_LINT_CACHE", filepath.Join(env.WorkDir, "cache"))
			return outside.Script(env)
		},
	})
}
