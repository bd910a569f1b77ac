package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// runOf opens a journal of the run that has a number, in the module at root.
func runOf(tb testing.TB, root, dir string, build int) *Journal {
	tb.Helper()
	j, err := open(dir, identity{build: fmt.Sprint(build), root: root})
	require.NoError(tb, err)
	tb.Cleanup(func() { j.Close() })
	return j
}

// attempt records an attempt at a trial; without an outcome its process ended first.
func attempt(tb testing.TB, j *Journal, test string, n int, o verdict.Outcome) *Trial {
	tb.Helper()
	id := idOf(test)
	id.Attempt = n
	t, err := j.Begin(Intent{ID: id, Policy: Policy{OnError: "fail"}})
	require.NoError(tb, err)
	if o != "" {
		require.NoError(tb, t.Verdict(Verdict{Outcome: o, Measured: o == verdict.OutcomePassed || o == verdict.OutcomeFailed}))
	}
	return t
}

func resume(tb testing.TB, j *Journal, spec string) *Base {
	tb.Helper()
	b, err := j.Resume(spec)
	require.NoError(tb, err)
	return b
}

// found are the folders of what a base has of a test, relative to the home of root.
func found(tb testing.TB, b *Base, test string) (dirs []string) {
	tb.Helper()
	id := idOf(test)
	id.Attempt = 9 // which plays no part
	for _, t := range b.Find(id) {
		dirs = append(dirs, t.Dir)
	}
	return dirs
}

func dirsOf(ts ...*Trial) (dirs []string) {
	for _, t := range ts {
		dirs = append(dirs, t.Dir())
	}
	return dirs
}

func TestARunThatResumedAnotherLeadsToIt(t *testing.T) {
	t.Parallel()
	root := module(t)
	first := runOf(t, root, "", 1)
	a1 := attempt(t, first, "TestA", 1, verdict.OutcomeErrored)
	a2 := attempt(t, first, "TestA", 2, verdict.OutcomePassed)
	b1 := attempt(t, first, "TestB", 1, verdict.OutcomeFailed)
	second := runOf(t, root, "", 2)
	assert.Equal(t, dirsOf(a2, a1), found(t, resume(t, second, "latest"), "TestA"))
	a3 := attempt(t, second, "TestA", 1, "") // and killed
	third := runOf(t, root, "", 3)
	b := resume(t, third, "latest")
	assert.Equal(t, filepath.Base(second.Dir()), b.Name())
	assert.Equal(t, dirsOf(a3, a2, a1), found(t, b, "TestA"), "the newest run first, and of a run the last attempt")
	assert.Equal(t, dirsOf(b1), found(t, b, "TestB"))
	assert.Empty(t, b.Find(idOf("TestNew")))
	assert.Empty(t, b.Problems())

	r := b.Find(idOf("TestA"))[1]
	assert.Equal(t, verdict.OutcomePassed, r.Outcome())
	assert.True(t, r.Settled())
	assert.Equal(t, filepath.Base(first.Dir()), r.RunName())
	assert.Equal(t, first.process.Run, r.Process.Run)

	run, err := Read(third.Dir())
	require.NoError(t, err)
	assert.Equal(t, second.Dir(), run.Processes[0].Resumes)

	require.NoError(t, os.RemoveAll(first.Dir()))
	b = resume(t, runOf(t, root, "", 4), third.Dir())
	assert.Equal(t, dirsOf(a3), found(t, b, "TestA"))
	require.Len(t, b.Problems(), 1)
	assert.Contains(t, b.Problems()[0], first.Dir()+", which was resumed before, is gone")
}

func TestRunsThatResumeEachOtherEnd(t *testing.T) {
	t.Parallel()
	root := module(t)
	a, b := runOf(t, root, "a-results", 1), runOf(t, root, "b-results", 2)
	inA, inB := attempt(t, a, "TestA", 1, verdict.OutcomePassed), attempt(t, b, "TestA", 1, verdict.OutcomePassed)
	resume(t, a, "b-results")
	resume(t, b, "a-results")
	again := runOf(t, root, "a-results", 3)
	mine := attempt(t, again, "TestA", 1, verdict.OutcomePassed)
	assert.Equal(t, dirsOf(inB, inA), found(t, resume(t, again, "b-results"), "TestA"), "what this run writes is none of it: %s", mine.Dir())
}

func TestADirectoryCanBeResumedIntoItself(t *testing.T) {
	t.Parallel()
	root := module(t)
	first := runOf(t, root, "results", 1)
	assert.Empty(t, found(t, resume(t, first, "results"), "TestA"), "the first time there is nothing, which is no error")
	a1 := attempt(t, first, "TestA", 1, "")
	second := runOf(t, root, "results", 2)
	sibling := runOf(t, root, "results", 2) // another package of the same run
	resume(t, second, "results")
	a2 := attempt(t, second, "TestA", 1, verdict.OutcomeErrored)
	a3 := attempt(t, second, "TestA", 2, verdict.OutcomePassed)
	assert.Equal(t, dirsOf(a1), found(t, resume(t, sibling, "./results"), "TestA"))
	assert.Equal(t, dirsOf(a3, a2, a1), found(t, resume(t, runOf(t, root, "results", 3), "results"), "TestA"))
}

func TestLatestIsTheSameForAllProcessesOfARun(t *testing.T) {
	t.Parallel()
	root := module(t)
	before := runOf(t, root, "", 1)
	a := attempt(t, before, "TestA", 1, verdict.OutcomePassed)
	one := runOf(t, root, "", 2)
	attempt(t, one, "TestA", 1, "")
	assert.Equal(t, dirsOf(a), found(t, resume(t, one, "latest"), "TestA"))
	other := runOf(t, root, "", 3) // begins while that run goes on
	attempt(t, other, "TestA", 1, verdict.OutcomePassed)
	two := runOf(t, root, "", 2)
	assert.Equal(t, one.Dir(), two.Dir())
	assert.Equal(t, dirsOf(a), found(t, resume(t, two, "latest"), "TestA"))
	elsewhere := runOf(t, root, "results", 4)
	assert.Equal(t, filepath.Base(other.Dir()), resume(t, elsewhere, "latest").Name())
}

func TestLatestGotAsFarAsATrial(t *testing.T) {
	t.Parallel()
	root := module(t)
	first := runOf(t, root, "", 1)
	_, err := first.Resume("latest")
	require.ErrorIs(t, err, ErrNoRun)
	assert.ErrorContains(t, err, "there is no run before this one in "+filepath.Join(root, Home))
	attempt(t, first, "TestA", 1, verdict.OutcomePassed)
	runOf(t, root, "", 2) // killed before it began a trial
	gone := runOf(t, root, "", 3)
	attempt(t, gone, "TestA", 1, verdict.OutcomePassed)
	last := runOf(t, root, "", 4)
	require.NoError(t, gone.Close())
	require.NoError(t, os.RemoveAll(gone.Dir())) // cleaned up
	assert.Equal(t, filepath.Base(first.Dir()), resume(t, last, "latest").Name())
	assert.Equal(t, filepath.Base(first.Dir()), resume(t, runOf(t, root, "results", 5), "latest").Name())
}

// A process can be killed at any moment, also between the making of the run's directory and what follows.
func TestARunWhoseFirstProcessDiedAtItsBeginning(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]func(home, run, before string){
		"before it wrote what was the latest": func(home, run, before string) {
			require.NoError(t, os.Remove(filepath.Join(home, run, previousFile)))
			require.NoError(t, replaceFile(filepath.Join(home, latestFile), before+"\n"))
		},
		"before it became the latest": func(home, _, before string) {
			require.NoError(t, replaceFile(filepath.Join(home, latestFile), before+"\n"))
		},
		"after": func(string, string, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := module(t)
			home := filepath.Join(root, Home)
			before := runOf(t, root, "", 1)
			attempt(t, before, "TestA", 1, verdict.OutcomePassed)
			first := runOf(t, root, "", 2)
			undo(home, filepath.Base(first.Dir()), filepath.Base(before.Dir()))
			second := runOf(t, root, "", 2)
			require.Equal(t, first.Dir(), second.Dir())
			assert.Equal(t, filepath.Base(before.Dir()), resume(t, second, "latest").Name())
			attempt(t, second, "TestB", 1, verdict.OutcomePassed)
			assert.Equal(t, filepath.Base(first.Dir()), resume(t, runOf(t, root, "", 3), "latest").Name())
		})
	}
}

// A process writes its first intent before it has looked for what it resumes.
func TestKilledBetweenItsFirstIntentAndResuming(t *testing.T) {
	t.Parallel()
	root := module(t)
	a := attempt(t, runOf(t, root, "", 1), "TestA", 1, verdict.OutcomePassed)
	killed := runOf(t, root, "", 2)
	_, err := killed.Begin(Intent{ID: idOf("TestB"), Policy: Policy{Resumes: "latest"}})
	require.NoError(t, err)
	assert.Equal(t, dirsOf(a), found(t, resume(t, runOf(t, root, "", 3), "latest"), "TestA"))
}

func TestWhatARunIsCalled(t *testing.T) {
	t.Parallel()
	root := module(t)
	old := runOf(t, root, "", 1)
	attempt(t, old, "TestA", 1, verdict.OutcomePassed)
	runOf(t, root, "out/evals", 2)
	j := runOf(t, root, "", 3)
	for _, spec := range []string{filepath.Base(old.Dir()), old.Dir(), ".evaltest/" + filepath.Base(old.Dir()), old.Dir() + "/"} {
		assert.Equal(t, filepath.Base(old.Dir()), resume(t, j, spec).Name(), spec)
	}
	assert.Equal(t, "evals", resume(t, j, "out/evals").Name())
	require.NoError(t, os.Mkdir(filepath.Join(root, "empty"), 0o755))
	for _, spec := range []string{"none", "empty", filepath.Join(root, "none"), "..", ""} {
		_, err := j.Resume(spec)
		require.ErrorIs(t, err, ErrNoRun, spec)
		assert.ErrorContains(t, err, fmt.Sprintf("%q is no run directory", spec))
		assert.ErrorContains(t, err, "runs there: "+filepath.Base(j.Dir())+", "+filepath.Base(old.Dir()))
	}
}

func TestABaseOfANewerVersionIsAnError(t *testing.T) {
	t.Parallel()
	root := module(t)
	newer := runOf(t, root, "", 1)
	attempt(t, newer, "TestA", 1, verdict.OutcomePassed)
	f, err := os.OpenFile(filepath.Join(newer.Dir(), newer.file), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	fmt.Fprintln(f, `{"v":9,"type":"intent","time":"2026-02-03T04:05:06Z","seq":9,"trial":"t","data":{}}`)
	require.NoError(t, f.Close())
	between := runOf(t, root, "", 2)
	attempt(t, between, "TestA", 1, "")
	_, err = between.Resume("latest")
	assert.ErrorIs(t, err, errNewer)
	_, err = runOf(t, root, "", 3).Resume("latest")
	assert.ErrorIs(t, err, errNewer, "also where the run resumes it in its turn")
}

func TestARunThatWasMovedIsFound(t *testing.T) {
	t.Parallel()
	old := module(t)
	a := attempt(t, runOf(t, old, "", 1), "TestA", 1, verdict.OutcomePassed)
	second := runOf(t, old, "", 2)
	b := resume(t, second, "latest")
	tr := attempt(t, second, "TestB", 1, "")
	require.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomePassed, Reused: &Reused{
		Run: b.Name(), Dir: filepath.Dir(filepath.Dir(a.Dir())), Folder: a.Intent().Folder,
	}}))
	root := module(t) // another checkout, into which a cache was unpacked
	require.NoError(t, os.CopyFS(filepath.Join(root, Home), os.DirFS(filepath.Join(old, Home))))
	require.NoError(t, os.RemoveAll(old))
	moved := func(dir string) string { return strings.Replace(dir, old, root, 1) }
	base := resume(t, runOf(t, root, "", 3), "latest")
	assert.Equal(t, []string{moved(a.Dir())}, found(t, base, "TestA"))
	assert.Equal(t, moved(a.Dir()), base.Find(idOf("TestB"))[0].Origin())
	assert.Empty(t, base.Problems())
}

// What the index says of a run that was cut anywhere is what reading all of it says.
func TestABaseThatIsTornAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	wholeTrial(t, j, "TestA", 1)
	require.NoError(t, j.Note("between"))
	wholeTrial(t, j, "TestB/ä\x00\xff", 1)
	text, err := os.ReadFile(filepath.Join(dir, j.file))
	require.NoError(t, err)
	scratch := filepath.Join(t.TempDir(), "torn")
	require.NoError(t, os.Mkdir(scratch, 0o755))
	path := filepath.Join(scratch, "journal-x.jsonl")
	require.NoError(t, os.WriteFile(path, text, 0o644))
	for n := len(text); n >= 0; n-- {
		require.NoError(t, os.Truncate(path, int64(n)))
		run, err := Read(scratch)
		require.NoError(t, err)
		base := &Base{trials: map[trialKey][]*indexed{}}
		_, err = base.add(scratch, j)
		require.NoError(t, err)
		require.Empty(t, base.Problems())
		found := 0
		for _, want := range run.Trials {
			got := base.Find(want.Intent.ID)
			require.Len(t, got, 1, "cut at byte %d", n)
			require.Equal(t, want.Outcome(), got[0].Outcome(), "cut at byte %d", n)
			require.Len(t, got[0].Criteria, len(want.Criteria), "cut at byte %d", n)
			require.Equal(t, want.Torn, got[0].Torn, "cut at byte %d", n)
			require.Equal(t, want.Dir, got[0].Dir)
			found++
		}
		require.Len(t, base.trials, found, "cut at byte %d", n)
	}
}

func TestABaseWithBrokenLines(t *testing.T) {
	t.Parallel()
	root := module(t)
	dir := filepath.Join(root, "results")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "journal-x.jsonl"), []byte(`{"v":2,"type":"run","time":"2026-02-03T04:05:06Z","seq":1,"data":{"run":"7"}}
{"v":2,"type":"intent","time":"2026-02-03T04:05:06Z","seq":2,"trial":"t","data":{"id":{"test":"TestA"},"folder":"t"},"behind":{}}
{"v":2,"type":"verdict","time":"2026-02-03T04:05:06Z","seq":3,"trial":"t","data":{"outcome":"pas
{"v":2,"type":"verdict","time":"2026-02-03T04:05:06Z","seq":3,"trial":"t","data":{"outcome":"failed","measured":true},"behind":{}}
no record
`), 0o644))
	b := resume(t, runOf(t, root, "", 1), "results")
	got := b.Find(TrialID{Test: "TestA"})
	require.Len(t, got, 1)
	assert.Equal(t, verdict.OutcomeFailed, got[0].Outcome())
	require.Len(t, b.Problems(), 2)
	assert.Contains(t, b.Problems()[0], filepath.Join(dir, "journal-x.jsonl")+":3: a broken line")
	assert.Contains(t, b.Problems()[1], filepath.Join(dir, "journal-x.jsonl")+":5: a broken line")
	b.Find(TrialID{Test: "TestA"})
	assert.Len(t, b.Problems(), 2, "each is said once")
}

func TestFindingAtOnce(t *testing.T) {
	t.Parallel()
	root := module(t)
	j := runOf(t, root, "", 1)
	for i := range 20 {
		wholeTrial(t, j, fmt.Sprintf("TestA/%d", i), 2)
	}
	b := resume(t, runOf(t, root, "", 2), "latest")
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			got := b.Find(idOf(fmt.Sprintf("TestA/%d", i%20)))
			if assert.Len(t, got, 1) {
				assert.Len(t, got[0].Criteria, 2)
				got[0].Verdict.Reply = "the caller's own"
			}
			assert.Empty(t, b.Problems())
		})
	}
	wg.Wait()
}
