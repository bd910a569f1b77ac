package verdict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

func TestScoresAreExact(t *testing.T) {
	assert.Equal(t, big.NewRat(1, 3), verdict.Ratio(1, 3).Rat())
	assert.Equal(t, big.NewRat(1, 10), verdict.Points(0.1).Rat(), "a number that an author types is its shortest decimal")
	assert.Equal(t, "1/5000000000000000000000000", verdict.Points(2e-25).Rat().RatString(), "however small it is")
	assert.Equal(t, big.NewRat(1, 1), verdict.PassIf(true).Rat())
	assert.Zero(t, verdict.PassIf(false).Rat().Sign())
	assert.Zero(t, verdict.Score{}.Rat().Sign(), "the zero value is 0")
	assert.NoError(t, verdict.Score{}.Err())
	assert.InDelta(t, 0.3333, verdict.Ratio(1, 3).Float(), 1e-4)
}

func TestWhatIsNoScoreSaysSo(t *testing.T) {
	for name, s := range map[string]verdict.Score{
		"NaN":                verdict.Points(math.NaN()),
		"infinite":           verdict.Points(math.Inf(1)),
		"negative":           verdict.Points(-0.1),
		"above one":          verdict.Points(1.000001),
		"of none":            verdict.Ratio(0, 0),
		"of less than none":  verdict.Ratio(1, -2),
		"less than none":     verdict.Ratio(-1, 2),
		"more than all":      verdict.Ratio(3, 2),
		"a ratio above one":  verdict.FromRat(big.NewRat(4, 3)),
		"a negative ratio":   verdict.FromRat(big.NewRat(-1, 3)),
		"the rest of no one": verdict.Points(2).Complement(),
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, s.Err())
			assert.Contains(t, s.String(), "no score")
			_, err := json.Marshal(s)
			assert.Error(t, err)
			assert.Error(t, verdict.Exactly(s).Valid())
		})
	}
}

func TestAnIntervalHasItsEndsInOrder(t *testing.T) {
	assert.NoError(t, verdict.Unknown.Valid())
	assert.Error(t, verdict.Interval{Lo: verdict.Ratio(2, 3), Hi: verdict.Ratio(1, 2)}.Valid())
	assert.Error(t, verdict.Interval{Lo: verdict.PassIf(false), Hi: verdict.Points(2)}.Valid())
	i := verdict.Interval{Lo: verdict.Ratio(1, 3), Hi: verdict.Ratio(1, 2)}
	assert.True(t, i.Within(verdict.Unknown))
	assert.False(t, verdict.Unknown.Within(i))
	assert.True(t, i.Within(i))
	assert.True(t, i.Complement().Equal(verdict.Interval{Lo: verdict.Ratio(1, 2), Hi: verdict.Ratio(2, 3)}))
	assert.False(t, i.Point())
	assert.True(t, verdict.Exactly(verdict.Ratio(2, 4)).Equal(verdict.Exactly(verdict.Points(0.5))), "equal values are equal")
	assert.Equal(t, "[0.33, 0.5]", i.String())
	assert.Equal(t, "0.5", verdict.Exactly(verdict.Ratio(1, 2)).String())
}

func TestWhatIsWrittenReadsBackExactly(t *testing.T) {
	scores := []verdict.Score{
		{}, verdict.PassIf(true), verdict.Ratio(1, 3), verdict.Points(0.1), verdict.Points(1e-30), verdict.Ratio(math.MaxInt-1, math.MaxInt),
		verdict.Ratio(2, 3).Because("2 of %d", 3).Labels("pdf", "xlsx"),
	}
	for _, s := range scores {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		var got verdict.Score
		require.NoError(t, json.Unmarshal(data, &got), "%s", data)
		assert.Zero(t, s.Rat().Cmp(got.Rat()), "%s", data)
		assert.Equal(t, []string{s.Reason, s.Expected, s.Observed}, []string{got.Reason, got.Expected, got.Observed})

		i := verdict.Interval{Lo: s, Hi: verdict.PassIf(true)}
		data, err = json.Marshal(i)
		require.NoError(t, err)
		var interval verdict.Interval
		require.NoError(t, json.Unmarshal(data, &interval), "%s", data)
		assert.True(t, i.Equal(interval), "%s", data)
	}
	for _, v := range []verdict.Verdict{verdict.Undecided, verdict.Passed, verdict.Failed} {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		got := verdict.Verdict(-1)
		require.NoError(t, json.Unmarshal(data, &got))
		assert.Equal(t, v, got)
	}
}

func TestWhatMakesNoSenseIsNotRead(t *testing.T) {
	var s verdict.Score
	for _, text := range []string{`{"value":"x"}`, `{"value":""}`, `{"value":"4/3"}`, `{"value":"-1"}`, `{"value":"1/0"}`, `7`} {
		assert.Error(t, json.Unmarshal([]byte(text), &s), text)
	}
	var i verdict.Interval
	assert.Error(t, json.Unmarshal([]byte(`{"lo":{"value":"1"},"hi":{"value":"0"}}`), &i))
	var v verdict.Verdict
	assert.Error(t, json.Unmarshal([]byte(`"perhaps"`), &v))
}

func TestCmpAgreesWithExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() verdict.Score {
		switch r.IntN(4) {
		case 0:
			n := 1 + r.IntN(math.MaxInt)
			return verdict.Ratio(r.IntN(n), n) // products need 128 bits
		case 1:
			return verdict.Points(float64(r.IntN(11)) / 10)
		case 2:
			return verdict.Points(math.Ldexp(r.Float64(), -r.IntN(120)))
		}
		n := 1 + r.IntN(6)
		return verdict.Ratio(r.IntN(n+1), n)
	}
	for range 50_000 {
		a, b := random(), random()
		require.Equal(t, a.Rat().Cmp(b.Rat()), a.Cmp(b), "%v and %v", a.Rat(), b.Rat())
		require.Zero(t, new(big.Rat).Sub(big.NewRat(1, 1), a.Rat()).Cmp(a.Complement().Rat()), "1 - %v", a.Rat())
	}
	assert.Equal(t, 0, verdict.Score{}.Cmp(verdict.PassIf(false)))
	assert.Equal(t, -1, verdict.Score{}.Cmp(verdict.Ratio(1, math.MaxInt)))
}

func TestCmpNeedsNoMemory(t *testing.T) {
	a, b := verdict.Ratio(1, 3), verdict.Points(0.1)
	n := 0
	allocs := testing.AllocsPerRun(100, func() { n += a.Cmp(b) })
	assert.Zero(t, allocs)
	assert.Positive(t, n)
}

func TestStringNeverRoundsToZeroOrOne(t *testing.T) {
	for want, s := range map[string]verdict.Score{
		"0": verdict.PassIf(false), "1": verdict.PassIf(true), "0.5": verdict.Ratio(1, 2), "0.67": verdict.Ratio(2, 3), "0.1": verdict.Points(0.1),
		"<0.01": verdict.Ratio(1, 1000), ">0.99": verdict.Ratio(999, 1000), "0.01": verdict.Ratio(1, 100), "0.99": verdict.Ratio(99, 100),
	} {
		assert.Equal(t, want, s.String())
	}
	for n := 2; n < 2000; n++ {
		for _, k := range []int{1, n / 2, n - 1} {
			if s := verdict.Ratio(k, n).String(); (s == "0" || s == "1") && k > 0 && k < n {
				t.Errorf("%d of %d reads %s", k, n, s)
			}
		}
	}
}

func TestPolarityReadsAsItIsWritten(t *testing.T) {
	for want, p := range map[string]verdict.Polarity{"neither": 0, "Pass": verdict.Pass, "Fail": verdict.Fail, "Pass|Fail": verdict.Pass | verdict.Fail} {
		assert.Equal(t, want, p.String())
	}
	assert.True(t, (verdict.Pass | verdict.Fail).Has(verdict.Fail))
	assert.False(t, verdict.Pass.Has(verdict.Pass|verdict.Fail))
	assert.Equal(t, "passed undecided failed", fmt.Sprint(verdict.Passed, verdict.Undecided, verdict.Failed))
}
