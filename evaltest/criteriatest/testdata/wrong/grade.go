package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Criteria whose Grade is not of the trajectory, gives no score, or makes one of an error. Some are not live.

var grades = []Case{
	{Name: "Grade reads the workspace", New: live(readsWorkspace{}), Rules: "trajectory"},
	{Name: "Grade reads the reply", New: live(readsReply{}), Rules: "trajectory"},
	{Name: "Grade reads the trial's usage", New: live(readsUsage{5000}), Rules: "trajectory"},
	{Name: "a score beyond 1", New: live(tooGood{}), Rules: "trajectory sound", Steps: acts(tests, tests)},
	{Name: "a mean of nothing", New: func() evaltest.Criterion { return meanOfNothing{} }},
	{Name: "a judge's outage turned into a zero", New: func() evaltest.Criterion { return judged{nobody} }},
	{Name: "a judge's outage turned into a pass", New: func() evaltest.Criterion { return lenientJudge{nobody} }},
	{Name: "a judge's broken answer turned into a zero", New: func() evaltest.Criterion { return parsed{nobody} }},
	{Name: "a time-out turned into a zero", New: func() evaltest.Criterion { return timedOut{nobody} }},
	{Name: "the error of reading a golden file dropped", New: func() evaltest.Criterion { return golden{} }},
	{Name: "a program that is not installed turned into a zero", New: func() evaltest.Criterion { return notInstalled{} }},
	{Name: "a panic turned into a zero", New: func() evaltest.Criterion { return recovers{} }},
	{Name: "FailNow in Grade", New: func() evaltest.Criterion { return failsNow{new(testing.T)} }},
}

const nobody = "http://127.0.0.1:1/judge" // answers there

// readsWorkspace looks at a file that the agent should have written.
type readsWorkspace struct{ tested }

func (c readsWorkspace) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "report.xml")); err != nil {
		return c.tested.Grade(ctx, trial)
	}
	return evaltest.PassIf(true), nil
}

// readsReply looks at the reply of the trial, which another prompt replaces.
type readsReply struct{ tested }

func (c readsReply) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if strings.Contains(trial.Reply, "go test") {
		return evaltest.PassIf(true), nil
	}
	return c.tested.Grade(ctx, trial)
}

// readsUsage looks at the usage of the trial instead of that of the trajectory.
type readsUsage struct{ max int64 }

func (c readsUsage) String() string                  { return fmt.Sprintf("at most %d tokens", c.max) }
func (readsUsage) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (c readsUsage) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(tr.Usage().Tokens() > c.max)
}
func (c readsUsage) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(trial.Usage.Tokens() <= c.max), nil
}

// tooGood gives more than everything.
type tooGood struct{ tested }

func (tooGood) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	t := test.Tally(trial.Trajectory)
	if t.Open() > 0 {
		return evaltest.Score{}, evaltest.ErrOpen
	}
	return evaltest.Ratio(t.Ran(), 1), nil
}

// meanOfNothing divides by the number of files that the agent wrote.
type meanOfNothing struct{}

func (meanOfNothing) String() string { return "files are short" }
func (meanOfNothing) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	short, all := 0.0, 0.0
	for _, c := range trial.Changes {
		if all++; len(c.Path) < 80 {
			short++
		}
	}
	return evaltest.Points(math.Min(short/all, 1)), nil
}

// judged takes an outage of its judge for a bad mark.
type judged struct{ url string }

func (judged) String() string { return "a judge likes it" }
func (c judged) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	resp, err := http.PostForm(c.url, url.Values{"text": {trial.Reply}})
	if err != nil {
		return evaltest.Score{}, nil
	}
	defer resp.Body.Close()
	return evaltest.PassIf(resp.StatusCode == http.StatusOK), nil
}

// lenientJudge gives the agent the benefit of the doubt.
type lenientJudge struct{ url string }

func (lenientJudge) String() string { return "a judge does not mind" }
func (c lenientJudge) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	resp, err := http.PostForm(c.url, url.Values{"text": {trial.Reply}})
	if err != nil {
		return evaltest.PassIf(true), nil
	}
	defer resp.Body.Close()
	return evaltest.PassIf(resp.StatusCode != http.StatusTeapot), nil
}

// parsed takes an answer of its judge that it cannot read for a bad mark.
type parsed struct{ url string }

func (parsed) String() string { return "a judge likes most of it" }
func (c parsed) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	resp, err := http.PostForm(c.url, url.Values{"text": {trial.Reply}})
	if err != nil {
		return evaltest.Score{}, err
	}
	defer resp.Body.Close()
	var mark struct{ Points, Of int }
	if err := json.NewDecoder(resp.Body).Decode(&mark); err != nil {
		return evaltest.PassIf(false).Because("the judge's answer: %v", err), nil
	}
	return evaltest.Ratio(mark.Points, mark.Of), nil
}

// timedOut takes the end of its own time for a failure of the agent.
type timedOut struct{ url string }

func (timedOut) String() string { return "a judge likes it at once" }
func (c timedOut) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(trial.Reply))
	if err != nil {
		return evaltest.Score{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if ctx.Err() != nil {
		return evaltest.PassIf(false).Because("too slow: %v", ctx.Err()), nil
	}
	if err != nil {
		return evaltest.Score{}, err
	}
	defer resp.Body.Close()
	return evaltest.PassIf(resp.StatusCode == http.StatusOK), nil
}

// golden compares with a file of the author's, which may not be there.
type golden struct{}

func (golden) String() string { return "the reply is as expected" }
func (golden) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	want, _ := os.ReadFile(filepath.Join("testdata", "reply.golden"))
	return evaltest.PassIf(trial.Reply == string(want)), nil
}

// notInstalled takes a program that is missing on its author's machine for one that finds fault.
type notInstalled struct{}

func (notInstalled) String() string { return "the report has the right form" }
func (notInstalled) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	cmd := exec.CommandContext(ctx, "xmllint-of-the-authors-machine", "--noout", "report.xml")
	cmd.Dir = trial.Dir
	return evaltest.PassIf(cmd.Run() == nil), nil
}

// recovers takes its own panics for bad marks.
type recovers struct{}

func (recovers) String() string { return "the second word is right" }
func (recovers) Grade(_ context.Context, trial *evaltest.Trial) (s evaltest.Score, err error) {
	defer func() {
		if recover() != nil {
			s, err = evaltest.PassIf(false), nil
		}
	}()
	return evaltest.PassIf(strings.Fields(trial.Reply)[1] == "right"), nil
}

// failsNow is written as a test.
type failsNow struct{ t *testing.T }

func (failsNow) String() string { return "there is a report" }
func (c failsNow) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "report.csv")); err != nil {
		c.t.FailNow()
	}
	return evaltest.PassIf(true), nil
}
