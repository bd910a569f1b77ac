package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
)

func TestReconcile(t *testing.T) {
	t.Parallel()
	overloaded := agents.Errorf(agents.Overloaded, agents.FromProvider, "busy")
	answered := func(point string) gateway.Exchange {
		return gateway.Exchange{Request: gateway.Request{Point: point}, State: gateway.Answered, Usage: agents.Usage{InputTokens: 2}}
	}
	failed := func(point string) gateway.Exchange {
		x := answered(point)
		x.Failure, x.Usage = overloaded, agents.Usage{OutputTokens: 1}
		return x
	}
	side := func(x gateway.Exchange) gateway.Exchange { x.Side = true; return x }
	in := func(s gateway.State, x gateway.Exchange) gateway.Exchange { x.State = s; return x }
	for name, tc := range map[string]struct {
		log      []gateway.Exchange
		overcome []bool
		unhealed int // from 1; 0: none
		metered  agents.Usage
	}{
		"nothing":             {},
		"all well":            {[]gateway.Exchange{answered("a"), answered("b")}, []bool{false, false}, 0, agents.Usage{InputTokens: 4}},
		"tried again":         {[]gateway.Exchange{failed("a"), failed("a"), answered("a")}, []bool{true, true, false}, 0, agents.Usage{InputTokens: 2, OutputTokens: 2}},
		"given up":            {[]gateway.Exchange{answered("a"), failed("b"), failed("b")}, []bool{false, false, false}, 3, agents.Usage{InputTokens: 2, OutputTokens: 2}},
		"another one went on": {[]gateway.Exchange{failed("a"), answered("b")}, []bool{false, false}, 1, agents.Usage{InputTokens: 2, OutputTokens: 1}},
		"answered before":     {[]gateway.Exchange{answered("a"), failed("a")}, []bool{false, false}, 2, agents.Usage{InputTokens: 2, OutputTokens: 1}},
		"on the side":         {[]gateway.Exchange{answered("a"), side(failed("b"))}, []bool{false, false}, 0, agents.Usage{InputTokens: 2, OutputTokens: 1}},
		"cut when repeated":   {[]gateway.Exchange{in(gateway.Cut, failed("a")), in(gateway.Cut, answered("a"))}, []bool{false, false}, 1, agents.Usage{InputTokens: 2, OutputTokens: 1}},
		"held when repeated":  {[]gateway.Exchange{failed("a"), in(gateway.Held, answered("a"))}, []bool{false, false}, 1, agents.Usage{InputTokens: 2, OutputTokens: 1}},
		"the last of two":     {[]gateway.Exchange{failed("a"), failed("b"), failed("c"), answered("c")}, []bool{false, false, true, false}, 2, agents.Usage{InputTokens: 2, OutputTokens: 3}},
	} {
		for i := range tc.log {
			tc.log[i].N = i + 1
		}
		assert.Equal(t, append([]bool{}, tc.overcome...), gateway.Overcome(tc.log), name)
		if x := gateway.Unhealed(tc.log); tc.unhealed == 0 {
			assert.Nil(t, x, name)
		} else if assert.NotNil(t, x, name) {
			assert.Equal(t, tc.unhealed, x.N, name)
			assert.Same(t, overloaded, x.Failure, name)
		}
		assert.Equal(t, tc.metered, gateway.Metered(tc.log), name)
	}
}
