package report_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// bigRun writes a run of n trials with five criteria each, as their processes would have: of twenty, one is errored in the end,
// one was not begun, and one was healed.
func bigRun(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	f, err := os.Create(filepath.Join(dir, "journal-evals-1-aaaaaaaa.jsonl"))
	require.NoError(tb, err)
	w := bufio.NewWriterSize(f, 1<<20)
	seq := 0
	put := func(kind, trial string, data any) {
		seq++
		line, err := json.Marshal(struct {
			V     int       `json:"v"`
			Type  string    `json:"type"`
			Time  time.Time `json:"time"`
			Seq   int       `json:"seq"`
			Trial string    `json:"trial,omitempty"`
			Data  any       `json:"data"`
		}{journal.Version, kind, begin, seq, trial, data})
		require.NoError(tb, err)
		_, err = w.Write(append(line, '\n'))
		require.NoError(tb, err)
	}
	put("run", "", journal.Process{Run: "1", Package: pkg, Root: dir, PID: 1, Started: begin})
	in := journal.Intent{
		Prompts: []string{"Extract the tables from report.pdf into out.csv."}, Mode: verdict.Sound, Gate: "every criterion passes",
		Agent:  journal.Agent{Name: "claude", Version: "2.1.332", Model: "sonnet", Upstream: "api.example.com"},
		Limits: journal.Limits{Turns: 30}, Policy: journal.Policy{OnError: "fail", Retries: 2, Idle: time.Minute}, Source: "/shop/evals/pdf_test.go:12",
		Fingerprint: journal.Fingerprint{Run: map[string]string{}, Grade: map[string]string{"binary": "0123456789abcdef01234567"}},
	}
	for _, part := range []string{"agent", "env", "limits", "mode", "model", "prompts", "skills", "system", "tools", "workspace"} {
		in.Fingerprint.Run[part] = "0123456789abcdef01234567"
	}
	for c := range 5 {
		in.Criteria = append(in.Criteria, journal.CriterionSpec{Name: fmt.Sprintf(`file contains "total" (out%d.csv)`, c), Source: "/shop/evals/pdf_test.go:14"})
	}
	one := func(i, attempt int, v *journal.Verdict) {
		in.ID = journal.TrialID{Package: pkg, Test: fmt.Sprintf("TestPDF/%d", i/10), N: 1, Trial: i%10 + 1, Attempt: attempt}
		in.Started, in.Folder = begin.Add(time.Duration(seq)*time.Millisecond), fmt.Sprintf("trials/TestPDF-%08d-%d", i, attempt)
		put("intent", in.Folder, in)
		v.ID, v.Ended, v.Took, v.Version, v.Model, v.Reply = in.ID, in.Started.Add(time.Second), time.Second, "2.1.332", "sonnet", "The tables are in out.csv."
		v.Usage = agents.Usage{InputTokens: 105, OutputTokens: 33, Cost: 0.01}
		v.Requests = &journal.Requests{N: 4, Usage: v.Usage, Models: []journal.AnsweredModel{{Asked: "sonnet", Answered: "claude-sonnet-4-5", N: 4}}}
		for c := range in.Criteria {
			if v.Err == nil {
				put("criterion", in.Folder, journal.CriterionResult{
					Name: in.Criteria[c].Name, Score: verdict.Exactly(verdict.Ratio(1, c+1).Because("out.csv:1")), Verdict: verdict.Passed, Took: time.Millisecond,
				})
			}
		}
		put("verdict", in.Folder, v)
	}
	for i := range n {
		switch i % 20 {
		case 0:
			one(i, 1, errored(rateLimit)())
		case 1:
			one(i, 1, notRun(rateLimit)())
		case 2:
			one(i, 1, retried(errored(overloaded)(), time.Second))
			one(i, 2, passed())
		default:
			one(i, 1, passed())
		}
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, f.Close())
	return dir
}

// BenchmarkSummary10000Trials reads a run of ten thousand trials, sums it up and writes its manifest. It reports what of the
// time and the memory is not the reading's, too.
func BenchmarkSummary10000Trials(b *testing.B) {
	dir := bigRun(b, 10_000)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var reading time.Duration
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		run, err := journal.Read(dir)
		require.NoError(b, err)
		reading += time.Since(began)
		s := report.Summarize(run)
		require.Equal(b, report.Rate{Passed: 9000, Errored: 500, NotRun: 500}, s.Full)
		require.NotEmpty(b, s.Text())
		m := report.NewManifest(run)
		require.Len(b, m.Unmeasured, 1000)
		_, err = json.MarshalIndent(m, "", "\t")
		require.NoError(b, err)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(reading.Seconds()/float64(b.N), "s-reading/op")
	b.ReportMetric(float64(after.HeapSys-before.HeapSys+before.HeapAlloc)/(1<<20), "MB-heap")
}
