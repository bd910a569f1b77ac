package evaltest

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/evaltest-go/evaltest/agents"
)

// Prices is what tokens cost, in US dollars per million of each kind. It is an Option: for agents that do not report what
// they cost.
type Prices struct {
	Input, Output, Cached float64
	// CacheWrites is the price of input that is written to a cache; 0: that of other input.
	CacheWrites float64
}

func (p Prices) option(s *settings) error {
	for _, x := range []float64{p.Input, p.Output, p.Cached, p.CacheWrites} {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("option Prices%v: a price is a number, and not negative", p)
		}
	}
	s.prices = &p
	return nil
}

// cost is what u cost: exact for prices as they are written in decimals, and rounded once.
func (p Prices) cost(u agents.Usage) float64 {
	writes := p.CacheWrites
	if writes == 0 {
		writes = p.Input
	}
	sum, part := new(big.Rat), new(big.Rat)
	for _, k := range []struct {
		price  float64
		tokens int64
	}{{p.Input, u.InputTokens}, {p.Output, u.OutputTokens}, {p.Cached, u.CachedTokens}, {writes, u.CacheWriteTokens}} {
		if k.price == 0 || k.tokens == 0 {
			continue
		}
		// The shortest decimal that reads back as the number is what was written.
		if _, ok := part.SetString(strconv.FormatFloat(k.price, 'g', -1, 64)); ok {
			sum.Add(sum, part.Mul(part, new(big.Rat).SetInt64(k.tokens)))
		}
	}
	cost, _ := sum.Quo(sum, million).Float64()
	return cost
}

var million = new(big.Rat).SetInt64(1_000_000)
