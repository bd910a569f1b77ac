package lint_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/internal/outside"
)

// BenchmarkVet is what go vet takes over this module with the analyzers in place of its own: ours/vet is the ratio. Each begins
// with a copy of one cache of builds, which holds all that is vetted and no result of a vet: a tool that is merely another would
// not do, since the go command knows a tool of a release by its version alone.
func BenchmarkVet(b *testing.B) {
	dir := b.TempDir()
	root, err := outside.Root()
	require.NoError(b, err)
	evallint, built := filepath.Join(dir, "evallint"), filepath.Join(dir, "built")
	run(b, root, nil, "go", "build", "-o", evallint, "./lint/cmd/evallint")
	run(b, root, []string{"GOCACHE=" + built}, "go", "test", "-vet=off", "-run=^$", "./...")
	vet := func(i int, args ...string) time.Duration {
		cache := filepath.Join(dir, fmt.Sprint("cache", i))
		require.NoError(b, os.CopyFS(cache, os.DirFS(built)))
		took := run(b, root, []string{"GOCACHE=" + cache}, "go", append([]string{"vet"}, append(args, "./...")...)...)
		require.NoError(b, os.RemoveAll(cache))
		return took
	}
	var own, ours time.Duration
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			own += vet(i)
		}
		ours += vet(i, "-vettool="+evallint)
		if i%2 == 1 {
			own += vet(i)
		}
	}
	b.ReportMetric(own.Seconds()/float64(b.N), "vet-s/op")
	b.ReportMetric(ours.Seconds()/float64(b.N), "ours-s/op")
	b.ReportMetric(ours.Seconds()/own.Seconds(), "ours/vet")
}

// BenchmarkCriteria is a module of generated criteria in 20 packages: all of it analysed alone, from source, with nothing cached.
func BenchmarkCriteria(b *testing.B) {
	dir := b.TempDir()
	root, err := outside.Root()
	require.NoError(b, err)
	evallint := filepath.Join(dir, "evallint")
	run(b, root, nil, "go", "build", "-o", evallint, "./lint/cmd/evallint")
	environ, err := outside.Env()
	require.NoError(b, err)
	for _, n := range []int{50, 100, 200, 400, 800} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			module := filepath.Join(b.TempDir(), "m")
			require.NoError(b, generate(module, n, 20))
			for b.Loop() {
				run(b, module, environ, evallint, "./...")
			}
		})
	}
}

func run(tb testing.TB, dir string, environ []string, name string, args ...string) time.Duration {
	tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, "%s %v\n%s", name, args, out)
	return time.Since(begin)
}

// generate writes a module with n criteria in that many packages, each of which uses the one before.
func generate(dir string, n, packages int) error {
	if err := outside.Module(dir, "example.com/m"); err != nil {
		return err
	}
	for p := range packages {
		text := fmt.Sprintf("package p%d\n\nimport (\n\t\"context\"\n\t\"strings\"\n\t\"testing\"\n\n\t\"github.com/evaltest-go/evaltest/agents\"\n"+
			"\t\"github.com/evaltest-go/evaltest/evaltest\"\n\t\"github.com/evaltest-go/evaltest/evaltest/criteria\"\n", p)
		if p > 0 {
			text += fmt.Sprintf("\n\t\"example.com/m/p%d\"\n", p-1)
		}
		text += ")\n\n// Mentions reports whether a call runs word.\nfunc Mentions(c agents.ToolCall, word string) bool {\n"
		if p > 0 {
			text += fmt.Sprintf("\tif p%d.Mentions(c, word) {\n\t\treturn true\n\t}\n", p-1)
		}
		text += "\treturn c.Kind == agents.Execute && strings.Contains(strings.Join(c.Commands, \"\\n\"), word)\n}\n"
		for i := range n / packages {
			text += fmt.Sprintf(criterion, i)
		}
		sub := filepath.Join(dir, fmt.Sprint("p", p))
		if err := os.MkdirAll(sub, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(sub, "criteria.go"), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

const criterion = `
// Rule%[1]d is a criterion.
type Rule%[1]d struct {
	Word string
	Most int
}

type key%[1]d struct{ word string }

// NewRule%[1]d makes one.
func NewRule%[1]d(word string) *Rule%[1]d { return &Rule%[1]d{Word: word, Most: %[1]d} }

func (c *Rule%[1]d) String() string { return c.Word + " is run at most a few times" }

func (c *Rule%[1]d) tally(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(key%[1]d{c.Word}, func(call agents.ToolCall) bool { return Mentions(call, c.Word) })
}

func (c *Rule%[1]d) StopPolarities() evaltest.Polarity { return evaltest.Fail }

func (c *Rule%[1]d) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	kinds := map[agents.Kind]int{}
	for call := range tr.Calls() {
		kinds[call.Kind]++
	}
	most := 0
	for _, n := range kinds {
		most = max(most, n)
	}
	if most > 0 && c.tally(tr).Ran() > c.Most {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

func (c *Rule%[1]d) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(c.tally(trial.Trajectory).Ran() <= c.Most), nil
}

func Eval%[1]d(t *testing.T) {
	e := evaltest.New(t)
	e.StopWhen(evaltest.Fail, NewRule%[1]d("rm"))
	e.StopWhen(evaltest.Pass, criteria.CommandExecuted("go test"))
	e.Expect(criteria.AllOf(NewRule%[1]d("mv"), criteria.Never(NewRule%[1]d("cp"))))
	e.Run("Do it.")
}
`
