package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// inForce counts the trial's agent and policy.
func (t *tally) inForce(r *journal.TrialRecord) {
	in, v := &r.Intent, r.Verdict
	t.policies[Policy{Policy: in.Policy, Mode: in.Mode}]++
	if strings.HasPrefix(in.Agent.Upstream, "direct") {
		t.s.Unobserved++
	}
	key := in.Agent
	if v != nil && v.Version != "" {
		key.Version = v.Version
	}
	a := t.agents[key]
	if a == nil {
		a = &Agent{Agent: key}
		t.agents[key] = a
	}
	a.Trials++
	if v == nil {
		return
	}
	if v.Model != in.Agent.Model {
		a.answeredBy(v.Model)
	}
	if v.Requests != nil {
		for _, m := range v.Requests.Models {
			a.answeredBy(m.Answered)
		}
	}
}

func (a *Agent) answeredBy(model string) {
	if i, found := slices.BinarySearch(a.Answered, model); !found && model != "" {
		a.Answered = slices.Insert(a.Answered, i, model)
	}
}

// close puts agents and policies in an order that does not hang on when their trials began.
func (t *tally) close() {
	s := t.s
	s.Agents, s.Policies = []Agent{}, []Policy{}
	for _, a := range t.agents {
		s.Agents = append(s.Agents, *a)
	}
	slices.SortFunc(s.Agents, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Containment, b.Containment))
	})
	for p, n := range t.policies {
		p.Trials = n
		s.Policies = append(s.Policies, p)
	}
	slices.SortFunc(s.Policies, func(a, b Policy) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.OnError, b.OnError), cmp.Compare(a.Retries, b.Retries),
			cmp.Compare(a.Idle, b.Idle), cmp.Compare(a.MaxRequests, b.MaxRequests), cmp.Compare(a.MaxAgents, b.MaxAgents),
			cmp.Compare(a.Keep, b.Keep), cmp.Compare(a.Resumes, b.Resumes))
	})
}
