package journal

import (
	"fmt"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Version is the schema version of the records. Readers refuse a newer one, and read older ones.
const Version = 2

// TrialID is the identity of one attempt at one trial, unique within a run together with the process that made it.
type TrialID struct {
	Package string `json:"package"` // import path of the test's package
	Test    string `json:"test"`    // full name, subtests included: TestPDF/scanned
	N       int    `json:"n"`       // the n-th eval made under that name in its process, from 1: -count and loops
	Trial   int    `json:"trial"`   // from 1
	Attempt int    `json:"attempt"` // from 1
}

// String is "example.com/evals.TestPDF/scanned", with what is not 1 behind it.
func (id TrialID) String() string {
	s := id.Package + "." + id.Test
	if id.N > 1 {
		s += fmt.Sprintf("#%d", id.N)
	}
	if id.Trial > 1 {
		s += fmt.Sprintf(" trial %d", id.Trial)
	}
	if id.Attempt > 1 {
		s += fmt.Sprintf(" attempt %d", id.Attempt)
	}
	return s
}

// Intent is written before the agent starts. An intent without a verdict is an errored trial.
type Intent struct {
	ID       TrialID         `json:"id"`
	Started  time.Time       `json:"started"`
	Prompts  []string        `json:"prompts"`
	Agent    Agent           `json:"agent"`
	Mode     verdict.Mode    `json:"mode"`
	Gate     string          `json:"gate"` // in words
	MinScore string          `json:"min_score,omitempty"`
	Criteria []CriterionSpec `json:"criteria"`
	Limits   Limits          `json:"limits"`
	Policy   Policy          `json:"policy,omitzero"`
	Source   string          `json:"source,omitempty"` // file:line of the eval
	// Fingerprint is what the result depends on. Zero: it is not known, and nothing is reused.
	Fingerprint Fingerprint `json:"fingerprint,omitzero"`
	// Folder is the trial's folder in the run directory, relative to it, slash-separated. Set by Begin.
	Folder string `json:"folder"`
	// Workspace is where the agent works while the trial runs: an absolute path.
	Workspace string `json:"workspace,omitempty"`
	PID       int    `json:"pid"` // set by Begin
}

// Agent says which agent a trial is of.
type Agent struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Model   string `json:"model,omitempty"`
	// Upstream says what answered for the model: "script", "direct" (the agent reached its provider unobserved), or ""
	// for an agent without a model.
	Upstream string `json:"upstream,omitempty"`
	// Containment says how its processes are kept together: "pid namespace", "subreaper", …
	Containment string `json:"containment,omitempty"`
}

// Policy is what was to be done about infrastructure errors.
type Policy struct {
	OnError     string        `json:"on_error"`               // "fail", "skip"
	Retries     int           `json:"retries"`                // of an attempt that ended in an error that may pass
	Idle        time.Duration `json:"idle_ns,omitempty"`      // silence that ends an attempt; 0: none does
	MaxRequests int           `json:"max_requests,omitempty"` // requests to the model that a prompt may take; 0: any number
	MaxAgents   int           `json:"max_agents,omitempty"`   // agents at work at once in the run
	Keep        string        `json:"keep,omitempty"`         // whose workspaces are kept: "all", "failed", "none"
	// Resumes is the run whose settled trials are taken over, "" for none.
	Resumes string `json:"resumes,omitempty"`
}

// CriterionSpec is what a trial asks of a criterion.
type CriterionSpec struct {
	Name     string `json:"name"`
	Weight   string `json:"weight,omitempty"`  // exact; "" is 1
	PassAt   string `json:"pass_at,omitempty"` // exact; "" is 1
	Advisory bool   `json:"advisory,omitempty"`
	Required bool   `json:"required,omitempty"`
	Armed    string `json:"armed,omitempty"` // "Pass", "Fail", "Pass|Fail"
	Prevent  bool   `json:"prevent,omitempty"`
	Source   string `json:"source,omitempty"` // file:line where it was added
}

// Limits end a trajectory. Zero: no limit.
type Limits struct {
	Turns      int           `json:"turns,omitempty"`
	ToolCalls  int           `json:"tool_calls,omitempty"`
	Tokens     int64         `json:"tokens,omitempty"`
	Cost       float64       `json:"cost,omitempty"` // US dollars
	Duration   time.Duration `json:"duration_ns,omitempty"`
	StepBudget int           `json:"step_budget,omitempty"`
}

// CriterionResult is what a criterion came to in a trial. It is on disk the moment it exists.
type CriterionResult struct {
	Name    string           `json:"name"`
	Score   verdict.Interval `json:"score"`
	Verdict verdict.Verdict  `json:"verdict"` // at its own PassAt
	// Open: it was not decided when the trajectory ended, and is no error: the run was stopped first.
	Open bool `json:"open,omitempty"`
	// Err, when not nil, is why no score could be had. Score is then what was known before.
	Err *agents.Error `json:"error,omitempty"`
	// Violation, when not "", is how it broke its contract.
	Violation string `json:"violation,omitempty"`
	// Violated: it was open at the cut, and what the agent still did after it would have failed it. The verdict is not
	// changed by that.
	Violated bool          `json:"violated,omitempty"`
	Took     time.Duration `json:"took_ns,omitempty"`
	// DecidedAt is the length of the trajectory at which it was decided live; 0: it was not.
	DecidedAt int `json:"decided_at,omitempty"`
}

// Stop is how and why a trajectory was cut short because its outcome was known.
type Stop struct {
	Reason    string          `json:"reason"`    // one sentence
	Criterion string          `json:"criterion"` // the one whose verdict decided it
	Mode      verdict.Mode    `json:"mode"`
	Verdict   verdict.Verdict `json:"verdict"`
	Turn      int             `json:"turn"`       // turns of the main thread begun by then
	ToolCall  int             `json:"tool_call"`  // calls of the main thread dispatched by then
	Elapsed   time.Duration   `json:"elapsed_ns"` // since the first prompt
	// TurnsLeft is how many turns the limit on turns would still have allowed; 0 without such a limit.
	TurnsLeft int      `json:"turns_left,omitempty"`
	Open      []string `json:"open,omitempty"` // gating criteria that were not decided
	// Length is the length of the trajectory when the stop was decided; the trajectory itself goes on to the cut.
	Length int `json:"length"`
}

// Verdict is written when a trial is over.
type Verdict struct {
	ID      TrialID          `json:"id"`
	Ended   time.Time        `json:"ended"`
	Outcome verdict.Outcome  `json:"outcome"`
	Score   verdict.Interval `json:"score"`
	// Smoke: the outcome answers the smaller question of the armed criteria; Stop.Open says what was left open.
	Smoke bool   `json:"smoke,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"`
	Limit string `json:"limit,omitempty"` // the limit that ended the trajectory, in words; "" when none did
	// Shadow is what mode shadow saw: where the other modes would have stopped.
	Shadow []Shadow      `json:"shadow,omitempty"`
	Err    *agents.Error `json:"error,omitempty"`
	// Measured: the trial has a verdict, and no error had a part in it. Only such trials count in a rate.
	Measured bool `json:"measured"`
	// Complete: the session went well to its end or to the cut, so that the record can be graded again.
	Complete bool `json:"complete,omitempty"`
	// RetryIn is how long the next attempt was to wait, when there was to be one: the trial is not over with this verdict.
	RetryIn *time.Duration `json:"retry_in_ns,omitempty"`
	// Reused says where the result comes from, when the agent did not run.
	Reused *Reused `json:"reused,omitempty"`
	// Requests is what the gateway saw; nil: the provider was not observed.
	Requests *Requests `json:"requests,omitempty"`
	// Version and Model are those of the agent as its session showed them, "" where it did not.
	Version string       `json:"version,omitempty"`
	Model   string       `json:"model,omitempty"`
	Usage   agents.Usage `json:"usage"`
	Turns   int          `json:"turns"`
	Calls   int          `json:"calls"` // of the main thread
	Reply   string       `json:"reply,omitempty"`
	// Notes are facts of the run that changed nothing: a limit met while draining, a contradiction in the stream.
	Notes []string `json:"notes,omitempty"`
	// Kept is where the workspace was kept, relative to the run directory; "" when it was not.
	Kept    string        `json:"kept,omitempty"`
	Took    time.Duration `json:"took_ns"`
	Harness time.Duration `json:"harness_ns"` // the part of it that neither the agent nor a grader had
}

// Reused says which record a result was taken over from.
type Reused struct {
	Run    string `json:"run"`    // name of its run directory
	Dir    string `json:"dir"`    // that directory, absolute
	Folder string `json:"folder"` // Intent.Folder there
	// Regraded: criteria had changed, and graded the recorded workspace and transcript anew.
	Regraded bool `json:"regraded,omitempty"`
}

// Requests is what a gateway saw of the requests to the model.
type Requests struct {
	N        int              `json:"n"`
	Usage    agents.Usage     `json:"usage"` // as the provider reported it, answer by answer; no cost
	Models   []AnsweredModel  `json:"models,omitempty"`
	Failures []RequestFailure `json:"failures,omitempty"`
}

// AnsweredModel counts the answers that one model gave where a model was asked for.
type AnsweredModel struct {
	Asked    string `json:"asked"`
	Answered string `json:"answered"` // "": it did not say
	N        int    `json:"n"`
}

// RequestFailure is a request that the provider did not answer well.
type RequestFailure struct {
	N       int              `json:"n"` // of the request, from 1
	Kind    agents.ErrorKind `json:"kind"`
	Status  int              `json:"status,omitempty"` // HTTP status; 0: no answer came
	Message string           `json:"message"`
	// Overcome: the agent asked again, and was answered.
	Overcome bool `json:"overcome"`
}

// Shadow is a stop that was not carried out, held against the full run.
type Shadow struct {
	Stop
	// Held: the full run came to the same verdict. Broken names the criteria that were open at the stop and failed in the
	// full run: in mode armed an assumption of the eval that does not hold, in mode sound a fault of ours.
	Held   bool     `json:"held"`
	Broken []string `json:"broken,omitempty"`
}

// Change is one file that the agent changed.
type Change struct {
	Path string     `json:"path"` // slash-separated, relative to the workspace
	Kind ChangeKind `json:"kind"`
}

// ChangeKind says what happened to a file.
type ChangeKind string

const (
	Created  ChangeKind = "created"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
)
