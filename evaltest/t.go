package evaltest

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/internal/workspace"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// T is an eval within a test: it takes what is asked of the agent, runs it once, and reports to the test that it embeds.
// What it logs is kept free of control characters, which could forge events of the test log.
type T struct {
	testing.TB

	settings
	info      agents.Info
	route     route
	workspace []filling
	specs     []*spec
	source    string // file:line of New
	pkg       string // import path of the test's package
	n         int    // the n-th eval of this name
	ran       bool

	masking sync.Once
	masks   *masker // of masker()

	mu       sync.Mutex
	grading  *judged // the criterion being graded: what is reported on T meanwhile is its author's mistake
	misused  string  // what it reported
	finished *finished
}

// filler fills a workspace.
type filler interface {
	CopyFS(fs.FS) error
	CopyDir(string) error
}

// filling is something that a workspace is filled with.
type filling struct {
	fill   func(filler) error
	source string // file:line of the author
}

// New makes an eval of the running test, subtest, benchmark or fuzz test. A mistake in the options ends the test at the
// caller's line. An eval that is not meant to run here, because its agent costs money and nobody asked for it or because
// it makes no sense for the agent, skips the test.
func New(tb testing.TB, opts ...Option) *T {
	tb.Helper()
	e := &T{TB: tb, settings: packageSettings(), source: callerLine()}
	e.pkg = packageOf(2)
	uncached()
	for _, o := range opts {
		if o == nil {
			e.misuse("New: an option is nil")
		}
		if err := o.option(&e.settings); err != nil {
			e.misuse("New: %v", err)
		}
	}
	if err := e.settings.environment(); err != nil {
		e.misuse("%v", err)
	}
	e.info = e.settings.agent.Info()
	e.n = occurrence(tb.Name())
	e.choose()
	e.chooseRoute()
	for _, dir := range e.skills {
		if _, err := workspace.ListSkills(dir); err != nil {
			e.misuse("Skills: %v", err)
		}
	}
	tb.Cleanup(e.forgotten)
	if e.failOnLimit {
		e.add(&spec{criterion: noLimit{}}, "FailOnLimit")
	}
	return e
}

// forgotten reports an eval that was made and never run: a green test that asked nothing.
func (e *T) forgotten() {
	if !e.ran && !e.TB.Failed() && !e.TB.Skipped() && !unwinding() {
		e.TB.Error(e.clean("evaltest: MISUSE: the eval made at " + e.source + " was never run: call Run"))
	}
}

// unwinding reports whether the goroutine panics, or exits before its function has returned. The cleanups of a test run then, too,
// before it is marked as failed: that it never came to something is no news.
func unwinding() bool {
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" || f.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}

// choose decides whether the eval runs here, and with what in the model's place.
func (e *T) choose() {
	e.Helper()
	if e.embedded && !e.hasScript {
		if os.Getenv(envAgent) != "" {
			asked.Add(1)
		}
		e.skip("the embedded agent has nothing to do: the eval has no Script; name another agent with %s or Agent", envAgent)
	}
	if len(e.only) > 0 && !slices.Contains(e.only, e.info.Name) {
		e.skip("not applicable to agent %s: only to %s", e.info.Name, strings.Join(e.only, ", "))
	}
	for _, r := range e.requires {
		if !r.ok(e.info) {
			e.skip("not applicable to agent %s: it requires %s", e.info.Name, r.reason)
		}
	}
	if _, provided := e.agent.(agents.Provided); !provided && !e.info.Live && e.info.Wire != "" && e.hasScript && !e.noGateway {
		e.scripted = true // it has a model and costs nothing, and does not say where that is: here it is
	}
	switch {
	case e.scripted && e.info.Wire == "":
		e.scripted = false // nothing to script: the agent has no model, or none that can be played
		if e.info.Live {
			e.misuse("%s=script: agent %s cannot be given a scripted model", envGateway, e.info.Name)
		}
	case e.scripted && !e.hasScript:
		asked.Add(1)
		e.skip("%s=script: the eval has no Script for the model to play", envGateway)
	}
	if e.info.Live && !e.scripted && !e.live {
		e.skip("agent %s costs money: run it with %s=1, or name it with %s=%s", e.info.Name, envLive, envAgent, e.info.Name)
	}
	if e.limits.Cost > 0 && e.prices == nil && !e.info.Costs && e.info.Name != embedded {
		e.misuse("MaxCost: agent %s does not say what it costs; add Prices{Input: …, Output: …, Cached: …}", e.info.Name)
	}
}

// Workspace fills the agent's folder with the files of fsys, for each trial anew. It adds to what was given before.
func (e *T) Workspace(fsys fs.FS) {
	e.Helper()
	e.open("Workspace")
	if fsys == nil {
		e.misuse("Workspace(nil): give a file system, such as os.DirFS(\"testdata/starter\")")
	}
	if _, err := fs.Stat(fsys, "."); err != nil {
		e.misuse("Workspace%s: %v", rootOf(fsys), err)
	}
	e.workspace = append(e.workspace, filling{func(w filler) error { return w.CopyFS(fsys) }, callerLine()})
}

// rootOf names the folder of an os.DirFS, "" of other file systems.
func rootOf(fsys fs.FS) string {
	if v := reflect.ValueOf(fsys); v.Kind() == reflect.String {
		return fmt.Sprintf(" of %s", v.String())
	}
	return ""
}

// WorkspaceDir is as Workspace for a folder on disk, and keeps modes and symbolic links.
func (e *T) WorkspaceDir(path string) {
	e.Helper()
	e.open("WorkspaceDir")
	if info, err := os.Stat(path); err != nil {
		e.misuse("WorkspaceDir: %v", err)
	} else if !info.IsDir() {
		e.misuse("WorkspaceDir: %s is no folder", path)
	}
	e.workspace = append(e.workspace, filling{func(w filler) error { return w.CopyDir(path) }, callerLine()})
}

// Expect adds a criterion, which is graded when the trial is over.
func (e *T) Expect(c Criterion, opts ...ExpectOption) {
	e.Helper()
	e.open("Expect")
	s := &spec{criterion: c, source: callerLine()}
	for _, o := range opts {
		o.expect(s)
	}
	e.add(s, "Expect")
}

// StopWhen adds a criterion that may stop the trial: it is armed for Pass, for Fail, or for both, or for Decided, which
// is whatever it can reach. When a stop falls is a matter of the mode; see the package documentation. A criterion that
// can be judged only when the trial is over does not compile here.
func (e *T) StopWhen(when Polarity, c LiveCriterion, opts ...ArmOption) {
	e.Helper()
	e.open("StopWhen")
	s := &spec{criterion: c, armed: when, source: callerLine()}
	for _, o := range opts {
		o.arm(s)
	}
	e.add(s, "StopWhen")
}

// add checks a criterion and takes it in.
func (e *T) add(s *spec, method string) {
	e.Helper()
	if isNil(s.criterion) {
		e.misuse("%s: the criterion is nil", method)
	}
	if m, ok := s.criterion.(Misuse); ok {
		if err := m.Misuse(); err != nil {
			e.misuse("%s: %v", method, err)
		}
	}
	if s.advisory && s.required {
		e.misuse("%s: a criterion cannot be Advisory and Required", method)
	}
	if len(s.errs) > 0 {
		e.misuse("%s: %s", method, plain(s.errs[0]))
	}
	s.name = printable.Line(e.mask(s.criterion.String()))
	s.live, _ = s.criterion.(LiveCriterion)
	if s.required && e.gate.MinScore == nil {
		s.required = false // every criterion is
	}
	if s.live != nil {
		if reach := s.live.StopPolarities(); reach&^(Pass|Fail) != 0 {
			e.misuse("%s: StopPolarities of %s is %#x: use Pass, Fail, Pass|Fail, or 0", method, s.name, uint8(reach))
		}
	}
	if method == "StopWhen" {
		e.checkArmed(s)
	}
	if s.prevent {
		e.checkPrevent(s)
	}
	e.specs = append(e.specs, s)
}

// checkArmed reports a criterion that is armed for what it cannot reach, or on an agent that hides what it judges.
func (e *T) checkArmed(s *spec) {
	e.Helper()
	reach := s.live.StopPolarities()
	switch {
	case s.armed == Decided && reach == 0:
		e.misuse("StopWhen(Decided, …): %s can decide nothing before the end; use Expect", s.name)
	case s.armed == Decided:
	case s.armed == 0 || s.armed&^(Pass|Fail) != 0:
		e.misuse("StopWhen: the polarity is %#x: use Pass, Fail, Pass|Fail or Decided", uint8(s.armed))
	case !reach.Has(s.armed):
		e.misuse("StopWhen(%v, …): %s can reach %v; arm it for that, or use Expect", s.armed, s.name, reach)
	}
	r, ok := s.live.(Restricted)
	if !ok {
		return
	}
	for _, k := range r.Needs() {
		if !e.info.CanShow(k) {
			e.misuse("StopWhen: agent %s does not show calls of kind %s, which %s judges; use Only or Requires, or Expect", e.info.Name, k, s.name)
		}
	}
	mustNot := reach.Has(Fail) && s.armed != Pass
	if mustNot && len(r.Needs()) > 0 && e.info.HidesSubagents {
		e.misuse("StopWhen: agent %s hides what its sub-agents do, so that %s could be broken unseen; deny it sub-agents with DenyTools and say so with Only, or use Expect", e.info.Name, s.name)
	}
}

// checkPrevent reports a Prevent that the agent's permission gate cannot keep.
func (e *T) checkPrevent(s *spec) {
	e.Helper()
	if s.armed != Fail && !(s.armed == Decided && s.live.StopPolarities() == Fail) {
		e.misuse("Prevent: it is for StopWhen(Fail, …): there is nothing to prevent in a criterion that is armed for %v", s.armed)
	}
	if len(e.info.Gates) == 0 {
		e.misuse("Prevent: agent %s has no permission gate", e.info.Name)
	}
	if r, ok := s.live.(Restricted); ok {
		for _, k := range r.Needs() {
			if !e.info.CanGate(k) {
				e.misuse("Prevent: the permission gate of agent %s does not cover calls of kind %s, which %s judges", e.info.Name, k, s.name)
			}
		}
	}
}

// open reports a call that comes after Run.
func (e *T) open(method string) {
	e.Helper()
	if e.ran {
		e.misuse("%s after Run: say all that is asked of the agent before it runs", method)
	}
}

// check holds the eval as a whole, when it is about to run.
func (e *T) check(prompts []string) {
	e.Helper()
	if e.ran {
		e.misuse("a second Run: make a second eval with New; more user turns are more arguments of one Run")
	}
	if len(prompts) == 0 {
		e.misuse("Run: give at least one prompt")
	}
	gating, armed := 0, 0
	for _, s := range e.specs {
		if !s.advisory {
			gating++
		}
		if s.armed != 0 {
			armed++
		}
	}
	if gating == 0 {
		e.misuse("Run: the eval asks for nothing: add criteria with Expect or StopWhen that are not Advisory")
	}
	if e.smoke && armed == 0 {
		e.misuse("Smoke: nothing is armed, so nothing could end the smoke check; arm a criterion with StopWhen")
	}
	e.mode = e.modeOf(armed > 0)
	e.ran = true
}

// modeOf is the mode in force: what the environment says, then the eval, then the default.
func (e *T) modeOf(armed bool) verdict.Mode {
	switch {
	case e.modeForced && e.mode == verdict.Armed && !armed:
		return verdict.Off // there is nothing to stop for
	case e.modeForced:
		return e.mode
	case e.smoke:
		return verdict.Armed
	case armed:
		return verdict.Sound
	}
	return verdict.Off
}

// noLimit is the criterion of FailOnLimit.
type noLimit struct{}

func (noLimit) String() string { return "no limit is reached" }

// isNil reports whether a criterion is nil, or a nil pointer.
func isNil(c Criterion) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// callerLine is file:line of who called the function that calls this one.
func callerLine() string {
	if _, file, line, ok := runtime.Caller(2); ok {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return ""
}

// names counts evals by the name of their test, in this process.
var names = struct {
	sync.Mutex
	n map[string]int
}{n: map[string]int{}}

func occurrence(name string) int {
	names.Lock()
	defer names.Unlock()
	names.n[name]++
	return names.n[name]
}
