package evaltest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/proc"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest/internal/workspace"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// Run runs the agent, each prompt a user turn, and reports what came of it: a failed eval fails the test and returns, so
// that more can be looked at; an error ends the test, worded as an error, or skips it where OnError says so.
func (e *T) Run(prompts ...string) *Result {
	e.Helper()
	e.check(prompts)
	sweep()
	asked.Add(1)
	a := &attempt{e: e, trial: &Trial{Number: 1, Attempt: 1, Prompts: slices.Clone(prompts), Trajectory: new(agents.Trajectory)}}
	a.run()
	e.finish(a)
	t := a.trial
	result := &Result{
		Outcome: t.Outcome, Score: t.Score, Stop: t.Stop, Limit: t.Limit, Usage: t.Usage, Reply: t.Reply,
		Trials: []Trial{*t},
	}
	e.report(a)
	return result
}

// attempt is one run of the agent under way.
type attempt struct {
	e     *T
	trial *Trial
	watch *watch

	ws      *workspace.Workspace
	record  *journal.Trial
	gateway *gateway.Gateway
	streams []*maskingWriter // raw stream and stderr, where there is something to mask
	before  workspace.Snapshot

	info     agents.Info
	answered string        // the model that answered, as the session showed it
	err      *agents.Error // what ended the session, or kept it from beginning
	notRun   bool
	started  time.Time
	agent    time.Duration // spent waiting for the agent
	graders  time.Duration // spent in criteria
	results  []CriterionResult
	shadow   []journal.Shadow
	notes    []string
	torn     []string // how tearing down failed
	kept     string
	// leftBehind: the agent did not let go, so that something of it may still be at work.
	leftBehind bool
}

// run takes the attempt from its workspace to its verdict. Whatever happens, the record gets a verdict.
func (a *attempt) run() {
	a.started = time.Now()
	a.info = a.e.info
	a.newWatch()
	ctx, cancel := context.WithCancel(testContext(a.e.TB))
	defer cancel()
	defer a.settle()
	defer a.tearDown(ctx)
	defer func() {
		a.trial.Reply = a.trial.Trajectory.Reply()
		a.conclude(ctx)
	}()
	if a.prepare(ctx) {
		a.converse(ctx)
		a.observeChanges()
	}
	if a.gateway != nil {
		a.closeGateway()
	}
}

func (a *attempt) newWatch() {
	e := a.e
	w := &watch{
		news: make(chan struct{}), tr: a.trial.Trajectory, gate: e.gate, rules: rulesOf(e.mode), limits: e.limits,
		drain: e.drain, prices: e.prices, last: map[string]string{}, open: map[answer]int{}, detached: map[string]bool{},
		mask: e.masker(),
	}
	for _, s := range e.specs {
		w.judged = append(w.judged, newJudged(s))
	}
	a.watch = w
}

// fail records what kept the session from going on. The first error stands.
func (a *attempt) fail(err *agents.Error) {
	if a.err == nil {
		a.err = err
	}
}

// prepare makes the workspace, writes the intent, and sets up. It is false when there is nothing to run.
func (a *attempt) prepare(ctx context.Context) bool {
	var err error
	if a.ws, err = workspace.New(); err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromHarness, "make the workspace: %w", err))
	}
	if a.ws != nil {
		a.trial.Dir = a.ws.Dir()
	}
	if !a.begin() || a.err != nil {
		return false
	}
	if _, _, err := agentDeadline(a.e.TB, a.e.limits.Duration); err != nil {
		a.notRun = true
		a.fail(&agents.Error{Kind: agents.Timeout, Source: agents.FromAuthor, Err: err})
		return false
	}
	for _, fill := range a.e.workspace {
		if err := fill(a.ws); err != nil {
			a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "fill the workspace: %w", err))
			return false
		}
	}
	for _, f := range a.e.setups {
		if err := guarded(func() error { return f(ctx, a.trial) }); err != nil {
			a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "Setup: %w", err))
			return false
		}
	}
	if a.before, err = a.ws.Snapshot(ctx); err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromHarness, "look at the workspace: %w", err))
		return false
	}
	return true
}

// begin writes the intent. A record that cannot be written ends the test before anything was paid for.
func (a *attempt) begin() bool {
	e := a.e
	j, err := journal.Default()
	if err == nil {
		a.record, err = j.Begin(a.intent())
	}
	if err != nil {
		a.fail(agents.Errorf(agents.Harness, agents.FromHarness, "record the trial: %w", err))
		return false
	}
	a.trial.Record = a.record.Dir()
	mask := e.masker()
	enc, err := transcript.NewEncoder(a.record.TranscriptFile(), masked(mask, transcript.Header{
		Agent: a.info.Name, AgentVersion: a.info.Version, Model: a.info.Model, Prompts: a.trial.Prompts, Started: a.started,
	}))
	if err != nil {
		a.fail(agents.Errorf(agents.Harness, agents.FromHarness, "record the transcript: %w", err))
		return false
	}
	a.watch.record = func(ev agents.Event) { _ = enc.Encode(mask.event(ev)) } // what is lost is said by the verdict
	return true
}

func (a *attempt) intent() journal.Intent {
	e := a.e
	in := journal.Intent{
		ID: journal.TrialID{
			Package: e.pkg, Test: e.Name(), N: e.n, Trial: a.trial.Number, Attempt: a.trial.Attempt,
		},
		Started: a.started, Mode: e.mode, Gate: e.gate.String(), Limits: e.limits, Workspace: a.trial.Dir,
		Prompts: a.trial.Prompts,
		Agent: journal.Agent{
			Name: a.info.Name, Version: a.info.Version, Model: a.model(), Containment: proc.Containment(), Upstream: a.upstream(),
		},
	}
	if e.gate.MinScore != nil {
		in.MinScore = e.gate.MinScore.RatString()
	}
	for _, s := range e.specs {
		c := journal.CriterionSpec{
			Name: s.name, Advisory: s.advisory, Required: s.required, Prevent: s.prevent, Source: s.source,
		}
		if s.weight != nil {
			c.Weight = s.weight.RatString()
		}
		if s.passAt != nil {
			c.PassAt = s.passAt.RatString()
		}
		if armed := newJudged(s).part().Armed; armed != 0 {
			c.Armed = armed.String()
		}
		in.Criteria = append(in.Criteria, c)
	}
	return masked(e.masker(), in)
}

// model is the one that answered, or else the one that is asked for.
func (a *attempt) model() string { return cmp.Or(a.answered, a.e.model, a.info.Model) }

// upstream says what answers for the model.
func (a *attempt) upstream() string {
	switch {
	case a.e.scripted:
		return "script"
	case a.info.Wire != "" || a.info.Live:
		return "direct"
	}
	return ""
}

// observeChanges finds what the agent changed.
func (a *attempt) observeChanges() {
	limit := time.Minute
	if end, ok := testDeadline(a.e.TB); ok {
		limit = min(limit, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := a.ws.Reclaim()
	var after workspace.Snapshot
	if err == nil {
		after, err = a.ws.Snapshot(ctx)
	}
	if err != nil {
		a.fail(agents.Errorf(agents.Harness, agents.FromHarness, "look at the workspace: %w", err))
		return
	}
	a.trial.Changes = a.before.Diff(after)
	if err := a.record.Changes(masked(a.e.masker(), a.trial.Changes)); err != nil {
		a.notes = append(a.notes, err.Error())
	}
}

// closeGateway ends the gateway and keeps what it saw: requests.json in the trial's folder.
func (a *attempt) closeGateway() {
	_ = a.gateway.Close()
	data, err := json.MarshalIndent(masked(a.e.masker(), a.gateway.Log()), "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join(a.record.Dir(), "requests.json"), data, 0o666)
	}
	if err != nil {
		a.notes = append(a.notes, fmt.Sprintf("keep the requests to the model: %v", err))
	}
}

func (a *attempt) tearDown(ctx context.Context) {
	if a.ws == nil {
		return
	}
	for _, f := range slices.Backward(a.e.teardowns) {
		if err := guarded(func() error { return f(context.WithoutCancel(ctx), a.trial) }); err != nil {
			a.torn = append(a.torn, fmt.Sprintf("TearDown: %v", err))
		}
	}
	a.notes = append(a.notes, a.torn...)
}

// settle keeps or removes the workspace and writes the verdict.
func (a *attempt) settle() {
	t := a.trial
	t.Took = time.Since(a.started)
	t.Harness = t.Took - a.agent - a.graders
	if a.ws != nil {
		a.keepWorkspace()
		a.notes = append(a.notes, a.ws.Notes()...)
	}
	for _, s := range a.streams {
		s.flush()
	}
	if a.record == nil {
		return
	}
	// For who looks at the folder alone; the journal has it all.
	if err := os.WriteFile(filepath.Join(a.record.Dir(), "report.txt"), []byte(a.e.clean(a.text(false))+"\n"), 0o666); err != nil {
		a.notes = append(a.notes, fmt.Sprintf("write the report: %v", err))
	}
	v := journal.Verdict{
		Outcome: t.Outcome, Score: t.Score, Smoke: t.Smoke, Stop: t.Stop, Limit: t.Limit, Shadow: a.shadow,
		Err: t.Err, Usage: t.Usage, Turns: t.Trajectory.Turns(), Calls: t.Trajectory.MainCalls().Dispatched(),
		Version: a.info.Version, Model: a.model(),
		Reply: t.Reply, Notes: a.notes, Kept: a.kept, Took: t.Took, Harness: t.Harness,
	}
	if err := a.record.Verdict(masked(a.e.masker(), v)); err != nil {
		a.e.TB.Error(a.e.clean(fmt.Sprintf("evaltest: ERROR: write the record: %v", err)))
	}
}

func (a *attempt) keepWorkspace() {
	keep := a.e.keep == "all" || a.e.keep == "failed" && a.trial.Outcome != OutcomePassed && !a.notRun
	if keep && a.record != nil {
		dest := filepath.Join(a.record.Dir(), "workspace")
		if err := a.ws.Keep(dest); err != nil {
			a.notes = append(a.notes, fmt.Sprintf("the workspace was left at %s: %v", a.ws.Dir(), err))
			return
		}
		a.kept = filepath.ToSlash(filepath.Join("trials", filepath.Base(a.record.Dir()), "workspace"))
		a.trial.Dir = dest
	}
	if err := a.ws.Remove(); err != nil {
		a.notes = append(a.notes, err.Error())
	}
}

// guarded calls what an author wrote, in a goroutine of its own: a panic is an error, and so is the end of the goroutine,
// which FailNow and SkipNow bring about. The record outlives both.
func guarded(f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("it ended the test")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v%s", p, authorFrames())
			}
			done <- err
		}()
		err = f()
	}()
	return <-done
}

// setupOf is what the eval asks of the agent.
func (a *attempt) setupOf() (agents.Setup, error) {
	e := a.e
	s := agents.Setup{
		Dir: a.ws.Dir(), Home: a.ws.Home(), Temp: a.ws.Temp(), Env: e.env, Model: e.model, System: e.system,
		MCP: e.mcp, Allow: e.allow, Deny: e.deny,
	}
	s.Record = &agents.Record{Raw: a.masking(a.record.Raw()), Stderr: a.masking(a.record.Stderr())}
	for _, dir := range e.skills {
		found, err := workspace.ListSkills(dir)
		if err != nil {
			return s, err
		}
		for _, path := range found {
			staged, err := workspace.StageSkill(path)
			if err != nil {
				return s, err
			}
			s.Skills = append(s.Skills, staged)
		}
	}
	if slices.ContainsFunc(e.specs, func(s *spec) bool { return s.prevent }) {
		s.Permit = a.watch.permit
	}
	if !e.scripted {
		return s, nil
	}
	g, err := gateway.Open(gateway.Options{Wire: a.info.Wire, Script: e.script, Dir: s.Dir, Admit: a.watch.admit})
	if err != nil {
		return s, err
	}
	a.gateway = g
	endpoint := g.Endpoint()
	s.Gateway = &endpoint
	a.watch.gated = true
	return s, nil
}

// reproduce is the command that runs this eval again.
func (e *T) reproduce() string {
	cmd := ""
	settings := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !strings.HasPrefix(name, "EVALTEST_") || name == proc.Marker || name == envKeep || name == envOnError || name == "EVALTEST_DIR"
	})
	slices.Sort(settings)
	for _, kv := range settings {
		name, value, _ := strings.Cut(kv, "=")
		cmd += name + "=" + quoteShell(e.mask(value)) + " "
	}
	return cmd + "go test -count=1 -run " + quoteShell(runPattern(e.Name())) + " " + quoteShell(e.pkg)
}
