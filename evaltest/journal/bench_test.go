package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// BenchmarkTrial is what a trial with five criteria pays for its record: seven synced records and a synced transcript.
func BenchmarkTrial(b *testing.B) {
	j := openAt(b, b.TempDir())
	for b.Loop() {
		wholeTrial(b, j, "TestBench", 5)
	}
}

// BenchmarkVerdicts is how many verdicts a second come to lie on the disk, by how many trials end at the same time: they
// share its syncs.
func BenchmarkVerdicts(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			j := openAt(b, b.TempDir())
			j.log.file = noSync{j.log.file}
			synced := j.log.file.(noSync).storage
			trials := make(chan *Trial, b.N)
			for range b.N {
				trials <- begin(b, j, "TestBench")
			}
			close(trials)
			j.log.file = synced
			b.ResetTimer()
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for t := range trials {
						if err := t.Verdict(Verdict{Outcome: verdict.OutcomePassed, Score: verdict.Exactly(verdict.Points(1))}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "verdicts/s")
		})
	}
}

// BenchmarkGrading is what noting that a criterion is about to be graded costs.
func BenchmarkGrading(b *testing.B) {
	t := begin(b, openAt(b, b.TempDir()), "TestBench")
	for b.Loop() {
		require.NoError(b, t.Grading("file contains \"total\" (out.csv)"))
	}
}

// bigRun writes a run of n trials with five criteria each, as evals write them, and answers its directory.
func bigRun(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	f, err := os.Create(filepath.Join(dir, "journal-evals-1-aaaaaaaa.jsonl"))
	require.NoError(tb, err)
	l := &log{file: noSync{syncedFile{f}}}
	put := func(kind, trial string, data any) { require.NoError(tb, l.append(kind, trial, data)) }
	put(typeRun, "", Process{Run: "1", Package: "example.com/evals", Root: dir, PID: 1, Started: time.Now()})
	in := Intent{
		Prompts: []string{"Extract the tables from report.pdf into out.csv."}, Agent: Agent{Name: "claude", Version: "2.1.332", Model: "sonnet"},
		Mode: verdict.Sound, Gate: "every criterion passes", Limits: Limits{Turns: 30}, Source: "/home/dev/shop/evals/pdf_test.go:12",
		Policy: Policy{OnError: "fail", Retries: 2, Idle: time.Minute, MaxRequests: 1000, MaxAgents: 2, Keep: "failed"},
		PID:    1, Fingerprint: Fingerprint{Run: map[string]string{}, Grade: map[string]string{}},
	}
	for i := range 14 {
		in.Fingerprint.Run[fmt.Sprintf("part%d", i)] = fmt.Sprintf("%024x", i)
	}
	for i := range 3 {
		in.Fingerprint.Grade[fmt.Sprintf("part%d", i)] = fmt.Sprintf("%024x", i)
	}
	for c := range 5 {
		in.Criteria = append(in.Criteria, CriterionSpec{Name: fmt.Sprintf("file contains \"total\" (out%d.csv)", c), Weight: "2", Source: "/home/dev/shop/evals/pdf_test.go:14"})
	}
	for i := range n {
		in.ID = TrialID{Package: "example.com/evals", Test: fmt.Sprintf("TestPDF/%d", i/10), N: 1, Trial: i%10 + 1, Attempt: 1}
		in.Started, in.Folder = time.Now(), fmt.Sprintf("trials/TestPDF-%08d", i)
		in.Workspace = fmt.Sprintf("/tmp/evaltest-1-%d/work", i)
		in.Fingerprint.Run["workspace"] = fmt.Sprintf("%024x", 1<<40+i)
		put(typeIntent, in.Folder, in)
		for c := range 5 {
			put(typeGrading, in.Folder, grading{in.Criteria[c].Name})
			put(typeCriterion, in.Folder, CriterionResult{
				Name: in.Criteria[c].Name, Score: verdict.Exactly(verdict.Ratio(1, c+1).Because("out.csv:1")), Verdict: verdict.Passed, Took: time.Millisecond,
			})
		}
		put(typeVerdict, in.Folder, Verdict{
			ID: in.ID, Ended: time.Now(), Outcome: verdict.OutcomePassed, Score: verdict.Exactly(verdict.Points(1)), Measured: true, Complete: true,
			Version: "2.1.332", Model: "sonnet", Usage: agents.Usage{InputTokens: 105, OutputTokens: 33}, Turns: 4, Calls: 3,
			Reply: "The tables are in out.csv.", Took: time.Second, Harness: time.Millisecond,
		})
	}
	require.NoError(tb, f.Close())
	return dir
}

// heap is how much memory is in use, in MB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

func BenchmarkRead10000Trials(b *testing.B) {
	dir := bigRun(b, 10_000)
	before := heap()
	var run *Run
	for b.Loop() {
		var err error
		run, err = Read(dir)
		require.NoError(b, err)
		require.Len(b, run.Final(), 10_000)
	}
	b.ReportMetric(heap()-before, "MB-held")
	require.Equal(b, verdict.OutcomePassed, run.Trials[9999].Outcome())
}

// BenchmarkResume10000Trials is what a process pays once for resuming a run; BenchmarkFind what a trial pays.
func BenchmarkResume10000Trials(b *testing.B) {
	dir := bigRun(b, 10_000)
	j := openAt(b, b.TempDir())
	before := heap()
	var base *Base
	for b.Loop() {
		var err error
		base, err = j.Resume(dir)
		require.NoError(b, err)
	}
	b.ReportMetric(heap()-before, "MB-held")
	require.Len(b, base.Find(TrialID{Package: "example.com/evals", Test: "TestPDF/999", N: 1, Trial: 10}), 1)
}

func BenchmarkFind(b *testing.B) {
	j := openAt(b, b.TempDir())
	base, err := j.Resume(bigRun(b, 1000))
	require.NoError(b, err)
	for b.Loop() {
		require.Len(b, base.Find(TrialID{Package: "example.com/evals", Test: "TestPDF/50", N: 1, Trial: 3}), 1)
	}
}

// noSync is a file of which nothing need survive the machine.
type noSync struct{ storage }

func (noSync) Sync() error { return nil }
