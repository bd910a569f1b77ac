package evaltest

import (
	"fmt"
	"path"
	"time"
)

// What is done about infrastructure errors, and how the agent reaches its model.

// Retries says how often an attempt that ended in an infrastructure error is made again while that error may pass, each
// time in a fresh workspace; the default is 2, and 0 is never. EVALTEST_RETRIES comes first. A verdict is never retried.
// Limits on turns and calls hold for each attempt, those on tokens, cost and time for all of them together.
func Retries(n int) Option {
	return option(func(s *settings) error {
		if n < 0 {
			return fmt.Errorf("Retries(%d): give a number of 0 or more", n)
		}
		s.retries = n
		return nil
	})
}

// Backoff bounds the wait before a retry: a random time of up to first after the first attempt, and of twice as much after
// each further one, up to most. The default is 2 s and one minute. What the provider asks for (Retry-After) comes on top.
func Backoff(first, most time.Duration) Option {
	return option(func(s *settings) error {
		if first < 0 || most < first {
			return fmt.Errorf("Backoff(%v, %v): give two durations, the second no shorter than the first", first, most)
		}
		s.backoff = limitsOfBackoff{first, most}
		return nil
	})
}

// MaxAgents is how many agents of the run may be at work at once, in all its packages together. The default is what `go test
// -parallel` says of one. EVALTEST_MAX_AGENTS comes first. First come, first served.
func MaxAgents(n int) Option {
	return positive("MaxAgents", n, func(s *settings) { s.agentsAtOnce = n })
}

// IdleTimeout ends an attempt, as an error, after this much silence: the provider gives no more of an answer, or the agent
// shows no sign of work while none of its commands runs. An answer may take four times as long in all, and
// a program half a minute to give its first sign. The default is five minutes.
func IdleTimeout(d time.Duration) Option {
	return positive("IdleTimeout", d, func(s *settings) { s.idle = d })
}

// MaxRequests ends an attempt, as an error, when the agent has asked its model more than n times for one prompt, sub-agents
// included: a loop, where limits on turns see none. The default is 1000.
func MaxRequests(n int) Option {
	return positive("MaxRequests", n, func(s *settings) { s.maxRequests = n })
}

// AllowModels names models that may answer in the place of the one that was asked for, as patterns of path.Match: "*" allows
// any. Else a substitute makes the trial an error; a dated name of the same model is none.
func AllowModels(patterns ...string) Option {
	return option(func(s *settings) error {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return fmt.Errorf("AllowModels(%q): %w", p, err)
			}
		}
		s.models = append(s.models, patterns...)
		return nil
	})
}

// NoGateway has an agent that costs money reach its provider by itself. What the provider answers is then known from the
// agent alone, the agent has the provider's key, and the record says so. EVALTEST_GATEWAY=off does it from outside.
func NoGateway() Option {
	return option(func(s *settings) error { s.noGateway = true; return nil })
}

// NoBreaker has the eval run, and count for nothing, where the run would stop spending after too many errors in a row.
func NoBreaker() Option {
	return option(func(s *settings) error { s.breaker = false; return nil })
}

// Live has the eval run on an agent that costs money, as EVALTEST_LIVE=1 does: for tests whose agent costs nothing, since
// its provider is played. EVALTEST_LIVE comes first.
func Live() Option {
	return option(func(s *settings) error { s.live = true; return nil })
}
