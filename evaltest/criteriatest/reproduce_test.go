package criteriatest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/wrong"
)

// The tests that violations come with compile, and fail.
func TestReproductions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a test")
	}
	if criteriatest.RaceEnabled {
		t.Skip("it builds the same without the race detector")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	var tests strings.Builder
	kinds := map[string]int{}
	var names []string
	function := regexp.MustCompile(`func Test\w+\(`)
	for _, c := range wrong.Cases() {
		if _, live := c.New().(evaltest.LiveCriterion); !live || c.Global || c.Made { // one value does not show it
			continue
		}
		for rule, v := range violations(t, c) {
			if v.Reproduction == "" || strings.Contains(v.Reproduction, "= nil // put") || rule != strings.Fields(c.Rules)[0] {
				continue
			}
			name := fmt.Sprintf("TestReproduced%d", len(names))
			if rule == "returns" {
				name = fmt.Sprintf("CompiledOnly%d", len(names)) // it ends the process
			}
			names = append(names, name)
			kinds[rule]++
			fmt.Fprintf(&tests, "// %s\n%s\n", c.Name, function.ReplaceAllString(v.Reproduction, "func "+name+"("))
		}
	}
	for _, rule := range criteriatest.Rules() {
		if rule != "reachable" {
			assert.NotZero(t, kinds[rule], "no reproduction for the rule %s", rule)
		}
	}
	source := "package wrong\n\nimport (\n"
	for path, used := range map[string]string{
		"testing": "testing.", "strings": "strings.", "unicode": "unicode.", "sync": "sync.", "time": "time.", "testing/synctest": "synctest.",
		"encoding/json": "json.", "github.com/evaltest-go/evaltest/agents": "agents.", "github.com/evaltest-go/evaltest/evaltest": "evaltest.",
	} {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(used)).MatchString(tests.String()) {
			source += fmt.Sprintf("\t%q\n", path)
		}
	}
	source += ")\n\n" + tests.String()

	dir := t.TempDir()
	here, err := filepath.Abs(filepath.Join("testdata", "wrong", "reproduced_test.go"))
	require.NoError(t, err)
	file, overlay := filepath.Join(dir, "reproduced.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	plan, err := json.Marshal(map[string]any{"Replace": map[string]string{here: file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, plan, 0o600))
	out, err := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-v", "-run", "^TestReproduced", "./testdata/wrong").CombinedOutput()
	require.Error(t, err, "%s", out)
	for _, name := range names {
		if strings.HasPrefix(name, "Test") {
			assert.Contains(t, string(out), "--- FAIL: "+name+" ", "%s\n%s", source, out)
		}
	}
}
