package verdict_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

func TestNumbersThatFloatsMiss(t *testing.T) {
	weighed := func(w float64, i verdict.Interval) verdict.Criterion {
		r, err := verdict.Weight(w)
		require.NoError(t, err)
		return verdict.Criterion{Interval: i, Weight: r}
	}
	full, none := verdict.Exactly(verdict.PassIf(true)), verdict.Exactly(verdict.PassIf(false))
	for name, c := range map[string]struct {
		at   float64
		of   []verdict.Criterion
		want verdict.Verdict
	}{
		"0.1 and 0.2 and 0.4 reach 0.7": {0.7, []verdict.Criterion{weighed(0.1, full), weighed(0.2, full), weighed(0.4, full), weighed(0.3, none)}, verdict.Passed},
		"0.1 and 0.7 reach 0.8":         {0.8, []verdict.Criterion{weighed(0.1, full), weighed(0.7, full), weighed(0.2, none)}, verdict.Passed},
		"a third and two thirds reach a half": {0.5, []verdict.Criterion{
			weighed(1, verdict.Exactly(verdict.Ratio(1, 3))), weighed(1, verdict.Exactly(verdict.Ratio(2, 3)))}, verdict.Passed},
		"0.1 and 0.2 do not reach 0.31": {0.31, []verdict.Criterion{weighed(0.1, full), weighed(0.2, full), weighed(0.7, none)}, verdict.Failed},
		"what is open leaves it open":   {0.7, []verdict.Criterion{weighed(0.1, full), weighed(0.2, full), weighed(0.7, verdict.Unknown)}, verdict.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := verdict.Threshold(c.at)
			require.NoError(t, err)
			assert.Equal(t, c.want, verdict.Gate{MinScore: at}.Decide(c.of))
		})
	}
	t.Run("ten tenths reach 1", func(t *testing.T) {
		var cs []verdict.Criterion
		for range 10 {
			cs = append(cs, weighed(0.1, full))
		}
		g := verdict.Gate{MinScore: big.NewRat(1, 1)}
		assert.Equal(t, verdict.Passed, g.Decide(cs))
		assert.Equal(t, "1", g.Score(cs).String())
	})
}

func TestWeightsAndThresholdsHaveToMakeSense(t *testing.T) {
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)} {
		_, err := verdict.Weight(w)
		assert.ErrorContains(t, err, "weight", "%v", w)
	}
	for _, x := range []float64{0, -0.1, math.NaN(), math.Inf(1), 1.0001} {
		_, err := verdict.Threshold(x)
		assert.ErrorContains(t, err, "threshold", "%v", x)
	}
	w, err := verdict.Weight(0.1)
	require.NoError(t, err)
	assert.Equal(t, big.NewRat(1, 10), w)
	x, err := verdict.Threshold(1)
	require.NoError(t, err)
	assert.Equal(t, big.NewRat(1, 1), x)
}

func TestACriterionPassesAtItsThreshold(t *testing.T) {
	at := func(i verdict.Interval, passAt *big.Rat) verdict.Verdict {
		return verdict.Criterion{Interval: i, PassAt: passAt}.Verdict()
	}
	half := big.NewRat(1, 2)
	assert.Equal(t, verdict.Passed, at(verdict.Exactly(verdict.Points(0.5)), half))
	assert.Equal(t, verdict.Failed, at(verdict.Exactly(verdict.Points(0.4999)), half))
	assert.Equal(t, verdict.Passed, at(verdict.Interval{Lo: verdict.Points(0.5), Hi: verdict.PassIf(true)}, half))
	assert.Equal(t, verdict.Undecided, at(verdict.Interval{Lo: verdict.Points(0.4), Hi: verdict.Points(0.5)}, half))
	assert.Equal(t, verdict.Failed, at(verdict.Interval{Lo: verdict.Points(0), Hi: verdict.Points(0.9)}, nil), "it passes at 1 where nothing is said")
	assert.Equal(t, verdict.Undecided, at(verdict.Unknown, nil))
}

func TestGates(t *testing.T) {
	yes, no, open := verdict.Exactly(verdict.PassIf(true)), verdict.Exactly(verdict.PassIf(false)), verdict.Unknown
	all, half := verdict.Gate{}, verdict.Gate{MinScore: big.NewRat(1, 2)}
	plain := func(is ...verdict.Interval) (cs []verdict.Criterion) {
		for _, i := range is {
			cs = append(cs, verdict.Criterion{Interval: i})
		}
		return cs
	}
	required := func(i verdict.Interval) verdict.Criterion { return verdict.Criterion{Interval: i, Required: true} }
	advisory := func(i verdict.Interval) verdict.Criterion { return verdict.Criterion{Interval: i, Advisory: true} }
	for name, c := range map[string]struct {
		gate verdict.Gate
		of   []verdict.Criterion
		want verdict.Verdict
	}{
		"every criterion passes":                     {all, plain(yes, yes), verdict.Passed},
		"one fails, whatever the others":             {all, plain(yes, open, no), verdict.Failed},
		"one is open":                                {all, plain(yes, open), verdict.Undecided},
		"an advisory one may fail":                   {all, append(plain(yes), advisory(no)), verdict.Passed},
		"without gating criteria nothing is decided": {all, []verdict.Criterion{advisory(yes)}, verdict.Undecided},
		"nor has it a score":                         {half, []verdict.Criterion{advisory(yes)}, verdict.Undecided},
		"no criteria at all":                         {all, nil, verdict.Undecided},
		"half of them is enough":                     {half, plain(yes, no), verdict.Passed},
		"one of two that is open cannot lose it":     {half, plain(yes, open), verdict.Passed},
		"one of three can":                           {half, plain(yes, no, open), verdict.Undecided},
		"one of four cannot win it":                  {half, plain(no, no, no, open), verdict.Failed},
		"what is required has to pass":               {half, append(plain(yes, yes), required(no)), verdict.Failed},
		"and while it is open, so is the gate":       {half, append(plain(yes, yes), required(open)), verdict.Undecided},
		"an advisory one has no weight":              {half, append(plain(yes, no), advisory(no)), verdict.Passed},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, c.gate.Decide(c.of)) })
	}
	assert.Equal(t, "every criterion passes", all.String())
	assert.Equal(t, "score ≥ 0.5", half.String())
	assert.Equal(t, "[0.5, 1]", half.Score(plain(yes, open)).String())
	assert.True(t, half.Score(nil).Equal(verdict.Unknown))
	assert.Equal(t, []int{1}, verdict.Open(append(plain(yes, open, no), advisory(open))))
}
