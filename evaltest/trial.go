package evaltest

import (
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// The types of the journal that authors meet.
type (
	Stop            = journal.Stop
	CriterionResult = journal.CriterionResult
	Change          = journal.Change
)

// Result is what Run came to.
type Result struct {
	Outcome Outcome
	Score   Interval     // after a stop an interval: what the gate's score can still be
	Stop    *Stop        // nil: not stopped
	Limit   string       // the limit that ended the trajectory; "": none did
	Usage   agents.Usage // of all attempts
	Reply   string       // the agent's last words of its last turn
	Trials  []Trial      // one for each trial that was started
}

// Trial is one run of the agent: what criteria grade, and what it came to.
type Trial struct {
	Number, Attempt int       // from 1
	Earlier         []Attempt // attempts before this one, which ended in errors
	Prompts         []string
	Dir             string // the workspace, an absolute path
	Trajectory      *agents.Trajectory
	Reply           string       // the agent's last words of its last turn
	Usage           agents.Usage // of this attempt
	Changes         []Change     // what the agent changed in the workspace, ordered by path
	Limit           string
	Stop            *Stop

	// Filled when the trial is over; zero while criteria are graded.
	Outcome  Outcome
	Score    Interval
	Smoke    bool // the outcome answers the smaller question of the armed criteria
	Criteria []CriterionResult
	Err      *agents.Error
	Took     time.Duration
	Harness  time.Duration // the part of it that neither the agent nor a criterion had
	Record   string        // the trial's folder on disk, "" when there is none
}

// Attempt is an attempt at a trial that ended in an infrastructure error, and after which another was made.
type Attempt struct {
	Number int // from 1
	Err    *agents.Error
	Usage  agents.Usage
	Took   time.Duration
	Waited time.Duration // before the next attempt
	Record string        // its folder on disk
}
