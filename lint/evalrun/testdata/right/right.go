// Package right has evals that look suspicious, and are right.
package right

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/helpers"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/plain"
)

var cases = []struct{ name, prompt string }{{"a", "do a"}, {"b", "do b"}}

func runByHelpers(t *testing.T) {
	e := helpers.NewEval(t)
	r := helpers.Run(e, "go")
	assert.Empty(e, r.Limit)
	require.NotEmpty(e, r.Reply)
	helpers.RunIf(testing.Short(), evaltest.New(t))
	helpers.Keep(evaltest.New(t))
	helpers.Started(t).Log("it ran")
	dir, with := helpers.NewWithDir(t)
	with.Run(dir)
}

// It is written later.
func skipped(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.TurnsAtMost(3))
	t.Skip("the workspace is missing")
}

func skippedByTheEval(t *testing.T) {
	e := evaltest.New(t)
	if os.Getenv("WORKSPACE") == "" {
		e.Skip("no workspace")
		return
	}
	e.Fatal("what to ask?")
}

func runInSomeCases(t *testing.T) {
	e := evaltest.New(t)
	if testing.Short() {
		return
	}
	e.Run("go")
}

func unfinished(t *testing.T) {
	e := evaltest.New(t)
	require.Fail(t, "to be done", e.Name())
	New(t).Log("nothing")
}

// Nobody runs it.
func zero() {
	tb := new(testing.T)
	evaltest.New(tb)
	e := evaltest.New(tb)
	e.Run("a")
	e.Run("b")
}

func returned(t *testing.T) *evaltest.T {
	e := evaltest.New(t)
	e.Expect(criteria.TurnsAtMost(3))
	return e
}

func configured(e *evaltest.T) *evaltest.T {
	e.Expect(criteria.TurnsAtMost(3))
	return e
}

func throughAHelper(t *testing.T) {
	configured(returned(t)).Run("go")
	e := configured(evaltest.New(t))
	e.Run("go")
}

// suite keeps an eval.
type suite struct {
	*evaltest.T
	all []*evaltest.T
}

func kept(t *testing.T) *suite {
	s := &suite{T: evaltest.New(t)}
	s.all = append(s.all, evaltest.New(t))
	byName := map[string]*evaltest.T{"a": evaltest.New(t)}
	byName["a"].Run("go")
	s.Run("go")
	return s
}

func runByAMethodValue(t *testing.T) {
	e := evaltest.New(t)
	run := e.Run
	run("go")
	apply((*evaltest.T).Run, evaltest.New(t))
}

func apply(run func(*evaltest.T, ...string) *evaltest.Result, e *evaltest.T) { run(e, "go") }

func runByAClosure(t *testing.T) {
	e := evaltest.New(t)
	ask := func(prompt string) *evaltest.Result { return e.Run(prompt) }
	assert.NotEmpty(e, ask("go").Reply)
}

type runner interface {
	Run(prompts ...string) *evaltest.Result
}

func runByAnInterface(t *testing.T) {
	var r runner = evaltest.New(t)
	r.Run("go")
}

// asserting is an eval as a helper sees it.
type asserting interface {
	Errorf(format string, args ...any)
	runner
}

func runWithAssertions(t *testing.T) {
	var a asserting = evaltest.New(t)
	assert.NotEmpty(a, a.Run("go").Reply)
}

func runIfEval(t *testing.T, v any) {
	if e, ok := v.(*evaltest.T); ok {
		e.Run("go")
		t.Log("it ran")
	}
}

func runByAny(t *testing.T) { runIfEval(t, evaltest.New(t)) }

func runByAFunction(t *testing.T, with func(*evaltest.T)) {
	with(evaltest.New(t))
}

func generic[E interface {
	Run(...string) *evaltest.Result
}](e E) {
	e.Run("go")
}

func runByAGenericFunction(t *testing.T) { generic(evaltest.New(t)) }

func chosen(t *testing.T) {
	e := evaltest.New(t)
	if testing.Short() {
		e = evaltest.New(t, evaltest.MaxTurns(1))
	}
	e.Run("go")
}

// Each has its own eval, and its own test.
func table(t *testing.T) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := evaltest.New(t)
			e.Expect(criteria.TurnsAtMost(3))
			e.Run(tc.prompt)
			if t.Failed() {
				t.Fatal("over")
			}
		})
		plain.Sub(t, tc.name, func(t *testing.T) {
			helpers.NewEval(t).Run(tc.prompt)
		})
	}
}

// One in each round of a loop, and one in each case of a switch.
func rounds(t *testing.T) {
	for _, tc := range cases {
		e := evaltest.New(t)
		e.Run(tc.prompt)
	}
	for prompt := range slices.Values([]string{"a", "b"}) {
		e := evaltest.New(t)
		e.Run(prompt)
	}
}

func one(t *testing.T, way string) {
	e := evaltest.New(t)
	switch way {
	case "short":
		e.Run("briefly")
	case "long":
		e.Run("at length")
	default:
		e.Run("go")
	}
}

func either(t *testing.T) {
	e := evaltest.New(t)
	if testing.Short() {
		e.Run("briefly")
		return
	}
	e.Run("go")
}

// The conditions exclude each other, or may.
func exclusive(t *testing.T, short bool) {
	e := evaltest.New(t)
	if short {
		e.Run("briefly")
	}
	if !short {
		e.Run("go")
	}
}

// It is looked for, and found once.
func theFirst(t *testing.T, name string) {
	e := evaltest.New(t)
	for _, tc := range cases {
		if tc.name == name {
			e.Run(tc.prompt)
		}
	}
}

func theFirstOnly(t *testing.T) {
	e := evaltest.New(t)
	for _, tc := range cases {
		if tc.name == "" {
			continue
		}
		e.Run(tc.prompt)
		break
	}
	other := evaltest.New(t)
	for tc := range slices.Values(cases) {
		other.Run(tc.prompt)
		break
	}
}

// The variable is another eval's by then.
func reused(t *testing.T) {
	e := evaltest.New(t)
	e.Run("a")
	e = evaltest.New(t)
	e.Run("b")
	log := func() { e.Log("done") }
	log()
}

// The result is looked at in subtests, each with its own test.
func lookedAt(t *testing.T) {
	e := evaltest.New(t)
	r := e.Run("go")
	t.Run("reply", func(t *testing.T) { require.NotEmpty(t, r.Reply) })
	t.Run("limit", func(t *testing.T) {
		e.Log("looking at the limit")
		assert.Empty(e, r.Limit) // for the record of the eval
	})
}

// A subtest without evals is no matter of ours, whatever it does.
func noEval(t *testing.T) {
	t.Run("a", func(*testing.T) {
		if os.Getenv("A") == "" {
			t.Fatal("no A")
		}
	})
}

// A test that waits for what goes on beside it.
func beside(t *testing.T) {
	e := evaltest.New(t)
	served := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		e.Log("serving")
		if len(served) > 0 {
			t.Error("served already")
		}
		served <- errors.New("closed")
	})
	e.Run("go")
	wg.Wait()
	require.Error(e, <-served)
}

// A stand-in for a test may be ended by whom it likes.
type fake struct{ testing.TB }

func inFake(f func(tb *fake)) *fake {
	tb := &fake{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(tb)
	}()
	<-done
	return tb
}

func misused(t *testing.T) {
	var r *evaltest.Result
	tb := inFake(func(tb *fake) {
		e := evaltest.New(tb)
		e.Expect(criteria.CheckScore("c", func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
			t.Error("it is not to be graded")
			e.FailNow()
			return evaltest.Score{}, nil
		}))
		r = e.Run("a")
		e.Run("b")
		evaltest.New(tb)
	})
	require.Nil(t, r, tb)
	for _, f := range []func(tb testing.TB){
		func(tb testing.TB) { evaltest.New(tb).Expect(nil) },
		func(tb testing.TB) { e := evaltest.New(tb); e.Run("a"); e.Run("b") },
	} {
		inFake(func(tb *fake) { f(tb) })
	}
}

// Each criterion uses what it is given.
func checks(t *testing.T) {
	dir := t.TempDir()
	e := evaltest.New(t)
	e.Expect(criteria.Check("rows", func(t require.TestingT, trial *evaltest.Trial) {
		text := plain.ReadAll(t, filepath.Join(trial.Dir, "rows"))
		require.NotEmpty(t, text)
		assert.Eventually(t, func() bool { return assert.ObjectsAreEqual(1, 1) }, time.Second, time.Millisecond)
		require := require.New(t)
		require.Len(text, 1)
		if len(text) > 2 {
			t.Errorf("%d rows", len(text))
			t.FailNow()
		}
	}))
	e.Expect(criteria.Check("log", func(ct require.TestingT, trial *evaltest.Trial) {
		t.Helper()
		t.Logf("looking at %s, and %s, of %s", trial.Dir, dir, t.Name())
		e.Log("so")
		_ = t.Context()
		_ = plain.Dir(t)
		for _, path := range []string{"a", "b"} {
			ct := &collecting{ct, path}
			require.FileExists(ct, path)
		}
	}))
	e.Expect(helpers.Row(func(t require.TestingT, trial *evaltest.Trial) { require.NotEmpty(t, trial.Reply) }))
	e.Run("go")
}

type collecting struct {
	require.TestingT
	path string
}

// stub is a criterion that its own test looks at.
type stub struct {
	t     *testing.T
	grade func(context.Context, *evaltest.Trial) (evaltest.Score, error)
}

func (s *stub) String() string { return "stub" }
func (s *stub) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s.t.Helper()
	s.t.Log("graded")
	return s.grade(ctx, trial)
}

// A criterion is tested without an eval.
func unitTest(t *testing.T) {
	c := &stub{t, func(context.Context, *evaltest.Trial) (evaltest.Score, error) {
		t.Fatal("it must not be graded")
		return evaltest.Score{}, nil
	}}
	if c.String() == "" {
		t.Fatal("no name")
	}
	once := criteria.Check("once", func(_ require.TestingT, trial *evaltest.Trial) {
		if trial == nil {
			t.Error("no trial")
		}
	})
	if _, err := once.Grade(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// A table of what is looked at when the eval has been run, and a criterion with a function that judges nothing.
func afterwards(t *testing.T) {
	e := evaltest.New(t)
	seen := &noted{done: func() { t.Error("it was graded") }}
	r := e.Run("go")
	for _, row := range []struct {
		name  string
		check func(trial *evaltest.Trial)
	}{
		{"reply", func(trial *evaltest.Trial) { require.NotEmpty(e, trial.Reply) }},
		{"limit", func(trial *evaltest.Trial) {
			if trial.Limit != "" {
				t.Fatal(trial.Limit)
			}
		}},
	} {
		row.check(&r.Trials[0])
	}
	if seen.graded {
		seen.done()
	}
}

type noted struct {
	stub
	done   func()
	graded bool
}

// What is set up says what is wrong by an error; what it notes does not end the test.
func settingUp(t *testing.T) {
	e := evaltest.New(t, evaltest.Setup(func(_ context.Context, trial *evaltest.Trial) error {
		t.Logf("in %s", trial.Dir)
		return os.Mkdir(filepath.Join(trial.Dir, "out"), 0o755)
	}), evaltest.TearDown(func(context.Context, *evaltest.Trial) error {
		if _, err := os.Stat("lock"); err == nil {
			t.Error("the lock is left")
		}
		return nil
	}))
	e.Run("go")
}

// Whoever cleans up may look at what came of it.
func cleaning(t *testing.T) {
	e := evaltest.New(t)
	var r *evaltest.Result
	t.Cleanup(func() {
		if e.Failed() && r != nil {
			e.Logf("stopped: %v", r.Stop)
		}
	})
	defer func() { e.Log("over") }()
	defer e.Log("nearly over")
	r = e.Run("go")
}

// A type of the same name as the library's.
type T struct{ *testing.T }

func (T) Run(string) {}

// New is another New.
func New(t *testing.T) T { return T{t} }

func another(t *testing.T) {
	e := New(t)
	e.Run("a")
	e.Run("b")
	New(t).Log("not run")
	t.Run("sub", func(*testing.T) { New(t).Run("go") })
}

// Evals of which nothing is seen.
var global *evaltest.T

func globally(t *testing.T) {
	global = evaltest.New(t)
	global.Run("go")
	evals := []*evaltest.T{evaltest.New(t), evaltest.New(t)}
	for _, e := range evals {
		e.Run("go")
	}
	var late *evaltest.T
	make := func() { late = evaltest.New(t) }
	make()
	late.Run("go")
	ch := make2()
	ch <- evaltest.New(t)
	(<-ch).Run("go")
}

func make2() chan *evaltest.T { return make(chan *evaltest.T, 1) }

// A literal that makes the eval makes another each time it is called.
func remade(t *testing.T) {
	var e *evaltest.T
	reset := func() { e = evaltest.New(t) }
	reset()
	e.Run("Do the first part.")
	reset()
	e.Run("Do the second part.")
}
