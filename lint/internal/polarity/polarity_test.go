package polarity_test

import (
	"bufio"
	"bytes"
	"go/types"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/linttest"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/polarity"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// shown reports what is known of everything that is given to a function show.
var shown = &analysis.Analyzer{
	Name:     "shown",
	Doc:      "reports what is known of everything that is given to a function show",
	Requires: []*analysis.Analyzer{polarity.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		reach := pass.ResultOf[polarity.Analyzer].(*polarity.Result)
		for _, fn := range reach.Program().Funcs() {
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					if call, ok := instr.(*ssa.Call); ok {
						if obj := program.Callee(&call.Call); obj != nil && obj.Name() == "show" {
							pass.Reportf(call.Pos(), "%v", reach.Value(call.Call.Args[0]))
						}
					}
				}
			}
		}
		return nil, nil
	},
}

// What is known without running is what is so: the same file is analysed, and run.
func TestReach(t *testing.T) {
	t.Parallel()
	results := linttest.Run(t, shown, "reach")
	require.Len(t, results, 1)
	known := map[int]string{}
	for _, d := range results[0].Diagnostics {
		known[results[0].Pass.Fset.Position(d.Pos).Line] = d.Message
	}

	out, err := exec.Command("go", "run", "./testdata/reach").Output()
	require.NoError(t, err)
	ran := 0
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); ran++ {
		text, is, _ := strings.Cut(s.Text(), " ")
		line, err := strconv.Atoi(text)
		require.NoError(t, err)
		may := strings.Split(known[line], " or ")
		assert.True(t, len(may) > 0 && (may[len(may)-1] == "unknown" || contains(may, is)), "line %d is %s, and known as %q", line, is, known[line])
	}
	assert.Equal(t, len(known), ran)
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func TestFacts(t *testing.T) {
	t.Parallel()
	linttest.Run(t, polarity.Analyzer, "../../../livepolarity/testdata/lib")
}

// Whoever adds a built-in criterion that is live says here, too, what it reaches.
func TestEveryBuiltinIsKnown(t *testing.T) {
	t.Parallel()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedName | packages.NeedSyntax | packages.NeedTypesInfo}, names.Criteria)
	require.NoError(t, err)
	require.Len(t, pkgs, 1)
	require.Empty(t, pkgs[0].Errors)
	live := func(fn *types.Func) bool {
		r := fn.Signature().Results()
		return fn.Exported() && r.Len() == 1 && names.MethodsOf(r.At(0).Type()).Live()
	}
	n := 0
	check := func(fn *types.Func) {
		if live(fn) {
			n++
			assert.True(t, polarity.Builtin(fn), "%s makes a live criterion: add it to builtin.go", fn.FullName())
		}
	}
	scope := pkgs[0].Types.Scope()
	for _, name := range scope.Names() {
		switch obj := scope.Lookup(name).(type) {
		case *types.Func:
			check(obj)
		case *types.TypeName:
			if named, ok := obj.Type().(*types.Named); ok {
				for m := range named.Methods() {
					check(m)
				}
			}
		}
	}
	assert.Greater(t, n, 30)
}

// What is known travels in files, where nil has no place.
func TestFactsCanBeWritten(t *testing.T) {
	t.Parallel()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule},
		names.Module+"/lint/internal/polarity/testdata/reach", names.Module+"/lint/livepolarity/testdata/wrong")
	require.NoError(t, err)
	graph, err := checker.Analyze([]*analysis.Analyzer{polarity.Analyzer}, pkgs, &checker.Options{SanityCheck: true})
	require.NoError(t, err)
	for _, act := range graph.Roots {
		assert.NoError(t, act.Err)
	}
}
