package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// ManifestVersion is the schema version of a manifest.
const ManifestVersion = 1

// Manifest discloses what a reader has to know to judge the numbers of a run. Encoded as JSON it is manifest.json. Texts in
// it are printable. Lists are in the order in which things began, unless they say otherwise.
type Manifest struct {
	Version   int       `json:"version"` // ManifestVersion
	Run       string    `json:"run"`
	Processes []Process `json:"processes"`
	Summary   *Summary  `json:"summary"` // with the agents, and the policies in force
	// Limits are those in force, each with the number of its trials; most frequent first.
	Limits []Limits `json:"limits"`
	// Substitutes are models that answered by another name than was asked for, a dated name of the same model included.
	Substitutes []Substitute `json:"substitutes,omitempty"`
	// Resumes are the runs that it resumes, and Reused those that results were taken over from.
	Resumes []string   `json:"resumes,omitempty"` // directories
	Reused  []ReusedOf `json:"reused,omitempty"`
	// Unmeasured are all trials that count in no rate, by name.
	Unmeasured []Unmeasured `json:"unmeasured"`
	// Healed are the trials that took more than one attempt, and were measured then.
	Healed []Healed `json:"healed,omitempty"`
}

// Process is a test process of the run.
type Process struct {
	Package string    `json:"package"`
	PID     int       `json:"pid"`
	Host    string    `json:"host,omitempty"`
	Go      string    `json:"go"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`
	Started time.Time `json:"started"`
	Torn    bool      `json:"torn,omitempty"` // its journal ends within a line: it was killed while it wrote
}

// Limits are limits on a trial, and how many trials they held for.
type Limits struct {
	journal.Limits
	Trials int `json:"trials"`
}

// Substitute counts where a model answered by another name than was asked for.
type Substitute struct {
	Asked    string `json:"asked"`
	Answered string `json:"answered"`
	Requests int    `json:"requests"`
	Trials   int    `json:"trials"`
}

// ReusedOf is a run that results were taken over from.
type ReusedOf struct {
	Run      string `json:"run"`
	Dir      string `json:"dir"`
	Trials   int    `json:"trials"`
	Regraded int    `json:"regraded,omitempty"`
}

// Unmeasured is a trial that counts in no rate: it was errored, not run or undecided, is under way, or has a verdict that an
// error had a part in.
type Unmeasured struct {
	ID       journal.TrialID `json:"id"` // of its last attempt
	Outcome  verdict.Outcome `json:"outcome"`
	UnderWay bool            `json:"under_way,omitempty"` // its process is at work; Outcome is what it would be if that ended now
	Attempts int             `json:"attempts"`
	Errors   []Failure       `json:"errors"`             // of its last attempt
	Contract []string        `json:"contract,omitempty"` // criteria that broke theirs, and how
	Limit    string          `json:"limit,omitempty"`    // that ended it, in words
	Folder   string          `json:"folder"`             // of its record, relative to the run directory
}

// Healed is a trial that took more than one attempt.
type Healed struct {
	ID       journal.TrialID `json:"id"` // of its last attempt
	Attempts int             `json:"attempts"`
	Errors   []Failure       `json:"errors"` // that ended the earlier ones
}

// Failure is an error.
type Failure struct {
	Kind    agents.ErrorKind   `json:"kind"`
	Source  agents.ErrorSource `json:"source"`
	Message string             `json:"message"`
}

// NewManifest is the manifest of a run.
func NewManifest(run *journal.Run) *Manifest {
	final := run.Final()
	m := &Manifest{
		Version: ManifestVersion, Run: printable.Line(nameOf(run)), Summary: summarize(run, final, nil),
		Processes: []Process{}, Limits: []Limits{}, Unmeasured: []Unmeasured{},
	}
	for _, p := range run.Processes {
		m.Processes = append(m.Processes, Process{p.Package, p.PID, p.Host, p.Go, p.OS, p.Arch, p.Started, p.Torn})
		if p.Resumes != "" && !slices.Contains(m.Resumes, p.Resumes) {
			m.Resumes = append(m.Resumes, p.Resumes)
		}
	}
	d := disclosing{m: m, t: newTally(run, nil), limits: map[journal.Limits]int{}}
	for _, r := range final {
		d.trial(r)
	}
	for l, n := range d.limits {
		m.Limits = append(m.Limits, Limits{l, n})
	}
	slices.SortFunc(m.Limits, func(a, b Limits) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.Turns, b.Turns), cmp.Compare(a.ToolCalls, b.ToolCalls), cmp.Compare(a.Tokens, b.Tokens),
			cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Duration, b.Duration), cmp.Compare(a.StepBudget, b.StepBudget))
	})
	return m
}

// disclosing is a manifest under way.
type disclosing struct {
	m      *Manifest
	t      *tally // knows which processes are alive
	limits map[journal.Limits]int
}

func (d *disclosing) trial(r *journal.TrialRecord) {
	m, id, v := d.m, r.Intent.ID, r.Verdict
	d.limits[r.Intent.Limits]++
	id.Test = printable.Line(id.Test)
	if v != nil {
		d.models(v)
		d.reused(v)
	}
	if v != nil && v.Measured {
		if id.Attempt > 1 {
			h := Healed{id, id.Attempt, []Failure{}}
			for _, b := range d.t.run.Attempts(r) {
				if e := b.Err(); e != nil {
					h.Errors = append(h.Errors, failureOf(e))
				}
			}
			m.Healed = append(m.Healed, h)
		}
		return
	}
	u := Unmeasured{ID: id, Outcome: r.Outcome(), UnderWay: d.t.underWay(r), Attempts: id.Attempt, Errors: []Failure{}, Folder: r.Intent.Folder}
	if !u.UnderWay || v != nil {
		for _, e := range errorsOf(r) {
			u.Errors = append(u.Errors, failureOf(e))
		}
	}
	for _, c := range r.Criteria {
		if c.Violation != "" {
			u.Contract = append(u.Contract, printable.Line(c.Name+": "+c.Violation))
		}
	}
	if v != nil {
		u.Limit = v.Limit
	}
	m.Unmeasured = append(m.Unmeasured, u)
}

func failureOf(e *agents.Error) Failure {
	return Failure{e.Kind, e.Source, printable.Text(e.Message())}
}

func (d *disclosing) models(v *journal.Verdict) {
	if v.Requests == nil {
		return
	}
	for _, a := range v.Requests.Models {
		if a.Asked == "" || a.Answered == "" || a.Asked == a.Answered {
			continue
		}
		all := &d.m.Substitutes
		i := slices.IndexFunc(*all, func(s Substitute) bool { return s.Asked == a.Asked && s.Answered == a.Answered })
		if i < 0 {
			i = len(*all)
			*all = append(*all, Substitute{Asked: a.Asked, Answered: a.Answered})
		}
		(*all)[i].Requests += a.N
		(*all)[i].Trials++
	}
}

func (d *disclosing) reused(v *journal.Verdict) {
	if v.Reused == nil {
		return
	}
	all := &d.m.Reused
	i := slices.IndexFunc(*all, func(r ReusedOf) bool { return r.Dir == v.Reused.Dir })
	if i < 0 {
		i = len(*all)
		*all = append(*all, ReusedOf{Run: v.Reused.Run, Dir: v.Reused.Dir})
	}
	(*all)[i].Trials++
	if v.Reused.Regraded {
		(*all)[i].Regraded++
	}
}
