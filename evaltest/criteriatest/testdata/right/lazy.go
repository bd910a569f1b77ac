package right

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/right/words"
)

// Values that are made once and never change: constants, whenever they are made.

var lazy = []Case{
	{Name: "a pattern compiled in the constructor", Looks: "a constructor with a memory", New: func() evaltest.LiveCriterion { return newMatching(`rm -rf\b`) }},
	{Name: "a pattern compiled when it is needed", Looks: "a write to a field", New: func() evaltest.LiveCriterion { return &compiled{expr: `rm -rf\b`} }},
	{Name: "a pattern from sync.OnceValue", Looks: "a function with a state", New: func() evaltest.LiveCriterion { return newOnceValue(`rm -rf\b`) }},
	{Name: "a table of the package, filled by init", Looks: "a global that is written to", New: same(tabled{})},
	{Name: "a list that is part of the program", Looks: "a file that is read", New: same(listed{}),
		Options: []criteriatest.Option{criteriatest.Calls(agents.ToolCall{Kind: agents.Execute, Name: "Bash", Commands: []string{"dd"}})}},
	{Name: "a sample with a seed", Looks: "random numbers", New: same(sampled{seed: 7})},
	{Name: "helpers of another package", Looks: "a global that a helper fills when it is first asked", New: same(helped{})},
	{Name: "errors that say which way it is", Looks: "an error turned into a verdict", New: same(said{})},
	{Name: "a moment that was given", Looks: "the clock", New: same(deadline{time.Date(2030, 1, 1, 12, 0, 30, 0, time.UTC)})},
	{Name: "a constructor that counts what it makes", Looks: "a counter", New: newNumbered},
}

// matching compiles its pattern where it is made.
type matching struct {
	noRM
	re *regexp.Regexp
}

func newMatching(expr string) matching { return matching{re: regexp.MustCompile(expr)} }

type matchingKey struct{ expr string }

func (c matching) tally(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(matchingKey{c.re.String()}, func(call agents.ToolCall) bool {
		return call.Kind == agents.Execute && slices.ContainsFunc(call.Commands, c.re.MatchString)
	})
}
func (c matching) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.tally(tr).Ran() > 0)
}
func (c matching) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(c.tally(trial.Trajectory))
}

// compiled compiles it once, from what does not change.
type compiled struct {
	noRM
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (c *compiled) tally(tr *agents.Trajectory) agents.Tally {
	c.once.Do(func() { c.re = regexp.MustCompile(c.expr) })
	return matching{re: c.re}.tally(tr)
}
func (c *compiled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.tally(tr).Ran() > 0)
}
func (c *compiled) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(c.tally(trial.Trajectory))
}

// onceValue has the standard library do so.
type onceValue struct {
	noRM
	re func() *regexp.Regexp
}

func newOnceValue(expr string) onceValue {
	return onceValue{re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (c onceValue) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return matching{re: c.re()}.LiveVerdict(tr)
}
func (c onceValue) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return matching{re: c.re()}.Grade(ctx, trial)
}

// limits is how often each may be run.
var limits = map[string]int{"go test": 2}

func init() { limits["rm -rf"] = 0 }

// tabled looks its limits up.
type tabled struct{ noRM }

func (tabled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > limits["rm -rf"])
}

//go:embed forbidden.txt
var files embed.FS

// listed goes by a list that was compiled in.
type listed struct{}

type listedKey struct{}

func (listed) forbidden(c agents.ToolCall) bool {
	list, err := files.ReadFile("forbidden.txt")
	return err == nil && c.Kind == agents.Execute && slices.ContainsFunc(strings.Fields(string(list)), func(word string) bool {
		return slices.ContainsFunc(c.Commands, func(s string) bool { return slices.Contains(strings.Fields(s), word) })
	})
}
func (c listed) tally(tr *agents.Trajectory) agents.Tally { return tr.Tally(listedKey{}, c.forbidden) }
func (listed) String() string                             { return "nothing of the list is run" }
func (listed) StopPolarities() evaltest.Polarity          { return evaltest.Fail }
func (c listed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.tally(tr).Ran() > 0)
}
func (c listed) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(c.tally(trial.Trajectory))
}

// sampled looks at a sample of skills, which is always the same for a seed.
type sampled struct{ seed uint64 }

func (c sampled) skill() string {
	return []string{"pdf", "csv", "xlsx"}[rand.New(rand.NewPCG(c.seed, 1)).IntN(3)]
}
func (c sampled) String() string                  { return "uses " + c.skill() }
func (sampled) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c sampled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(tr.Tally(c, parts.Used(c.skill())).Ran() > 0)
}
func (c sampled) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(trial.Trajectory.Tally(c, parts.Used(c.skill())))
}

// helped has the words of a command counted elsewhere.
type helped struct{ noRM }

type helpedKey struct{}

func (helped) tally(tr *agents.Trajectory) agents.Tally {
	return tr.Tally(helpedKey{}, func(c agents.ToolCall) bool { return rm.In(c) && words.Dangerous("rm") })
}
func (c helped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.tally(tr).Ran() > 0)
}
func (c helped) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(c.tally(trial.Trajectory))
}

var errRemoved = errors.New("it was removed")

// said is decided by an error of its own making.
type said struct{ noRM }

func (said) look(tr *agents.Trajectory) error {
	if n := rm.Tally(tr).Ran(); n > 0 {
		return fmt.Errorf("%d times: %w", n, errRemoved)
	}
	return nil
}
func (c said) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(errors.Is(c.look(tr), errRemoved))
}

// deadline compares the times of events with a moment that it was given.
type deadline struct{ at time.Time }

func (deadline) String() string                    { return "done in time" }
func (deadline) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c deadline) late(tr *agents.Trajectory) bool {
	return agents.Fold(tr, c, func(late bool, e agents.Event) bool { return late || e.Time.After(c.at) })
}
func (c deadline) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(c.late(tr))
}
func (c deadline) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(!c.late(trial.Trajectory)), nil
}

// numbered has a number, which nothing depends on.
type numbered struct {
	noRM
	n int
}

var (
	madeMu sync.Mutex
	made   int
)

func newNumbered() evaltest.LiveCriterion {
	madeMu.Lock()
	defer madeMu.Unlock()
	made++
	return numbered{n: made}
}
