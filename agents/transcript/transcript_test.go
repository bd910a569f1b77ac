package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/transcript"
)

var start = time.Date(2026, 2, 3, 4, 5, 6, 789012345, time.UTC)

var header = transcript.Header{
	Agent: "claude", AgentVersion: "2.1", Model: "m", Prompts: []string{"Do <it>.", "no UTF-8: \xff"}, Started: start,
}

// awkward has everything that an encoding may lose.
func awkward() []agents.Event {
	call := agents.ToolCall{
		ID: "c\xff", Kind: agents.Execute, Name: "Bash", Input: json.RawMessage(`{ "command" : "a <b> && \u0041", "n":1.0e2}`),
		Commands: []string{"printf '\x16\x00\x1b[31m'", "bad \xc3\x28"}, Paths: []string{"p", "\xed\xa0\x80"},
	}
	hidden := agents.ToolCall{ID: "d", Kind: agents.Skill, Name: "Skill", Skill: "pdf"}
	broken := agents.ToolCall{ID: "e", Kind: agents.Other, Name: "x", Input: json.RawMessage("{\"a\": \xff")}
	empty := agents.ToolCall{ID: "f", Kind: agents.Other, Name: "x", Input: json.RawMessage("")}
	binary := agents.ToolCall{ID: "g", Kind: agents.Other, Name: "x", Input: json.RawMessage("{\"a\":\"\xff\"}")}
	null := agents.ToolCall{ID: "h", Kind: agents.Other, Name: "x", Input: json.RawMessage("null")}
	return []agents.Event{
		agents.Prompt("\x16--- FAIL: TestOther\r\n\u2028 \ufeff\ufffd").At(start),
		agents.Request().In("m1").At(start.Add(1)),
		agents.Say("\xff\xfe").In("m\x80").At(start.Add(2)),
		agents.Begin(call).In("m1").At(start.Add(3)),
		agents.Begin(hidden).In("m1").Under("c\xff").At(start.Add(4)),
		agents.Begin(broken).At(start.Add(5)),
		agents.Begin(empty).At(start.Add(6)),
		agents.Begin(binary).At(start.Add(6)),
		agents.Begin(null).At(start.Add(6)),
		agents.End("c\xff", agents.Failed, "\x00\x7f\xf8").At(start.Add(7)),
		agents.End("d", agents.Denied, strings.Repeat("long ", 50000)).At(start.Add(8)),
		agents.Spent(agents.Usage{InputTokens: math.MaxInt64, Cost: 0.1 + 0.2}).At(start.Add(9)),
		agents.Spent(agents.Usage{OutputTokens: 3, CachedTokens: 4, Cost: math.Inf(1)}).At(start.Add(10)),
		agents.Event{Kind: "newer\xff", Text: "kept"}.At(start.Add(11)),
		agents.Event{Kind: agents.EventDone}.At(start.Add(12)),
	}
}

func events(tr *agents.Trajectory) []agents.Event {
	var out []agents.Event
	for _, e := range tr.Events() {
		out = append(out, e)
	}
	return out
}

func written(t testing.TB, evs ...agents.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, transcript.Write(&b, agents.NewTrajectory(evs...), header))
	return b.Bytes()
}

func TestARoundTripLosesNothing(t *testing.T) {
	t.Parallel()
	data := written(t, awkward()...)
	for line := range bytes.Lines(data) {
		require.True(t, json.Valid(line), "%q", line)
	}
	tr, h, err := transcript.Read(iotest.OneByteReader(bytes.NewReader(data)))
	require.NoError(t, err)
	want := header
	want.Version = transcript.Version
	assert.Empty(t, cmp.Diff(want, h))
	assert.Empty(t, cmp.Diff(awkward(), events(tr)))
	var again bytes.Buffer
	require.NoError(t, transcript.Write(&again, tr, h))
	assert.Equal(t, string(data), again.String())
}

func TestTimesAreInstants(t *testing.T) {
	t.Parallel()
	now := time.Now().In(time.FixedZone("odd", 3601))
	tr, _, err := transcript.Read(bytes.NewReader(written(t, agents.Prompt("x").At(now))))
	require.NoError(t, err)
	got := tr.Event(0).Time
	assert.True(t, got.Equal(now), "%v, want %v", got, now)
	assert.Equal(t, time.UTC, got.Location())
}

func TestWritingChangesNothingOfTheTrajectory(t *testing.T) {
	t.Parallel()
	tr := agents.NewTrajectory(awkward()...)
	require.NoError(t, transcript.Write(io.Discard, tr, header))
	assert.Empty(t, cmp.Diff(awkward(), events(tr)))
}

// A kill can come after any byte: what was written before the line in progress is read, and the tear is said.
func TestEveryTruncationIsReadUpToItsLastWholeLine(t *testing.T) {
	t.Parallel()
	all := []agents.Event{
		agents.Prompt("p").At(start), agents.Say("s\xff").At(start), {Kind: agents.EventDone, Time: start},
	}
	data := written(t, all...)
	for n := range data {
		tr, _, err := transcript.Read(bytes.NewReader(data[:n]))
		lines := bytes.Count(data[:n], []byte("\n"))
		rest := data[bytes.LastIndexByte(data[:n], '\n')+1 : n]
		if json.Valid(rest) {
			lines++ // all but the line feed is there
		}
		switch {
		case n == 0:
			require.Error(t, err)
			require.NotErrorIs(t, err, transcript.ErrTorn)
			require.Nil(t, tr)
		case lines == 0:
			require.ErrorIs(t, err, transcript.ErrTorn)
			require.Nil(t, tr)
		default:
			require.Empty(t, cmp.Diff(all[:lines-1], events(tr), cmpopts.EquateEmpty()), "%q", data[:n])
			if torn := len(rest) > 0 && !json.Valid(rest); torn {
				require.ErrorIs(t, err, transcript.ErrTorn, "%q", data[:n])
			} else {
				require.NoError(t, err)
			}
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	const first = `{"schema":"evaltest.transcript","version":"1.0"}` + "\n"
	const prompt = `{"kind":"prompt","time":"2026-02-03T04:05:06Z","text":"p"}` + "\n"
	for _, c := range []struct {
		name, file string
		events     int
		err        string // "": none
	}{
		{"nothing but a header", first, 0, ""},
		{"a newer minor version, with what it added",
			`{"schema":"evaltest.transcript","version":"1.7","mood":"good"}` + "\n" +
				`{"kind":"hologram","time":"2026-02-03T04:05:06Z","depth":{"z":1},"exact":{"depth":"AA=="}}` + "\n" + prompt, 2, ""},
		{"blank lines", first + "\n" + prompt + " \n", 1, ""},
		{"an event after the end", first + `{"late":{"kind":"done","time":"2026-02-03T04:05:06Z"}}` + "\n" + prompt, 0, "line 3: an event of the trajectory comes after its end"},
		{"a newer major version", `{"schema":"evaltest.transcript","version":"3.0","prompts":7}` + "\n", 0,
			"the file has version 3.0, and this program reads up to 2.x: update evaltest"},
		{"no version", `{"schema":"evaltest.transcript"}` + "\n", 0, `"" is no version`},
		{"version 0", `{"schema":"evaltest.transcript","version":"0.9"}` + "\n", 0, `"0.9" is no version`},
		{"another file", `{"schema":"journal","version":"1.0"}` + "\n", 0, `its schema is "journal"`},
		{"no JSON", "hello\n", 0, "invalid character"},
		{"nothing", "", 0, "unexpected end"},
		{"a broken line in the middle", first + prompt + "{\n" + prompt, 1, "line 3:"},
		{"an event of the wrong shape at the end", first + prompt + `{"kind":1}`, 1, "line 3:"},
		{"an event without a time", first + prompt + `{"kind":"done"}` + "\n", 1, "line 3: the event has no time"},
		{"an event that contradicts the others", first + prompt +
			`{"kind":"status","time":"2026-02-03T04:05:06Z","call_id":"x","status":"completed"}` + "\n", 1, `unknown call "x"`},
		{"an exact form that is no base64", first + `{"kind":"prompt","time":"2026-02-03T04:05:06Z","exact":{"text":"?"}}` + "\n", 0,
			"line 2: exact form of text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr, _, err := transcript.Read(strings.NewReader(c.file))
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.err)
			}
			if tr != nil {
				assert.Equal(t, c.events, tr.Len())
			} else {
				assert.Zero(t, c.events)
			}
		})
	}
}

func TestAnErrorOfTheReaderIsPassedOn(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk")
	data := written(t, agents.Prompt("p").At(start))
	tr, _, err := transcript.Read(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(cause)))
	require.ErrorIs(t, err, cause)
	assert.Equal(t, 1, tr.Len())
}

// writes counts the calls of Write, and fails from the given one on, after half of it.
type writes struct {
	bytes.Buffer
	n, fail int
}

func (w *writes) Write(b []byte) (int, error) {
	if w.n++; w.n == w.fail {
		n, _ := w.Buffer.Write(b[:len(b)/2])
		return n, errors.New("disk full")
	}
	return w.Buffer.Write(b)
}

func TestEachEventIsOneWriteAndAfterAFailedOneThereIsNoOther(t *testing.T) {
	t.Parallel()
	w := &writes{fail: 4}
	enc, err := transcript.NewEncoder(w, header)
	require.NoError(t, err)
	require.NoError(t, enc.Encode(agents.Prompt("p")))
	require.NoError(t, enc.Encode(agents.Say("s")))
	require.Equal(t, 3, w.n)
	require.ErrorContains(t, enc.Encode(agents.Say("lost")), "disk full")
	require.ErrorContains(t, enc.Encode(agents.Say("glued to half a line")), "disk full")
	tr, _, err := transcript.Read(&w.Buffer)
	require.ErrorIs(t, err, transcript.ErrTorn)
	assert.Equal(t, 2, tr.Len())
	assert.False(t, tr.Event(0).Time.IsZero())
}

func TestAnEventThatCannotBeWrittenLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	enc, err := transcript.NewEncoder(&b, header)
	require.NoError(t, err)
	require.Error(t, enc.Encode(agents.Prompt("far").At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))))
	require.NoError(t, enc.Encode(agents.Prompt("near").At(start)))
	tr, _, err := transcript.Read(&b)
	require.NoError(t, err)
	assert.Equal(t, "near", tr.Event(0).Text)
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("prompt", "text", "id", "cmd", []byte(`{"a": 1}`), int64(1), 0.5)
	f.Add("call", "\xff\x00\u2028", "\xed\xa0\x80", "a\nb", []byte("{\"\xff\":\"<\\u0041\"}"), int64(-1), math.NaN())
	f.Add("call", "", "x", "", []byte(`  null `), int64(1<<62), math.Inf(-1))
	f.Add("call", "", "x", "", []byte(`1e400`), int64(0), math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, kind, text, id, word string, input []byte, ns int64, cost float64) {
		e := agents.Event{
			Kind: agents.EventKind(kind), Time: time.Unix(0, ns).UTC(), Message: id, Parent: word, Text: text, CallID: id,
			Status: agents.Status(word), Output: text, Usage: agents.Usage{InputTokens: ns, Cost: cost},
			Call: agents.ToolCall{ID: id, Kind: agents.Kind(kind), Name: word, Input: slices.Clone(input), Commands: []string{word, text},
				Paths: []string{text}, Skill: word, Parent: text},
		}
		tr := new(agents.Trajectory)
		if tr.Append(e) != nil {
			t.Skip("no trajectory has such an event")
		}
		h := transcript.Header{Agent: word, AgentVersion: text, Model: id, Prompts: []string{text, word}, Started: e.Time}
		var b bytes.Buffer
		if err := transcript.Write(&b, tr, h); err != nil {
			t.Fatal(err)
		}
		got, gotHeader, err := transcript.Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%q", err, b.String())
		}
		h.Version = transcript.Version
		if d := cmp.Diff(h, gotHeader); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(events(tr), events(got), cmpopts.EquateNaNs()); d != "" {
			t.Fatalf("%s\n%q", d, b.String())
		}
	})
}

// FuzzRead holds that no file makes Read panic, and that what it read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add(written(f, awkward()...))
	f.Add([]byte(`{"schema":"evaltest.transcript","version":"2.0"}` + "\n" + `{"late":{"kind":"message","time":"2026-02-03T04:05:06Z","exact":{"text":"/w=="}}}`))
	f.Add([]byte(`{"schema":"evaltest.transcript","version":"1.0","exact":{"prompts.0":"/w=="}}` + "\n" + `{"exact":{"call.paths.9":""}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, h, _ := transcript.Read(bytes.NewReader(data))
		if tr == nil {
			return
		}
		var b bytes.Buffer
		if err := transcript.Write(&b, tr, h); err != nil {
			t.Skip(err)
		}
		again, _, err := transcript.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(events(tr), events(again), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// What came when the trajectory was over is kept, loses nothing, and is none of it.
func TestLateEventsAreKeptApart(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	enc, err := transcript.NewEncoder(&b, header)
	require.NoError(t, err)
	require.NoError(t, enc.Encode(agents.Prompt("go").At(start)))
	want := append(awkward(), agents.End("unknown", agents.Completed, "no trajectory has it").At(start))
	for _, e := range want {
		require.NoError(t, enc.Late(e))
	}
	require.NoError(t, enc.Late(agents.Say("now")))
	size := b.Len()
	require.ErrorContains(t, enc.Encode(agents.Say("as if nothing had happened")), "the trajectory is over")
	require.Equal(t, size, b.Len())

	tr, late, _, err := transcript.ReadAll(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, 1, tr.Len())
	require.Len(t, late, len(want)+1)
	assert.WithinDuration(t, time.Now(), late[len(want)].Time, time.Minute)
	assert.Empty(t, cmp.Diff(want, late[:len(want)]))
	tr, _, err = transcript.Read(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, 1, tr.Len())
}

func TestTornLateEventsLeaveTheTrajectoryWhole(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	enc, err := transcript.NewEncoder(&b, header)
	require.NoError(t, err)
	require.NoError(t, enc.Encode(agents.Prompt("go").At(start)))
	before := b.Len()
	require.NoError(t, enc.Late(agents.Say("late \xff").At(start)))
	require.NoError(t, enc.Late(agents.Say("later").At(start)))
	data := b.Bytes()
	for n := before; n < len(data); n++ {
		tr, late, _, err := transcript.ReadAll(bytes.NewReader(data[:n]))
		if err != nil {
			require.ErrorIs(t, err, transcript.ErrTorn, "cut at byte %d", n)
		}
		require.Equal(t, 1, tr.Len())
		whole := bytes.Count(data[before:n], []byte("\n"))
		if data[n] == '\n' {
			whole++ // only its newline is missing
		}
		require.Len(t, late, whole, "cut at byte %d", n)
	}
}

// Transcripts of schema 1, as they were written then, are read.
func TestOlderTranscripts(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/schema1.jsonl")
	require.NoError(t, err)
	defer f.Close()
	tr, late, h, err := transcript.ReadAll(f)
	require.NoError(t, err)
	assert.Empty(t, late)
	assert.Equal(t, transcript.Header{
		Version: "1.0", Agent: "scripted", AgentVersion: "1", Prompts: []string{"Write out.csv."}, Started: h.Started,
	}, h)
	assert.Equal(t, 1, tr.MainCalls().Completed)
}
