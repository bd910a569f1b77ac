package journal

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	in := Intent{
		ID: TrialID{"example.com/evals", "TestPDF/scanned", 2, 3, 2}, Prompts: []string{"one", "two <&>"},
		Agent: Agent{Name: "claude", Version: "2.1", Model: "m", Upstream: "script"}, Gate: "every criterion passes",
		Criteria: []CriterionSpec{{Name: "c1", Weight: "1/3", Armed: "Pass|Fail"}}, Limits: Limits{Turns: 3, Duration: time.Minute},
		Workspace: "/tmp/evaltest-1/work",
	}
	tr, err := j.Begin(in)
	require.NoError(t, err)
	assert.DirExists(t, tr.Dir())
	fmt.Fprint(tr.Raw(), "raw\xff\x00")
	fmt.Fprint(tr.Stderr(), "stderr")
	fmt.Fprint(tr.TranscriptFile(), "transcript\n")
	criterion := CriterionResult{
		Name: "c1", Score: verdict.Interval{Lo: verdict.Ratio(1, 3).Because("a third"), Hi: verdict.Points(1)}, Open: true,
		Err: agents.Errorf(agents.Judge, agents.FromGrader, "no answer"), Took: time.Second, DecidedAt: 7,
	}
	require.NoError(t, tr.Criterion(criterion))
	changes := []Change{{Path: "a/b.txt", Kind: Created}}
	require.NoError(t, tr.Changes(changes))
	want := Verdict{
		Outcome: verdict.OutcomePassed, Score: verdict.Unknown, Smoke: true,
		Stop:  &Stop{Reason: "known", Criterion: "c1", Verdict: verdict.Passed, Open: []string{"c2"}},
		Notes: []string{"a note"}, Reply: "done", Took: time.Second,
	}
	require.NoError(t, tr.Verdict(want))

	run, err := Read(dir)
	require.NoError(t, err)
	require.Empty(t, run.Problems)
	require.Len(t, run.Trials, 1)
	got := run.Trials[0]
	opts := []cmp.Option{
		cmpopts.EquateApproxTime(0), cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b verdict.Score) bool { return a.Cmp(b) == 0 && a.Reason == b.Reason }),
		cmp.Comparer(func(a, b *agents.Error) bool { return a == b || a != nil && b != nil && a.Error() == b.Error() }),
	}
	if d := cmp.Diff(tr.Intent(), got.Intent, opts...); d != "" {
		t.Errorf("intent: -want +got\n%s", d)
	}
	assert.Equal(t, os.Getpid(), got.Intent.PID)
	assert.True(t, strings.HasPrefix(got.Intent.Folder, "trials/TestPDF-scanned-n2-t3-a2-"), got.Intent.Folder)
	assert.Equal(t, tr.Dir(), got.Dir)
	if d := cmp.Diff([]CriterionResult{criterion}, got.Criteria, opts...); d != "" {
		t.Errorf("criteria: -want +got\n%s", d)
	}
	want.ID, want.Ended = in.ID, got.Verdict.Ended
	assert.False(t, want.Ended.IsZero())
	if d := cmp.Diff(&want, got.Verdict, opts...); d != "" {
		t.Errorf("verdict: -want +got\n%s", d)
	}
	read, err := got.Changes()
	require.NoError(t, err)
	assert.Equal(t, changes, read)
	for name, content := range map[string]string{"raw.log": "raw\xff\x00", "stderr.log": "stderr", "transcript.jsonl": "transcript\n"} {
		data, err := os.ReadFile(filepath.Join(got.Dir, name))
		require.NoError(t, err)
		assert.Equal(t, content, string(data))
	}
}

func TestWhatWasReportedStands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	tr := wholeTrial(t, j, "TestOnce", 1)
	assert.ErrorIs(t, tr.Verdict(Verdict{Outcome: verdict.OutcomeFailed}), errOver)
	assert.ErrorIs(t, tr.Criterion(result(2)), errOver)
	fmt.Fprint(tr.Raw(), "late")
	assert.NoFileExists(t, filepath.Join(tr.Dir(), "raw.log"))
	run, err := Read(dir)
	require.NoError(t, err)
	assert.Equal(t, verdict.OutcomePassed, run.Trials[0].Outcome())
	assert.Len(t, run.Trials[0].Criteria, 1)
}

// countSyncs counts the syncs of a journal.
type countSyncs struct {
	storage
	n atomic.Int64
}

func (c *countSyncs) Sync() error {
	c.n.Add(1)
	return c.storage.Sync()
}

func TestWhatIsBeingGraded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	tr := begin(t, j, "TestGrading")
	grading := func() string {
		run, err := Read(dir)
		require.NoError(t, err)
		require.Empty(t, run.Problems)
		return run.Trials[0].Grading
	}
	syncs := &countSyncs{storage: j.log.file}
	j.log.file = syncs
	assert.Empty(t, grading())
	require.NoError(t, tr.Grading("c1"))
	assert.Zero(t, syncs.n.Load(), "it costs no wait for the disk")
	assert.Equal(t, "c1", grading(), "and is found all the same")
	require.NoError(t, tr.Criterion(result(1)))
	assert.Empty(t, grading())
	require.NoError(t, tr.Grading("c2"))
	run, err := Read(dir)
	require.NoError(t, err)
	assert.EqualError(t, run.Trials[0].Err(), "interrupted (harness): the test process ended before the verdict, while grading c2")
	require.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomeErrored}))
	assert.Empty(t, grading())
	assert.ErrorIs(t, tr.Grading("late"), errOver)
	require.NoError(t, j.Close())
	assert.ErrorContains(t, begun(t).Grading("x"), "journal: write that x of example.com/evals.TestClosed is being graded")
}

// begun is a trial of a journal that was closed.
func begun(t *testing.T) *Trial {
	j := openAt(t, t.TempDir())
	tr := begin(t, j, "TestClosed")
	require.NoError(t, j.Close())
	return tr
}

func TestTrialsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	const trials, criteria = 16, 4
	var wg sync.WaitGroup
	for range trials {
		wg.Go(func() {
			tr, err := j.Begin(Intent{ID: idOf("TestSame")})
			if !assert.NoError(t, err) {
				return
			}
			var grade sync.WaitGroup
			for n := range criteria {
				grade.Go(func() { assert.NoError(t, tr.Criterion(result(n))) })
				grade.Go(func() { fmt.Fprintln(tr.Raw(), strings.Repeat("x", 99)) })
			}
			grade.Wait()
			assert.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomePassed}))
		})
	}
	wg.Wait()
	run, err := Read(dir)
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	require.Len(t, run.Trials, trials)
	folders := map[string]bool{}
	for _, tr := range run.Trials {
		folders[strings.ToLower(tr.Intent.Folder)] = true
		assert.Len(t, tr.Criteria, criteria)
		assert.Equal(t, verdict.OutcomePassed, tr.Outcome())
		fi, err := os.Stat(filepath.Join(tr.Dir, "raw.log"))
		require.NoError(t, err)
		assert.EqualValues(t, 100*criteria, fi.Size())
	}
	assert.Len(t, folders, trials)
}

func TestStreamThatCannotBeWrittenEndsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	tr := begin(t, j, "TestStream")
	require.NoError(t, os.Mkdir(filepath.Join(tr.Dir(), "raw.log"), 0o755)) // in its way
	n, err := fmt.Fprint(tr.Raw(), "12345")
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	err = tr.Verdict(Verdict{Outcome: verdict.OutcomePassed})
	require.ErrorIs(t, err, ErrIncomplete)
	assert.ErrorContains(t, err, "raw.log: 5 bytes are missing")
	assert.ErrorIs(t, tr.Verdict(Verdict{}), errOver)
	run, err := Read(dir)
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	assert.Equal(t, verdict.OutcomePassed, run.Trials[0].Outcome())
	require.Len(t, run.Trials[0].Notes, 1)
	assert.Contains(t, run.Trials[0].Notes[0], "raw.log")
}

func TestTextOfAnAgentCannotBreakALine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	tr := begin(t, j, "TestText")
	evil := "a\x00\x16--- FAIL: TestOther\n{\"v\":9}\r\n\xff\xfe\u2028\u0085 end"
	require.NoError(t, tr.Criterion(CriterionResult{Name: evil, Score: verdict.Unknown}))
	require.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomePassed, Reply: evil, Score: verdict.Unknown}))
	text, err := os.ReadFile(filepath.Join(dir, j.file))
	require.NoError(t, err)
	assert.True(t, utf8.Valid(text))
	for line := range strings.Lines(string(text)) {
		assert.True(t, json.Valid([]byte(line)), "%q", line)
		for _, c := range strings.TrimSuffix(line, "\n") {
			assert.GreaterOrEqual(t, c, ' ')
		}
	}
	run, err := Read(dir)
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	assert.Equal(t, strings.ToValidUTF8(strings.ReplaceAll(evil, "\xff\xfe", "\ufffd\ufffd"), ""), run.Trials[0].Verdict.Reply)
}

func TestValueThatIsNoJSONIsAnErrorOfItsRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	tr := begin(t, j, "TestBad")
	assert.Error(t, tr.Criterion(CriterionResult{Name: "bad", Score: verdict.Exactly(verdict.Points(math.NaN()))}))
	panics := &agents.Error{Err: (*fs.PathError)(nil)}
	assert.ErrorContains(t, tr.Criterion(CriterionResult{Name: "worse", Score: verdict.Unknown, Err: panics}), "cannot be written as JSON")
	require.NoError(t, tr.Criterion(result(1)))
	run, err := Read(dir)
	require.NoError(t, err)
	assert.Empty(t, run.Problems)
	assert.Len(t, run.Trials[0].Criteria, 1)
}

func TestNoChangesIsNotNoRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	none, recorded := begin(t, j, "TestNone"), begin(t, j, "TestRecorded")
	require.NoError(t, recorded.Changes(nil))
	run, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, none.Dir(), run.Trials[0].Dir, "trials are ordered by their start")
	_, err = run.Trials[0].Changes()
	assert.ErrorIs(t, err, fs.ErrNotExist)
	cs, err := run.Trials[1].Changes()
	require.NoError(t, err)
	assert.Empty(t, cs)
}

func TestFolderNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a subtest", "TestPDF/a_b/c.d", "TestPDF-a_b-c.d"},
		{"only what is unsafe", "../..\x00/\\:*?", ""},
		{"dots at the ends", "..a..", "a"},
		{"other letters", "TestÄrger/日本", "Test-rger"},
		{"too long", strings.Repeat("x", 100), strings.Repeat("x", 60)},
		{"too long, at a gap", strings.Repeat("x", 59) + "/y", strings.Repeat("x", 59)},
	} {
		got := slug(c.text, 60)
		assert.Equal(t, c.want, got, c.name)
		assert.LessOrEqual(t, len(got), 60, c.name)
	}
	dir := t.TempDir()
	j := openAt(t, dir)
	for _, test := range []string{"", "../../escape", "CON", strings.Repeat("ä/", 5000), "a\nb"} {
		tr, err := j.Begin(Intent{ID: TrialID{Test: test}})
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "trials"), filepath.Dir(tr.Dir()))
		assert.LessOrEqual(t, len(filepath.Base(tr.Dir())), 90)
	}
}

func TestClosedJournal(t *testing.T) {
	t.Parallel()
	j := openAt(t, t.TempDir())
	tr := begin(t, j, "TestClosed")
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	assert.ErrorIs(t, tr.Verdict(Verdict{}), errClosed)
	_, err := j.Begin(Intent{ID: idOf("TestLate")})
	assert.ErrorIs(t, err, errClosed)
	left, err := os.ReadDir(filepath.Join(j.Dir(), "trials"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "a trial that was not begun leaves no folder")
}
