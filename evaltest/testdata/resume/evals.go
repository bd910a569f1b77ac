// Package m has evals that its environment changes.
package m

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

// worker is an agent that says in the test's output when it is at work.
type worker struct{ prompt string }

func (worker) Info() agents.Info   { return agents.Info{Name: "worker", Version: "1"} }
func (worker) Fingerprint() string { return "" }
func (worker) Open(_ context.Context, s agents.Setup) (agents.Session, error) {
	return session{s.Dir}, nil
}

type session struct{ dir string }

func (s session) Send(_ context.Context, prompt string) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) {
		fmt.Println("agent at work:", prompt)
		if strings.Contains(prompt, "fragile") && os.Getenv("SCENE") == "first" {
			yield(agents.Event{}, agents.Errorf(agents.Overloaded, agents.FromProvider, "no luck"))
			return
		}
		if !strings.Contains(prompt, "lazy") {
			_ = os.WriteFile(filepath.Join(s.dir, "out.txt"), []byte("done"), 0o644)
			_ = os.Remove(filepath.Join(s.dir, "in.txt"))
		}
		yield(agents.Say("Done.").In("1"), nil)
		yield(agents.Spent(agents.Usage{InputTokens: 10}).In("1"), nil)
	}
}
func (session) Close() (agents.Final, error) { return agents.Final{}, nil }

// Eval is one of them.
func Eval(t *testing.T, what string) {
	e := evaltest.New(t, evaltest.Agent(worker{}), evaltest.Retries(0))
	e.Workspace(os.DirFS("testdata"))
	word := "done"
	if os.Getenv("SCENE") == "criteria" {
		word = "other"
	}
	e.Expect(criteria.FileContains("out.txt", word))
	e.Expect(criteria.Never(criteria.FileExists("in.txt")))
	prompt := "Be " + what + "."
	if os.Getenv("SCENE") == "prompt" {
		prompt += " Please."
	}
	e.Run(prompt)
}
