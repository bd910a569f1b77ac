package report

import (
	"path/filepath"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Summary is what the trials of a run came to.
type Summary struct {
	Run      string   `json:"run"`      // name of its directory
	Packages []string `json:"packages"` // that have trials, sorted

	Full  Rate `json:"full"`  // trials that are held to the full gate
	Smoke Rate `json:"smoke"` // smoke checks, which may end once what is armed has passed
	// ArmedPasses are those passes of smoke checks that say nothing but that what is armed has passed.
	ArmedPasses int `json:"armed_passes,omitempty"`

	// Errors are those of trials, by kind and source, most frequent first: what left them without a verdict, or had a part in it.
	Errors    []Count `json:"errors,omitempty"`
	NotRun    []Count `json:"not_run,omitempty"`   // of them, those that kept trials from being begun, most frequent first
	LeftOpen  int     `json:"left_open,omitempty"` // of the errored: their process ended before their verdict
	Contracts Mishaps `json:"contracts,omitzero"`  // results of criteria that broke their contract
	Asserted  Mishaps `json:"asserted,omitzero"`   // assertions on results that failed; they change no verdict
	AfterCut  Mishaps `json:"after_cut,omitzero"`  // criteria left open at a cut that would have failed on what still came
	Overcome  []Count `json:"overcome,omitempty"`  // requests to models that failed, and that the agents' own retries overcame
	Retries   Retries `json:"retries,omitzero"`    // what attempts beyond the first have cost and brought
	Stops     Stops   `json:"stops,omitzero"`      // what stopping early has saved
	Reused    Reused  `json:"reused,omitzero"`     // what taking over earlier results has saved

	Usage      agents.Usage  `json:"usage"`                // of all attempts that were made in this run
	Took       time.Duration `json:"took_ns"`              // of all attempts, added up, waiting for a place among the agents included
	Elapsed    time.Duration `json:"elapsed_ns"`           // from the first beginning to the last end
	Unobserved int           `json:"unobserved,omitempty"` // trials of agents whose provider was not observed

	Agents   []Agent  `json:"agents"`
	Policies []Policy `json:"policies"`           // in force, each with the number of its trials
	Problems []string `json:"problems,omitempty"` // of reading the journals
}

// Count counts errors of one kind and source.
type Count struct {
	Kind   agents.ErrorKind   `json:"kind"`
	Source agents.ErrorSource `json:"source"`
	N      int                `json:"n"`
	NotRun int                `json:"not_run,omitempty"` // of them, those of trials that were not begun
	Mishap                    // the first
}

// Mishaps counts what went wrong in one way.
type Mishaps struct {
	N int `json:"n"`
	Mishap
}

// Mishap is an example: which trial, and the message, printable and on one line.
type Mishap struct {
	Trial   string `json:"trial"`
	Message string `json:"message"`
}

// Retries is what attempts beyond the first have cost and brought.
type Retries struct {
	Attempts int           `json:"attempts"`
	Healed   int           `json:"healed"` // trials that were measured thanks to them
	Usage    agents.Usage  `json:"usage"`
	Took     time.Duration `json:"took_ns"`
	Waited   time.Duration `json:"waited_ns"`       // before them
	After    []Count       `json:"after,omitempty"` // the errors that they were made after
}

// Stops is what stopping trials early has saved.
type Stops struct {
	Trials    int `json:"trials"`
	Limited   int `json:"limited"`    // of them, those with a limit on turns
	TurnsLeft int `json:"turns_left"` // that these limits would still have allowed: at most so many were saved
}

// Reused is what taking over the results of earlier runs has saved.
type Reused struct {
	Trials   int          `json:"trials"`
	Regraded int          `json:"regraded"` // of them, those whose criteria graded the record anew
	Usage    agents.Usage `json:"usage"`    // what they had cost
}

// Agent is an agent with what answered for its model.
type Agent struct {
	journal.Agent
	Answered []string `json:"answered,omitempty"` // the models that answered, by their own names, sorted
	Trials   int      `json:"trials"`
}

// Policy is what was to be done about errors and when trials were to be stopped, and how many trials it held for.
type Policy struct {
	journal.Policy
	Mode   verdict.Mode `json:"mode"`
	Trials int          `json:"trials"`
}

// Summarize sums up a run: all of it, or the packages that are named. Each trial counts once, by its last attempt; costs are
// those of all attempts.
func Summarize(run *journal.Run, packages ...string) *Summary {
	return summarize(run, run.Final(), packages)
}

func summarize(run *journal.Run, final []*journal.TrialRecord, packages []string) *Summary {
	t := newTally(run, packages)
	for _, r := range run.Trials {
		if t.wanted(r) {
			t.attempt(r)
		}
	}
	for _, r := range final {
		if t.wanted(r) {
			t.trial(r)
		}
	}
	return t.summary()
}

func nameOf(run *journal.Run) string {
	if run.Dir == "" {
		return ""
	}
	return filepath.Base(run.Dir)
}
