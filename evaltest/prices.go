package evaltest

import (
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
)

// Prices is what tokens cost, in US dollars per million of each kind. It is an Option: for agents that do not report what
// they cost.
type Prices struct{ Input, Output, Cached float64 }

func (p Prices) option(s *settings) error {
	if !(p.Input >= 0 && p.Output >= 0 && p.Cached >= 0) {
		return fmt.Errorf("option Prices%v: a price is not negative", p)
	}
	s.prices = &p
	return nil
}

// cost is what u cost, by kind of token.
func (p Prices) cost(u agents.Usage) float64 {
	return (p.Input*float64(u.InputTokens) + p.Output*float64(u.OutputTokens) + p.Cached*float64(u.CachedTokens)) / 1e6
}
