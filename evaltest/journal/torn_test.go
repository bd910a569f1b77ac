package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// read puts text in a journal of its own run and reads it.
func read(tb testing.TB, text []byte) (*Run, error) {
	tb.Helper()
	dir := tb.TempDir()
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "journal-x.jsonl"), text, 0o644))
	return Read(dir)
}

// records counts everything that was read.
func records(r *Run) int {
	n := 0
	for _, p := range r.Processes {
		if p.PID != 0 {
			n++
		}
		n += len(p.Notes)
	}
	for _, t := range r.Trials {
		n += 1 + len(t.Criteria) + len(t.Notes)
		if t.Verdict != nil {
			n++
		}
	}
	return n
}

func TestTornAtEveryByteLosesTheLastRecordOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	wholeTrial(t, j, "TestWhole", 2)
	require.NoError(t, j.Note("a note of the process"))
	tr := begin(t, j, "TestInterrupted/ä\x00\xff")
	require.NoError(t, tr.Note("a note"))
	require.NoError(t, tr.Criterion(result(0)))
	text, err := os.ReadFile(filepath.Join(dir, j.file))
	require.NoError(t, err)
	require.Equal(t, 9, bytes.Count(text, []byte("\n")))

	scratch := t.TempDir()
	path := filepath.Join(scratch, "journal-x.jsonl")
	require.NoError(t, os.WriteFile(path, text, 0o644))
	for n := len(text); n >= 0; n-- {
		require.NoError(t, os.Truncate(path, int64(n)))
		run, err := Read(scratch)
		require.NoError(t, err, "cut at byte %d", n)
		require.Empty(t, run.Problems, "cut at byte %d", n)
		whole := bytes.Count(text[:n], []byte("\n"))
		if n < len(text) && text[n] == '\n' {
			whole++ // only its newline is missing
		}
		require.Equal(t, whole, records(run), "cut at byte %d", n)
		require.Equal(t, n > 0 && text[n-1] != '\n' && (n == len(text) || text[n] != '\n'), run.Processes[0].Torn, "cut at byte %d", n)
		for _, tr := range run.Trials {
			if tr.Verdict == nil {
				require.Equal(t, verdict.OutcomeErrored, tr.Outcome())
				require.Equal(t, agents.Interrupted, tr.Err().Kind)
				require.Equal(t, run.Processes[0].Torn, tr.Torn)
			}
		}
	}
}

func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	root := module(t)
	for range 3 {
		dir := t.TempDir()
		cmd := child(t, "endless", filepath.Join(t.TempDir(), "go-build1", "b001", "a.test"), root, "EVALTEST_DIR="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		dots := make([]byte, 7)
		_, err = io.ReadFull(out, dots)
		require.NoError(t, cmd.Process.Kill())
		rest, _ := io.ReadAll(out)
		cmd.Wait()
		require.NoError(t, err)

		run, err := Read(dir)
		require.NoError(t, err)
		assert.Empty(t, run.Problems)
		passed := 0
		for _, tr := range run.Trials {
			if tr.Outcome() == verdict.OutcomePassed {
				passed++
				assert.Len(t, tr.Criteria, 1)
			}
		}
		assert.GreaterOrEqual(t, passed, len(dots)+len(rest), "a verdict that was on disk is gone")
		assert.LessOrEqual(t, len(run.Trials)-passed, 1)
	}
}

// failing writes at most room bytes, as a full disk does.
type failing struct {
	bytes.Buffer
	room    int
	syncErr error
}

var errFull = errors.New("no space left on device")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.Buffer.Write(p)
	}
	n, _ := f.Buffer.Write(p[:f.room])
	f.room = 0
	return n, errFull
}

func (f *failing) Sync() error  { return f.syncErr }
func (f *failing) Close() error { return nil }

func TestFullDiskBreaksNoOtherRecord(t *testing.T) {
	t.Parallel()
	for room := range 60 { // every place in which the second record can be cut
		disk := &failing{room: 1 << 20}
		l := &log{file: disk}
		require.NoError(t, l.append(typeNote, "", note{"first"}))
		disk.room = room
		err := l.append(typeNote, "", note{"second, which is too long for what is left on the disk, by far"})
		require.ErrorIs(t, err, errFull)
		disk.room = 0
		require.ErrorIs(t, l.append(typeNote, "", note{"still full"}), errFull)
		disk.room = 1 << 20
		require.NoError(t, l.append(typeNote, "", note{"third"}))
		run, err := read(t, disk.Bytes())
		require.NoError(t, err)
		assert.Equal(t, []string{"first", "third"}, run.Processes[0].Notes)
		if room > 0 {
			require.Len(t, run.Problems, 1)
			assert.Contains(t, run.Problems[0], "journal-x.jsonl:2: a broken line")
		}
	}
}

// A disk that fills up in the middle of anything: what was acknowledged is there, each once, and when there is room again
// the trial goes on.
func TestWhatWasAcknowledgedOnAFullDiskIsThere(t *testing.T) {
	t.Parallel()
	j := openAt(t, t.TempDir())
	real := j.log.file
	defer func() { j.log.file = real }()
	for room := 0; room < 6000; room += 101 {
		disk := &failing{room: room}
		j.log.file, j.log.midline = disk, false
		var begun, graded, settled []string
		refused := 0
		for n := range 6 {
			test := fmt.Sprintf("Test%d", n)
			tr, err := j.Begin(Intent{ID: idOf(test)})
			if err != nil {
				require.ErrorIs(t, err, errFull)
				refused++
				continue
			}
			begun = append(begun, test)
			_ = tr.Grading("c1") // of which nothing depends
			if err := tr.Criterion(result(1)); err == nil {
				graded = append(graded, test)
			}
			v := Verdict{Outcome: verdict.OutcomePassed}
			err = tr.Verdict(v)
			if err != nil {
				require.ErrorIs(t, err, errFull)
				refused++
				if n%2 == 0 { // somebody makes room
					disk.room = 1 << 20
					require.NoError(t, tr.Verdict(v))
					disk.room = 0
				}
			}
			if err == nil || n%2 == 0 {
				settled = append(settled, test)
			}
		}
		run, err := read(t, disk.Bytes())
		require.NoError(t, err)
		var gotBegun, gotGraded, gotSettled []string
		for _, tr := range run.Trials {
			test := tr.Intent.ID.Test
			gotBegun = append(gotBegun, test)
			if len(tr.Criteria) > 0 {
				require.Len(t, tr.Criteria, 1)
				gotGraded = append(gotGraded, test)
			}
			if tr.Outcome() == verdict.OutcomePassed {
				gotSettled = append(gotSettled, test)
			}
		}
		// What was refused for want of its newline only is read, too.
		for _, c := range []struct{ acknowledged, read []string }{{begun, gotBegun}, {graded, gotGraded}, {settled, gotSettled}} {
			require.Subset(t, c.read, c.acknowledged, "room for %d bytes", room)
			once := slices.Compact(slices.Sorted(slices.Values(c.read)))
			require.Len(t, once, len(c.read), "room for %d bytes", room)
		}
		require.LessOrEqual(t, len(run.Problems), refused+len(begun), "only what was refused is broken")
	}
}

func TestFailedSyncIsSaidToEachRecordItCovers(t *testing.T) {
	t.Parallel()
	disk := &failing{room: 1 << 20, syncErr: errFull}
	l := &log{file: disk}
	first, err := l.write(envelope{V: Version, Type: typeNote, Data: []byte(`{}`)})
	require.NoError(t, err)
	require.ErrorIs(t, l.append(typeNote, "", note{"second"}), errFull)
	disk.syncErr = nil
	require.ErrorIs(t, l.sync(first), errFull, "the sync that was to cover it has failed")
	require.NoError(t, l.append(typeNote, "", note{"third"}))
}

func TestVerdictThatCannotBeWrittenCanBeWrittenLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	tr := begin(t, j, "TestFull")
	real := j.log.file
	j.log.file = &failing{}
	require.ErrorIs(t, tr.Verdict(Verdict{Outcome: verdict.OutcomePassed}), errFull)
	j.log.file = real
	require.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomePassed}))
	run, err := Read(dir)
	require.NoError(t, err)
	assert.Equal(t, verdict.OutcomePassed, run.Trials[0].Outcome())
}

func TestNewerAndForeignRecords(t *testing.T) {
	t.Parallel()
	intent := `{"v":1,"type":"intent","seq":1,"trial":"t","data":{"id":{"test":"TestA"},"folder":"t","future":{"x":1}},"also":"new"}`
	t.Run("a newer schema is refused", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{`{"v":3,"type":"run","data":{}}`, `{"v":3,"type":{"of":"another shape"}}`} {
			_, err := read(t, []byte(intent+"\n"+line+"\n"))
			assert.ErrorIs(t, err, errNewer)
			assert.ErrorContains(t, err, "schema 3")
			assert.ErrorContains(t, err, "update evaltest")
		}
	})
	t.Run("types and fields that are unknown are skipped", func(t *testing.T) {
		t.Parallel()
		run, err := read(t, []byte(intent+"\n"+`{"v":1,"type":"cost","trial":"elsewhere","data":[1]}`+"\n"))
		require.NoError(t, err)
		assert.Empty(t, run.Problems)
		require.Len(t, run.Trials, 1)
		assert.Equal(t, "TestA", run.Trials[0].Intent.ID.Test)
	})
	for name, line := range map[string]string{
		"a verdict of nobody":      `{"v":1,"type":"verdict","trial":"x","data":{}}`,
		"a criterion of nobody":    `{"v":1,"type":"criterion","data":{}}`,
		"no record":                `{"some":"json"}`,
		"no JSON":                  "\x00\x00\x00",
		"a score that is none":     `{"v":1,"type":"criterion","trial":"t","data":{"score":{"lo":{"value":"2"},"hi":{"value":"2"}}}}`,
		"an intent a second time":  intent,
		"an outcome of no meaning": `{"v":1,"type":"verdict","trial":"t","data":{"outcome":7}}`,
	} {
		t.Run(name+" is a problem, not the end", func(t *testing.T) {
			t.Parallel()
			run, err := read(t, []byte(intent+"\n"+line+"\n"+`{"v":1,"type":"note","trial":"t","data":{"text":"after"}}`+"\n"))
			require.NoError(t, err)
			require.Len(t, run.Problems, 1)
			assert.Contains(t, run.Problems[0], "journal-x.jsonl:2: ")
			require.Len(t, run.Trials, 1)
			assert.Equal(t, []string{"after"}, run.Trials[0].Notes)
		})
	}
}

func TestOfTwoVerdictsTheFirstStands(t *testing.T) {
	t.Parallel()
	run, err := read(t, []byte(`{"v":1,"type":"intent","trial":"t","data":{"folder":"t"}}
{"v":1,"type":"verdict","trial":"t","data":{"outcome":"passed"}}
{"v":1,"type":"verdict","trial":"t","data":{"outcome":"failed"}}
{"v":1,"type":"criterion","trial":"t","data":{"name":"late"}}
`))
	require.NoError(t, err)
	assert.Equal(t, verdict.OutcomePassed, run.Trials[0].Outcome())
	assert.Empty(t, run.Trials[0].Criteria)
	assert.Len(t, run.Problems, 2)
}

func TestReadWithoutJournals(t *testing.T) {
	t.Parallel()
	run, err := Read(t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, run.Trials)
	_, err = Read(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openAt(t, dir)
	long := strings.Repeat("word ", 1<<20)
	tr, err := j.Begin(Intent{ID: idOf("TestLong"), Prompts: []string{long}})
	require.NoError(t, err)
	require.NoError(t, tr.Verdict(Verdict{Outcome: verdict.OutcomeFailed}))
	run, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, run.Trials, 1)
	assert.Equal(t, long, run.Trials[0].Intent.Prompts[0])
	assert.Equal(t, verdict.OutcomeFailed, run.Trials[0].Outcome(), fmt.Sprint(run.Problems))
}
