package report

import (
	"slices"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// ManifestVersion is the schema version of a manifest.
const ManifestVersion = 1

// Manifest discloses what a reader has to know to judge the numbers of a run. Encoded as JSON it is manifest.json.
type Manifest struct {
	Version   int       `json:"version"`
	Run       string    `json:"run"`
	Processes []Process `json:"processes"`
	// Policies are those in force, each with the number of trials that it held for.
	Policies []Policy `json:"policies"`
	Agents   []Agent  `json:"agents"`
	Resumes  []string `json:"resumes,omitempty"` // directories of the runs that it resumes
	Summary  *Summary `json:"summary"`
	// Unmeasured are the trials that were errored or not run, or that an error had a part in, every one by name.
	Unmeasured []Unmeasured `json:"unmeasured"`
	// Healed are the trials that took more than one attempt.
	Healed []string `json:"healed,omitempty"`
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
}

// Policy is a policy, and how many trials it held for.
type Policy struct {
	journal.Policy
	Mode   verdict.Mode `json:"mode"`
	Trials int          `json:"trials"`
}

// Agent is an agent with what answered for its model.
type Agent struct {
	journal.Agent
	Answered []string `json:"answered,omitempty"` // the models that answered, as the provider says
	Trials   int      `json:"trials"`
}

// Unmeasured is a trial that counts in no rate.
type Unmeasured struct {
	ID       journal.TrialID `json:"id"`
	Outcome  verdict.Outcome `json:"outcome"`
	Attempts int             `json:"attempts"`
	Errors   []*agents.Error `json:"errors"`
	Folder   string          `json:"folder"` // of its record, relative to the run directory
}

// NewManifest is the manifest of a run.
func NewManifest(run *journal.Run) *Manifest {
	m := &Manifest{Version: ManifestVersion, Run: nameOf(run), Summary: Summarize(run), Unmeasured: []Unmeasured{}}
	for _, p := range run.Processes {
		m.Processes = append(m.Processes, Process{p.Package, p.PID, p.Host, p.Go, p.OS, p.Arch, p.Started})
		if p.Resumes != "" && !slices.Contains(m.Resumes, p.Resumes) {
			m.Resumes = append(m.Resumes, p.Resumes)
		}
	}
	for _, t := range run.Final() {
		m.policy(t)
		m.agent(t)
		attempt := t.Intent.ID.Attempt
		if t.Verdict != nil && t.Verdict.Measured {
			if attempt > 1 {
				m.Healed = append(m.Healed, t.Intent.ID.String())
			}
			continue
		}
		if t.Outcome() == verdict.OutcomeUndecided {
			continue
		}
		id := t.Intent.ID
		id.Attempt = 1
		m.Unmeasured = append(m.Unmeasured, Unmeasured{id, t.Outcome(), attempt, errorsOf(t), t.Intent.Folder})
	}
	return m
}

func (m *Manifest) policy(t *journal.TrialRecord) {
	for i := range m.Policies {
		if p := &m.Policies[i]; p.Policy == t.Intent.Policy && p.Mode == t.Intent.Mode {
			p.Trials++
			return
		}
	}
	m.Policies = append(m.Policies, Policy{t.Intent.Policy, t.Intent.Mode, 1})
}

func (m *Manifest) agent(t *journal.TrialRecord) {
	agent := t.Intent.Agent
	v := t.Verdict
	if v != nil && v.Version != "" {
		agent.Version = v.Version
	}
	i := slices.IndexFunc(m.Agents, func(a Agent) bool { return a.Agent == agent })
	if i < 0 {
		i = len(m.Agents)
		m.Agents = append(m.Agents, Agent{Agent: agent})
	}
	a := &m.Agents[i]
	a.Trials++
	if v == nil || v.Requests == nil {
		return
	}
	for _, answered := range v.Requests.Models {
		if answered.Answered != "" && !slices.Contains(a.Answered, answered.Answered) {
			a.Answered = append(a.Answered, answered.Answered)
		}
	}
}
