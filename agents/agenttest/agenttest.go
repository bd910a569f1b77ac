// Package agenttest is the conformance suite for adapters: what evals rely on, whichever agent they run on. An adapter
// passes it when each rule holds, or is skipped for a reason that its documentation can stand by.
//
// The suite has the agent carry out scripts. An agent that works in-process does so itself; a real one is made to by its
// gateway, which plays the model:
//
//	func TestConformance(t *testing.T) {
//		agent := claude.New()
//		agenttest.Run(t, agenttest.Harness{
//			Info: agent.Info(),
//			Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
//				gw, err := gateway.Open(gateway.Options{Wire: agent.Info().Wire, Script: steps, Dir: setup.Dir})
//				if err != nil {
//					t.Fatal(err)
//				}
//				t.Cleanup(func() { gw.Close() })
//				endpoint := gw.Endpoint()
//				setup.Gateway = &endpoint
//				session, err := agent.Open(t.Context(), setup)
//				if err != nil {
//					t.Fatal(err)
//				}
//				return session
//			},
//			Skips: map[string]string{"calls-overlap": "Bash calls run one after the other"},
//		})
//	}
//
// Compare has two agents carry out one set of scripts and holds their trajectories against each other.
package agenttest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Harness is an adapter under test.
type Harness struct {
	// Info is that of the agent: rules about what it cannot show or gate are skipped by themselves.
	Info agents.Info
	// Open opens a session whose agent carries out steps. It ends the test when it cannot. What it starts besides the
	// session it ends by t.Cleanup; the session is closed by the suite.
	Open func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session
	// Skips are rules that do not hold, by name, each with the reason.
	Skips map[string]string
	// NoEffects: calls are shown, but not carried out (a replay). What the suite would look for in the workspace is not
	// looked for.
	NoEffects bool
	// Timeout bounds each rule; 0 is a minute.
	Timeout time.Duration
}

// A rule is one thing that evals rely on.
type rule struct {
	name string
	why  string // the rule itself, in one sentence
	test func(x *exam)
}

var rules = slices.Concat(callRules, talkRules, stopRules, permitRules, subRules, endRules)

// Rules are the names of the rules with what each demands.
func Rules() map[string]string {
	m := map[string]string{}
	for _, r := range rules {
		m[r.name] = r.why
	}
	return m
}

// Run runs one subtest a rule, in parallel.
func Run(t *testing.T, h Harness) {
	known := Rules()
	for name, reason := range h.Skips {
		if known[name] == "" {
			t.Errorf("agenttest: Harness.Skips names a rule %q that there is not", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("agenttest: Harness.Skips gives no reason for %q", name)
		}
	}
	if h.Timeout == 0 {
		h.Timeout = defaultTimeout
	}
	// Not t.Setenv: the caller's test may be parallel. The name is nobody else's.
	if err := os.Setenv(secretName, secretValue); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Unsetenv(secretName); err != nil {
			t.Error(err)
		}
	})
	// A group of their own, so that the clean-up comes after them.
	t.Run("rules", func(t *testing.T) {
		for _, r := range rules {
			t.Run(r.name, func(t *testing.T) {
				if reason := h.Skips[r.name]; reason != "" {
					t.Skipf("skipped by the adapter: %s", reason)
				}
				t.Parallel()
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("the rule %s: %s", r.name, r.why)
					}
				})
				r.test(newExam(t, h))
			})
		}
	})
}

const defaultTimeout = time.Minute

// The made-up secret of the developer's that no agent may see.
const (
	secretName  = "AGENTTEST_SECRET_API_KEY"
	secretValue = "agenttest-made-up-secret-1b7c"
)
