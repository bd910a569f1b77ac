package evaltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/proc"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest/internal/workspace"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// attempt is one run of the agent under way.
type attempt struct {
	e      *T
	course *course
	trial  *Trial
	watch  *watch

	ws      *workspace.Workspace
	record  *journal.Trial
	gateway *gateway.Gateway
	streams []*maskingWriter // raw stream and stderr, where there is something to mask
	before  workspace.Snapshot

	info       agents.Info
	answered   string        // the model that answered, as the session showed it
	err        *agents.Error // what ended the session, or kept it from beginning
	notRun     bool
	started    time.Time
	waited     time.Duration // for a place among the agents of the run
	agent      time.Duration // spent waiting for the agent
	graders    time.Duration // spent in criteria
	results    []CriterionResult
	shadow     []journal.Shadow
	notes      []string
	wasSetUp   bool     // the author's functions had their turn
	torn       []string // how tearing down failed
	kept       string
	retryIn    *time.Duration    // nil: no further attempt follows
	requests   *journal.Requests // what the gateway saw
	reused     *journal.Reused   // where the result comes from; nil: the agent ran
	settled    bool              // the result was taken over: there is nothing to grade
	late       []agents.Event    // what came after the trajectory's end
	recordLate func(agents.Event)
	// leftBehind: the agent did not let go, so that something of it may still be at work.
	leftBehind bool
}

// note records a fact that changed nothing.
func (a *attempt) note(format string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
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
		if !a.settled {
			a.trial.Reply = a.trial.Trajectory.Reply()
			a.conclude(ctx)
		}
	}()
	if a.prepare(ctx) && !a.takeOver(ctx) && a.setUp(ctx) && a.takePlace(ctx) {
		a.converse(ctx)
		a.observeChanges()
	}
	if a.err == nil || !a.err.Retryable {
		a.course.place.leave() // while criteria are graded another agent may be at work
	}
}

func (a *attempt) newWatch() {
	e := a.e
	w := &watch{
		news: make(chan struct{}), tr: a.trial.Trajectory, gate: e.gate, rules: rulesOf(e.mode), limits: e.limits,
		drain: e.drain, prices: e.prices, last: map[string]string{}, open: map[answer]int{}, detached: map[string]bool{},
		mask: e.masker(), maxRequests: e.maxRequests,
	}
	for _, b := range a.earlier() {
		w.before = w.before.Add(b.trial.Usage)
		w.timeBefore += b.agent
	}
	w.tally = w.prices != nil && !e.info.Costs
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

// prepare makes the workspace, fills it, and writes the intent. It is false when there is nothing to run.
func (a *attempt) prepare(ctx context.Context) bool {
	var err error
	if a.ws, err = workspace.New(); err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromHarness, "make the workspace: %w", err))
	} else {
		a.trial.Dir = a.ws.Dir()
		a.mayRun()
	}
	var filled journal.Fingerprint
	if a.err == nil {
		filled = a.fill(ctx)
	}
	return a.begin(filled) && a.err == nil
}

// mayRun looks whether there is any sense in beginning: the run goes on, and there is time.
func (a *attempt) mayRun() {
	if err := a.course.place.find(a); err != nil {
		a.fail(agents.Errorf(agents.Harness, agents.FromHarness, "join the run: %w", err))
		return
	}
	if o := a.course.place.opened(); o != nil {
		a.refuseToRun(o)
		return
	}
	if _, _, err := agentDeadline(a.e.TB, a.e.limits.Duration); err != nil {
		a.notRun = true
		a.fail(&agents.Error{Kind: agents.Timeout, Source: agents.FromAuthor, Err: err})
	}
}

// fill fills the workspace. With that it is known what the result depends on.
func (a *attempt) fill(ctx context.Context) journal.Fingerprint {
	for _, f := range a.e.workspace {
		if err := f.fill(a.ws); err != nil {
			a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "%s: fill the workspace: %w", f.source, err))
			return journal.Fingerprint{}
		}
	}
	var err error
	if a.before, err = a.ws.Snapshot(ctx); err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromHarness, "look at the workspace: %w", err))
		return journal.Fingerprint{}
	}
	f, err := a.fingerprint(a.before)
	if err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "find what the trial depends on: %w", err))
	}
	return f
}

// setUp has the author's functions prepare the trial.
func (a *attempt) setUp(ctx context.Context) bool {
	a.wasSetUp = true
	if len(a.e.setups) == 0 {
		return true
	}
	for _, h := range a.e.setups {
		if err := h.call(ctx, "Setup", a.trial); err != nil {
			a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "%w", err))
			return false
		}
	}
	var err error
	if a.before, err = a.ws.Snapshot(ctx); err != nil {
		a.fail(agents.Errorf(agents.SetupError, agents.FromHarness, "look at the workspace: %w", err))
	}
	return err == nil
}

// begin writes the intent. A record that cannot be written ends the test before anything was paid for.
func (a *attempt) begin(f journal.Fingerprint) bool {
	e := a.e
	j, err := journal.Default()
	if err == nil {
		in := a.intent()
		in.Fingerprint = f
		a.record, err = j.Begin(in)
	}
	if err != nil {
		a.fail(agents.Errorf(agents.Harness, agents.FromHarness, "record the trial: %w", err))
		return false
	}
	begun.Add(1)
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
	a.recordLate = func(ev agents.Event) { _ = enc.Late(mask.event(ev)) }
	return true
}

func (a *attempt) intent() journal.Intent {
	e := a.e
	in := journal.Intent{
		ID: journal.TrialID{
			Package: e.pkg, Test: e.Name(), N: e.n, Trial: a.trial.Number, Attempt: a.trial.Attempt,
		},
		Started: a.started, Mode: e.mode, Gate: e.gate.String(), Limits: e.limits, Workspace: a.trial.Dir,
		Prompts: a.trial.Prompts, Source: e.source, Policy: a.policy(),
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

// policy is what holds for the trial.
func (a *attempt) policy() journal.Policy {
	e := a.e
	return journal.Policy{
		OnError: e.onError, Retries: e.retries, Idle: e.idle, MaxRequests: e.maxRequests, MaxAgents: e.maxAgents(), Keep: e.keep,
		Resumes: e.resume,
	}
}

// model is the one that answered, or else the one that is asked for.
func (a *attempt) model() string { return cmp.Or(a.answered, a.e.model, a.info.Model) }

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
		a.note("%v", err)
	}
	a.saveChanges(ctx)
}

func (a *attempt) tearDown(ctx context.Context) {
	if !a.wasSetUp { // there is nothing to undo
		return
	}
	for _, h := range slices.Backward(a.e.teardowns) {
		if err := h.call(context.WithoutCancel(ctx), "TearDown", a.trial); err != nil {
			a.torn = append(a.torn, err.Error())
		}
	}
	a.notes = append(a.notes, a.torn...)
}

// settle keeps or removes the workspace and writes the verdict.
func (a *attempt) settle() {
	t := a.trial
	t.Took = time.Since(a.started)
	t.Harness = t.Took - a.agent - a.graders - a.waited
	a.retryIn = a.planRetry()
	if a.ws != nil {
		a.keepWorkspace()
		a.notes = append(a.notes, a.ws.Notes()...)
	}
	for _, s := range a.streams {
		s.flush()
	}
	for _, ev := range a.late {
		a.recordLate(ev)
	}
	if a.record == nil {
		return
	}
	// For who looks at the folder alone; the journal has it all.
	if err := os.WriteFile(filepath.Join(a.record.Dir(), "report.txt"), []byte(a.e.clean(a.text(false))+"\n"), 0o666); err != nil {
		a.note("write the report: %v", err)
	}
	v := journal.Verdict{
		Outcome: t.Outcome, Score: t.Score, Smoke: t.Smoke, Stop: t.Stop, Limit: t.Limit, Shadow: a.shadow,
		Err: t.Err, Measured: a.isMeasured(), Complete: a.err == nil && !a.leftBehind, RetryIn: a.retryIn, Requests: a.requests, Reused: a.reused,
		Usage: t.Usage, Turns: t.Trajectory.Turns(), Calls: t.Trajectory.MainCalls().Dispatched(),
		Version: a.info.Version, Model: a.model(),
		Reply: t.Reply, Notes: a.notes, Kept: a.kept, Took: t.Took, Harness: t.Harness,
	}
	if err := a.record.Verdict(masked(a.e.masker(), v)); err != nil {
		a.e.TB.Error(a.e.clean(fmt.Sprintf("evaltest: ERROR: write the record: %v", err)))
	}
}

func (a *attempt) keepWorkspace() {
	if a.settled {
		_ = a.ws.Remove() // nothing was done in it
		return
	}
	keep := a.e.keep == "all" || a.e.keep == "failed" && a.trial.Outcome != OutcomePassed && !a.notRun
	if keep && a.record != nil {
		dest := filepath.Join(a.record.Dir(), "workspace")
		if err := a.ws.Keep(dest); err != nil {
			a.note("the workspace was left at %s: %v", a.ws.Dir(), err)
			return
		}
		a.kept = filepath.ToSlash(filepath.Join("trials", filepath.Base(a.record.Dir()), "workspace"))
		a.trial.Dir = dest
	}
	if err := a.ws.Remove(); err != nil {
		a.note("%v", err)
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

// stagedSkills are the skills in these folders, as the agent gets them.
func stagedSkills(dirs []string) (skills []fs.FS, err error) {
	for _, dir := range dirs {
		found, err := workspace.ListSkills(dir)
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			staged, err := workspace.StageSkill(path)
			if err != nil {
				return nil, err
			}
			skills = append(skills, staged)
		}
	}
	return skills, nil
}

// setupOf is what the eval asks of the agent.
func (a *attempt) setupOf() (agents.Setup, error) {
	e := a.e
	s := agents.Setup{
		Dir: a.ws.Dir(), Home: a.ws.Home(), Temp: a.ws.Temp(), Env: e.env, Model: e.model, System: e.system,
		MCP: e.mcp, Allow: e.allow, Deny: e.deny,
	}
	s.Record = &agents.Record{Raw: heard{a.masking(a.record.Raw()), a.watch}, Stderr: a.masking(a.record.Stderr())}
	var err error
	if s.Skills, err = stagedSkills(e.skills); err != nil {
		return s, err
	}
	if len(e.prevents()) > 0 {
		s.Permit = a.watch.permit
	}
	err = a.openGateway(&s)
	return s, err
}
