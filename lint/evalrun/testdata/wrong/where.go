package wrong

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/helpers"
	"github.com/evaltest-go/evaltest/lint/evalrun/testdata/plain"
)

var cases = []struct{ name, prompt string }{{"a", "do a"}, {"b", "do b"}}

func outerTest(t *testing.T) {
	for _, tc := range cases {
		t.Run(tc.name, func(t2 *testing.T) {
			t2.Parallel()
			e := evaltest.New(t, evaltest.MaxTurns(3)) // want `evaltest.New\(t, …\) in a subtest makes an eval of the outer test, which cannot be ended there; give it the subtest's own t2`
			e.Expect(criteria.TurnsAtMost(3))
			e.Run(tc.prompt)
		})
	}
}

func unnamedTest(t *testing.T) {
	t.Run("a", func(*testing.T) {
		evaltest.New(t).Run("go") // want `give it the test that the subtest is given`
	})
}

func outerTestByAHelper(t *testing.T) {
	t.Run("a", func(t2 *testing.T) {
		e := helpers.NewEval(t) // want `helpers.NewEval\(t\) in a subtest makes an eval of the outer test`
		e.Run("go")
		helpers.Full(t, nil) // want `helpers.Full\(t, …\) in a subtest makes an eval of the outer test`
	})
	plain.Sub(t, "b", func(t2 *testing.T) {
		e := evaltest.New(t) // want `evaltest.New\(t\) in a subtest`
		e.Run("go")
	})
}

func sharedEval(t *testing.T) {
	e := evaltest.New(t)
	e.Expect(criteria.TurnsAtMost(3))
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			e.Run(tc.prompt) // want `e.Run in a subtest runs an eval of the outer test, which cannot be ended there; make an eval of the subtest's own t`
		})
	}
}

func sharedByAHelper(t *testing.T) {
	e := helpers.NewEval(t)
	t.Run("a", func(t *testing.T) {
		r := helpers.Run(e, "go") // want `helpers.Run\(e, …\) in a subtest runs an eval of the outer test`
		require.NotEmpty(t, r.Reply)
	})
}

func lookedAtInSubtests(t *testing.T) {
	e := evaltest.New(t)
	r := e.Run("go")
	t.Run("reply", func(t2 *testing.T) {
		require.NotEmpty(e, r.Reply) // want `require.NotEmpty\(e, …\) in a subtest ends the outer test, which only its own goroutine can do; use the subtest's own t2`
	})
	t.Run("limit", func(t2 *testing.T) {
		if r.Limit != "" {
			e.Fatal(r.Limit) // want `e.Fatal in a subtest ends the outer test`
		}
	})
}

func failsTheOuterTest(t *testing.T) {
	t.Run("a", func(t2 *testing.T) {
		text := plain.Read(t, "in.txt") // want `plain.Read\(t, …\) in a subtest with an eval ends the outer test, which only its own goroutine can do; use the subtest's own t2`
		require.NotEmpty(t, text)       // want `require.NotEmpty\(t, …\) in a subtest with an eval`
		e := evaltest.New(t2)
		if r := e.Run("go"); r.Limit != "" {
			t.Fatal(r.Limit) // want `t.Fatal in a subtest with an eval`
		}
	})
}

func fuzz(f *testing.F) {
	f.Fuzz(func(t *testing.T, prompt string) {
		e := evaltest.New(f) // want `evaltest.New\(f\) in a subtest makes an eval of the outer test`
		e.Run(prompt)
	})
}

func besides(t *testing.T) {
	var wg sync.WaitGroup
	for _, tc := range cases {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e := evaltest.New(t) // want `evaltest.New\(t\) in a goroutine makes an eval there that only the test's own goroutine can end or skip; use a subtest with t.Parallel`
			e.Run(tc.prompt)
		}()
	}
	wg.Go(func() {
		helpers.Full(t, nil) // want `helpers.Full\(t, …\) in a goroutine`
	})
	plain.All(func() {
		evaltest.New(t).Run("go") // want `evaltest.New\(t\) in a goroutine`
	})
	wg.Wait()
}

func runBeside(t *testing.T) {
	e := evaltest.New(t)
	done := make(chan *evaltest.Result)
	go func() {
		done <- e.Run("go") // want `e.Run in a goroutine runs an eval there that only the test's own goroutine can end or skip; use a subtest with t.Parallel`
	}()
	<-done
}

func runAsAGoroutine(t *testing.T) {
	e := evaltest.New(t)
	go e.Run("go") // want `e.Run in a goroutine`
}

func endedBeside(t *testing.T) {
	e := evaltest.New(t)
	r := e.Run("go")
	go func() {
		require.NotEmpty(e, r.Reply) // want `require.NotEmpty\(e, …\) in a goroutine ends the test, which only its own goroutine can do; use Error, and return`
	}()
}

func parallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			evaltest.New(b).Run("go") // want `evaltest.New\(b\) in a goroutine`
		}
	})
}

func inTheEnd(t *testing.T) {
	e := evaltest.New(t)
	defer e.Run("go") // want `e.Run is deferred, so that the agent is run even when the test was skipped or has failed before; call it where the eval is complete`
	e.Expect(criteria.TurnsAtMost(3))
}

func inTheEndWithMore(t *testing.T) {
	e := evaltest.New(t)
	defer func() {
		r := e.Run("go") // want `e.Run is deferred`
		t.Log(r.Outcome)
	}()
	e.Expect(criteria.TurnsAtMost(3))
}

func afterwards(t *testing.T) {
	e := evaltest.New(t)
	t.Cleanup(func() {
		e.Run("go") // want `e.Run in a Cleanup runs the eval when its test is over, where no agent runs any more; run it in the test`
	})
	e.Expect(criteria.TurnsAtMost(3))
}
