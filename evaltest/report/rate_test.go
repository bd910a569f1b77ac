package report_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/report"
)

// A rate never stands alone, and a denominator that shrank is visible.
func TestRateInWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		rate report.Rate
		want string
	}{
		{"none asked", report.Rate{}, "nothing was measured (coverage 0 of 0)"},
		{"all errored", report.Rate{Errored: 10}, "nothing was measured (coverage 0 of 10)"},
		{"all under way", report.Rate{UnderWay: 3}, "nothing was measured (coverage 0 of 3)"},
		{"one survivor of ten", report.Rate{Passed: 1, Errored: 9}, "passed 1 of 1 measured (coverage 1 of 10; between 10 % and 100 % of 10)"},
		{"one lost survivor of ten", report.Rate{Failed: 1, NotRun: 9}, "passed 0 of 1 measured (coverage 1 of 10; between 0 % and 90 % of 10)"},
		{"all measured", report.Rate{Passed: 2, Failed: 1}, "passed 2 of 3 measured (66.7 %; coverage 3 of 3)"},
		{"all passed", report.Rate{Passed: 3}, "passed 3 of 3 measured (100 %; coverage 3 of 3)"},
		{"all failed", report.Rate{Failed: 3}, "passed 0 of 3 measured (0 %; coverage 3 of 3)"},
		{"a third lost to rate limits", report.Rate{Passed: 62, Failed: 7, Errored: 31}, "passed 62 of 69 measured (89.9 %; coverage 69 of 100; between 62 % and 93 % of 100)"},
		{"known verdicts narrow the interval alone", report.Rate{Passed: 2, KnownFailed: 1, KnownPassed: 1, Undecided: 1, NotRun: 1},
			"passed 2 of 2 measured (coverage 2 of 6; between 50 % and 83.4 % of 6)"},
		{"known verdicts where nothing was measured", report.Rate{KnownFailed: 1, KnownPassed: 1, Errored: 1}, "nothing was measured (coverage 0 of 3; between 33.3 % and 66.7 % of 3)"},
		{"nearly all", report.Rate{Passed: 9999, Failed: 1}, "passed 9999 of 10000 measured (> 99.9 %; coverage 10000 of 10000)"},
		{"next to none", report.Rate{Passed: 1, Failed: 9999}, "passed 1 of 10000 measured (< 0.1 %; coverage 10000 of 10000)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.rate.String())
		})
	}
}

// However many there are of each: the ends hold every completion, what is read holds what is meant, and what is not all is
// never called 100 %.
func TestRateHoldsEveryCompletion(t *testing.T) {
	t.Parallel()
	ends := regexp.MustCompile(`between (\S+) % and (\S+) % of`)
	for i := range 3 * 3 * 3 * 3 * 3 * 3 {
		n := func(place int) int { return []int{0, 1, 5}[i/place%3] }
		r := report.Rate{Passed: n(1), Failed: n(3), KnownPassed: n(9), KnownFailed: n(27), Errored: n(81), NotRun: n(243)}
		text := r.String()
		all := r.Trials()
		lo, hi := r.Bounds()
		if all == 0 {
			assert.Equal(t, []float64{0, 1}, []float64{lo, hi})
			continue
		}
		unknown := r.Errored + r.NotRun
		assert.InDelta(t, float64(r.Passed+r.KnownPassed)/float64(all), lo, 1e-12, "%+v: all of the unknown fail", r)
		assert.InDelta(t, float64(r.Passed+r.KnownPassed+unknown)/float64(all), hi, 1e-12, "%+v: all of them pass", r)
		for of := range unknown + 1 { // so many of them pass
			truth := float64(r.Passed+r.KnownPassed+of) / float64(all)
			require.True(t, lo <= truth && truth <= hi, "%+v: %v is not in [%v, %v]", r, truth, lo, hi)
			if m := ends.FindStringSubmatch(text); m != nil {
				from, err := strconv.ParseFloat(m[1], 64)
				require.NoError(t, err)
				to, err := strconv.ParseFloat(m[2], 64)
				require.NoError(t, err)
				require.True(t, from <= 100*truth+1e-9 && 100*truth <= to+1e-9, "%+v: %v does not lie in what is read: %s", r, truth, text)
			}
		}
		rate, ok := r.Among()
		assert.Equal(t, r.Passed+r.Failed > 0, ok)
		if ok {
			assert.InDelta(t, float64(r.Passed)/float64(r.Passed+r.Failed), rate, 1e-12)
		}
		k, of := r.Coverage()
		assert.Contains(t, text, fmt.Sprintf("coverage %d of %d", k, of))
		if k < all {
			assert.NotContains(t, text, "(100 %", "%+v", r)
			assert.NotContains(t, text, "(0 %", "%+v", r)
		}
	}
}

func TestWithSpared(t *testing.T) {
	t.Parallel()
	_, ok := report.Rate{Passed: 5, Failed: 3, KnownFailed: 2}.WithSpared()
	assert.False(t, ok)
	rate, ok := report.Rate{Passed: 5, Failed: 2, KnownFailed: 4, SparedFailed: 2, KnownPassed: 1, SparedPassed: 1}.WithSpared()
	assert.True(t, ok)
	assert.InDelta(t, 0.6, rate, 1e-12)
}
