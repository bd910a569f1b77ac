package evaltest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
)

func TestCostIsExact(t *testing.T) {
	t.Parallel()
	sonnet := Prices{Input: 3, Output: 15, Cached: 0.3, CacheWrites: 3.75}
	for _, tc := range []struct {
		prices Prices
		usage  agents.Usage
		want   float64
	}{
		{sonnet, agents.Usage{}, 0},
		{sonnet, agents.Usage{InputTokens: 1_000_000}, 3},
		{sonnet, agents.Usage{InputTokens: 4, CacheWriteTokens: 2060, CachedTokens: 2120, OutputTokens: 31}, 0.008838},
		{sonnet, agents.Usage{InputTokens: 1, OutputTokens: 1, CachedTokens: 1, CacheWriteTokens: 1}, 0.00002205},
		{sonnet, agents.Usage{CachedTokens: 1_000_000_000_000}, 300_000},
		{Prices{Input: 0.1, Output: 0.2}, agents.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000}, 0.3}, // 0.1+0.2 in floats is more
		{Prices{Input: 2, Output: 8}, agents.Usage{CacheWriteTokens: 500_000}, 1},                             // as other input
		{Prices{Output: 8}, agents.Usage{InputTokens: 7, OutputTokens: 125_000}, 1},
	} {
		got := tc.prices.cost(tc.usage)
		assert.Equal(t, math.Float64bits(tc.want), math.Float64bits(got), "%+v %+v: %v", tc.prices, tc.usage, got)
	}
	for _, bad := range []Prices{{Input: -1}, {Output: math.NaN()}, {Cached: math.Inf(1)}, {CacheWrites: -0.1}} {
		assert.Error(t, bad.option(&settings{}), "%v", bad)
	}
}

// A limit is reached by what was spent, and not by the rounding of its sum.
func TestLimitOnCostIsExact(t *testing.T) {
	t.Parallel()
	w := &watch{tr: new(agents.Trajectory), prices: &Prices{Input: 0.1}, tally: true}
	w.limits.Cost = 0.3
	for range 3 {
		e := agents.Spent(agents.Usage{InputTokens: 1_000_000})
		e.Usage.Cost = w.prices.cost(e.Usage)
		assert.NoError(t, w.tr.Append(e))
	}
	assert.Greater(t, w.tr.Usage().Cost, 0.3, "the sum of the floats is above the limit")
	assert.False(t, w.overspent())
}
