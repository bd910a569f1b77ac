package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// What reads quickly must read the same: every line that is written takes the short way, and comes to what the long one
// does.
func TestHeadsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	dir := bigRun(t, 3)
	names, err := journals(dir)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		short, ok := headOf(line)
		require.True(t, ok, "%s", line)
		long := parse(line)
		require.NoError(t, long.err)
		assert.Equal(t, long, short)
	}
}

func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"v":2,"type":"note","time":"2026-02-03T04:05:06Z","seq":2,"trial":"t","data":{"text":"a"}}`))
	f.Add([]byte(`{"v":2,"type":"note","time":"2026-02-03T04:05:06Z","seq":2,"data":{"text":"a"},"behind":{}}`))
	f.Add([]byte(`{"v":2,"type":"note","time":"x","seq":,"data":{}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		short := recordOf(line)
		if bytes.ContainsAny(line, "\n") || short.err != nil {
			return
		}
		v, err := short.value()
		long := parse(line)
		if long.err != nil {
			// The times and numbers before the data are not looked at, so that a line may be read that is none.
			return
		}
		w, longErr := decode(long.Type, long.Data)
		if (err == nil) != (longErr == nil) {
			t.Fatalf("%v, and the long way %v", err, longErr)
		}
		if a, b := fmt.Sprintf("%+v", v), fmt.Sprintf("%+v", w); err == nil && long.Type == typeNote && a != b {
			t.Fatalf("%s, and the long way %s", a, b)
		}
	})
}

// The stand-ins for records with scores lose nothing.
func TestScoresAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	third, ok := new(big.Rat).SetString("100000000000000000000000/300000000000000000000001")
	require.True(t, ok)
	same := []cmp.Option{
		cmp.Comparer(func(a, b verdict.Score) bool {
			return a.Cmp(b) == 0 && a.Reason == b.Reason && a.Expected == b.Expected && a.Observed == b.Observed
		}),
		cmp.Comparer(func(a, b *agents.Error) bool { return a == b || a != nil && b != nil && a.Error() == b.Error() }),
	}
	scores := []verdict.Score{
		verdict.Points(0), verdict.Points(1).Because("why"), verdict.Points(0.1), verdict.Ratio(2, 6), verdict.FromRat(third),
		{Expected: "a", Observed: "b"},
	}
	soon := time.Second
	for _, lo := range scores {
		score := verdict.Interval{Lo: lo, Hi: verdict.Points(1)}
		for kind, v := range map[string]any{
			typeCriterion: &CriterionResult{
				Name: "c", Score: score, Verdict: verdict.Passed, Open: true, Err: agents.Errorf(agents.Judge, agents.FromGrader, "out"),
				Violation: "v", Violated: true, Took: 1, DecidedAt: 2,
			},
			typeVerdict: &Verdict{
				Ended: time.Unix(1, 0).UTC(), Outcome: verdict.OutcomePassed, Score: score, Smoke: true, Stop: &Stop{Reason: "r", Open: []string{"o"}},
				Limit: "l", Shadow: []Shadow{{Held: true, Broken: []string{"b"}}}, Err: agents.Errorf(agents.Auth, agents.FromProvider, "no"),
				Measured: true, Complete: true, RetryIn: &soon, Reused: &Reused{Run: "r", Dir: "d", Folder: "f", Regraded: true},
				Requests: &Requests{N: 1, Models: []AnsweredModel{{"a", "b", 1}}, Failures: []RequestFailure{{N: 1, Kind: agents.Auth, Status: 401}}},
				Version:  "v", Model: "m", Usage: agents.Usage{InputTokens: 1}, Turns: 1, Calls: 2, Reply: "r", Notes: []string{"n"}, Kept: "k", Took: 3, Harness: 4,
			},
		} {
			data, err := encode(v)
			require.NoError(t, err)
			got, err := decode(kind, data)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(v, got, same...), "%s", data)
		}
	}
}

func TestScoresThatAreNone(t *testing.T) {
	t.Parallel()
	for _, score := range []string{
		`{"lo":{"value":"2"},"hi":{"value":"2"}}`, `{"lo":{"value":"-1/2"},"hi":{"value":"1"}}`, `{"lo":{"value":"1/0"},"hi":{"value":"1"}}`,
		`{"lo":{"value":"x"},"hi":{"value":"1"}}`, `{"lo":{},"hi":{"value":"1"}}`, `{"lo":{"value":"1"},"hi":{"value":"1/2"}}`, `{"lo":1}`, `7`,
	} {
		_, err := decode(typeCriterion, []byte(`{"score":`+score+`}`))
		require.Error(t, err, score)
		require.Error(t, json.Unmarshal([]byte(score), new(verdict.Interval)), score)
		_, err = decode(typeVerdict, []byte(`{"score":`+score+`}`))
		assert.Error(t, err, score)
	}
}

func TestLinesOfAnyLength(t *testing.T) {
	t.Parallel()
	var text []byte
	var want []int
	for _, n := range []int{1, 255, 256 << 10, 256<<10 - 1, 256<<10 + 1, 1 << 20, 3} {
		text = append(append(text, bytes.Repeat([]byte("x"), n)...), '\n')
		want = append(want, n+1)
	}
	text = append(text, "\n \nend"...)
	want = append(want, 3)
	var got []int
	at := int64(0)
	require.NoError(t, lines(bytes.NewReader(text), func(n int, from int64, line []byte, last bool) error {
		if string(line) != "end" {
			assert.Equal(t, at, from)
			assert.Equal(t, len(got)+1, n)
		}
		assert.Equal(t, string(line) == "end", last)
		assert.Equal(t, line, text[from:from+int64(len(line))])
		at += int64(len(line))
		got = append(got, len(line))
		return nil
	}))
	assert.Equal(t, want, got)
	stop := errors.New("enough")
	assert.ErrorIs(t, lines(bytes.NewReader(text), func(int, int64, []byte, bool) error { return stop }), stop)
}
