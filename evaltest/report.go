package evaltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// finished is an eval that has run: what is asserted on T from then on enters its record.
type finished struct{ record *journal.Trial }

// finish counts the trial and has later assertions enter its record.
func (e *T) finish(a *attempt) {
	e.mu.Lock()
	e.finished = &finished{a.record}
	e.mu.Unlock()
	if a.isMeasured() {
		measured.Add(1)
	}
}

// isMeasured reports whether the trial counts among the measured: it has a verdict, and no error had a part in it. Lost
// trials are decided sooner than won ones: counting those that an outage cut would bias the rate.
func (a *attempt) isMeasured() bool {
	if a.trial.Outcome != OutcomePassed && a.trial.Outcome != OutcomeFailed || a.trial.Err != nil {
		return false
	}
	for i, r := range a.results {
		if (r.Err != nil || r.Violation != "") && !a.watch.judged[i].advisory {
			return false
		}
	}
	return true
}

// recordFailure writes down an assertion on T that failed after the run.
func (e *T) recordFailure(text string) {
	e.mu.Lock()
	f := e.finished
	e.mu.Unlock()
	if f != nil && f.record != nil {
		_ = f.record.Failure(text)
	}
}

// report tells the test what the trial came to.
func (e *T) report(a *attempt) {
	e.Helper()
	e.attributes(a)
	t := a.trial
	text := e.clean(a.text(t.Outcome == OutcomePassed && len(a.faults()) == 0))
	switch t.Outcome {
	case OutcomePassed, OutcomeFailed:
		if faults := a.faults(); len(faults) > 0 {
			text = e.clean("evaltest: ERROR beside the verdict: "+strings.Join(faults, "; ")) + "\n" + text
			e.TB.Error(text)
		} else if t.Outcome == OutcomeFailed {
			e.TB.Error(text)
		} else {
			e.TB.Log(text)
		}
	case OutcomeUndecided:
		e.TB.Error(text)
	default:
		if e.onError == "skip" && !alwaysRed(t.Err) && len(a.faults()) == 0 {
			e.TB.Skip(text)
		}
		e.TB.Fatal(text)
	}
}

// alwaysRed reports whether an error is somebody's to mend: skipping it would hide it for good.
func alwaysRed(e *agents.Error) bool {
	return e.Source == agents.FromAuthor || e.Source == agents.FromHarness || e.Kind == agents.Contract
}

// faults names the errors that make a test red beside its verdict: authors' mistakes and broken contracts.
func (a *attempt) faults() []string {
	var out []string
	for _, r := range a.results {
		switch {
		case r.Violation != "":
			out = append(out, fmt.Sprintf("%s broke its contract", r.Name))
		case r.Err != nil && alwaysRed(r.Err):
			out = append(out, fmt.Sprintf("%s: %s (%s)", r.Name, r.Err.Kind, r.Err.Source))
		}
	}
	out = append(out, a.torn...)
	for _, s := range a.shadow {
		if s.Mode == "sound" && !s.Held && a.isMeasured() {
			out = append(out, "a sound stop would have changed the verdict: please report this as a bug of evaltest")
		}
	}
	return out
}

// attributes are what JUnit keeps of a test, a passing one too.
func (e *T) attributes(a *attempt) {
	t := a.trial
	set := func(key, value string) {
		if value != "" {
			e.Attr("evaltest."+key, value)
		}
	}
	outcome := string(t.Outcome)
	if t.Smoke {
		outcome = fmt.Sprintf("passed (armed; open: %s)", strings.Join(t.Stop.Open, ", "))
	}
	set("outcome", outcome)
	set("score", t.Score.String())
	set("mode", string(e.mode))
	if s := t.Stop; s != nil {
		set("stop", fmt.Sprintf("turn %d, call %d, %s: %s", s.Turn, s.ToolCall, s.Mode, s.Reason))
		set("saved_turns", fmt.Sprint(s.TurnsLeft))
	}
	var open []string
	for _, r := range a.results {
		if r.Open {
			open = append(open, r.Name)
		}
	}
	slices.Sort(open)
	set("open", strings.Join(open, ", "))
	set("limit", t.Limit)
	if t.Err != nil {
		set("error", fmt.Sprintf("%s (%s)", t.Err.Kind, t.Err.Source))
		set("error_message", t.Err.Message())
	}
	if n := t.Attempt; n > 1 {
		set("attempts", fmt.Sprint(n))
	}
	if r := a.reused; r != nil {
		set("reused", r.Run+"/"+r.Folder)
	}
	set("agent", a.info.Name)
	set("agent_version", a.info.Version)
	set("model", a.model())
	spent := t.Usage
	if a.reused == nil {
		spent = a.course.spent() // of all attempts
	}
	set("tokens", fmt.Sprint(spent.Tokens()))
	cost := spent.Cost
	if e.scripted {
		cost = 0 // what the agent thinks that the script cost
	}
	set("cost", fmt.Sprintf("%.6f", cost))
	set("record", t.Record)
}
