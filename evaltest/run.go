package evaltest

import (
	"os"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents/proc"
)

// Run runs the agent, each prompt a user turn, and reports what came of it: a failed eval fails the test and returns, so
// that more can be looked at; an error ends the test, worded as an error, or skips it where OnError says so. An attempt that
// ends in an error which may pass is made again, in a fresh workspace: see Retries.
func (e *T) Run(prompts ...string) *Result {
	e.Helper()
	e.check(prompts)
	sweep()
	asked.Add(1)
	tellLeftOpen()
	c := &course{e: e, prompts: slices.Clone(prompts)}
	underWay.Add(1)
	c.run()
	underWay.Add(-1)
	a := c.last()
	e.finish(a)
	publishSometimes()
	t := a.trial
	result := &Result{
		Outcome: t.Outcome, Score: t.Score, Stop: t.Stop, Limit: t.Limit, Usage: c.spent(), Reply: t.Reply,
		Trials: []Trial{*t},
	}
	e.report(a)
	return result
}

// reproduce is the command that runs this eval again.
func (e *T) reproduce() string {
	cmd := ""
	settings := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !strings.HasPrefix(name, "EVALTEST_") || name == proc.Marker || name == envKeep || name == envUpstreamAuth || name == envOnError || name == "EVALTEST_DIR"
	})
	slices.Sort(settings)
	for _, kv := range settings {
		name, value, _ := strings.Cut(kv, "=")
		cmd += name + "=" + quoteShell(e.mask(value)) + " "
	}
	return cmd + "go test -count=1 -run " + quoteShell(runPattern(e.Name())) + " " + quoteShell(e.pkg)
}
